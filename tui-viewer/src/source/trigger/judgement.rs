//! What was found of a condition in a window.

use tickscope_analysis::trigger::{Absence, Verdict};

/// A verdict, and the window that it is on.
#[derive(Clone, Debug)]
pub(super) struct Judgement {
    /// What was found.
    pub(super) verdict: Verdict,
    /// How long the window was, in nanoseconds.
    pub(super) window_ns: u64,
}

impl Judgement {
    /// Whether a function of the condition was not met yet.
    pub(super) fn has_unmet(&self) -> bool {
        let mut findings = self.verdict.findings.iter().flatten();
        findings.any(|finding| finding.value == Err(Absence::Unmet))
    }
}
