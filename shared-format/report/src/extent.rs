//! Describes the part of a run that a report covers.

use tickscope_format::snapshot::Snapshot;

use crate::number;

/// Part of a run that a report covers, beyond the facts in the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The moment, or the length and the bounds of a window, in words; `None` if no moment was chosen.
    pub when: Option<String>,
    /// Short names of the functions in focus, each of which is searched in the one before it; see
    /// [`in_focus`](tickscope_analysis::focus::in_focus).
    pub focus: Vec<String>,
}

impl Extent {
    /// Returns the time that the counters ran, in words.
    pub(crate) fn length(&self, snapshot: &Snapshot) -> String {
        let long = number::duration(snapshot.capture.since_reset_ns);
        match (snapshot.window, &self.when) {
            (true, Some(when)) => format!("in {when}"),
            (true, None) => format!("in {long}"),
            (false, _) => long,
        }
    }

    /// Returns the focus in words, or `None` if all is shown.
    pub(crate) fn focus_words(&self) -> Option<String> {
        (!self.focus.is_empty()).then(|| format!("only {}", self.focus.join(", in it ")))
    }
}

/// Returns the name for the time that the counters ran.
pub(crate) fn name(snapshot: &Snapshot) -> &'static str {
    if snapshot.window { "window" } else { "since reset" }
}

/// Returns the name of the time that the counters ran, for use in sentences: `since the reset`, `in this window`.
pub(crate) fn words(snapshot: &Snapshot) -> &'static str {
    if snapshot.window {
        "in this window"
    } else {
        "since the reset"
    }
}
