//! Verdict on a condition in a window.

use tickscope_analysis::trigger::{Absence, Verdict};

/// Verdict, and the length of its window.
#[derive(Clone, Debug)]
pub(super) struct Judgement {
    /// Verdict on the condition.
    pub(super) verdict: Verdict,
    /// Length of the window, in nanoseconds.
    pub(super) window_ns: u64,
}

impl Judgement {
    /// Whether a function of the condition was not met yet.
    pub(super) fn has_unmet(&self) -> bool {
        let mut findings = self.verdict.findings.iter().flatten();
        findings.any(|finding| finding.value == Err(Absence::Unmet))
    }
}
