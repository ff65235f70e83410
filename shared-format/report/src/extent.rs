//! Describes which part of a run a report covers.

use tickscope_format::snapshot::Snapshot;

use crate::number;

/// The part of a run that the user has chosen for a report. The snapshot itself does not contain this information.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The chosen moment, or the length and bounds of the chosen window, in words; `None` if neither was chosen.
    pub when: Option<String>,
    /// Short names of the functions in focus, outermost first. Each is focused within the one before it; see
    /// [`in_focus`](tickscope_analysis::focus::in_focus).
    pub focus: Vec<String>,
}

impl Extent {
    /// Returns the length of the period that the snapshot covers, in words.
    pub(crate) fn length(&self, snapshot: &Snapshot) -> String {
        let long = number::duration(snapshot.capture.since_reset_ns);
        match (snapshot.window, &self.when) {
            (true, Some(when)) => format!("in {when}"),
            (true, None) => format!("in {long}"),
            (false, _) => long,
        }
    }

    /// Returns the focus in words; `None` without a focus.
    pub(crate) fn focus_words(&self) -> Option<String> {
        (!self.focus.is_empty()).then(|| format!("only {}", self.focus.join(", in it ")))
    }
}

/// Returns a name for the period that the snapshot covers: `window` or `since reset`.
pub(crate) fn name(snapshot: &Snapshot) -> &'static str {
    if snapshot.window { "window" } else { "since reset" }
}

/// Returns the period that the snapshot covers, as part of a sentence: `since the reset` or `in this window`.
pub(crate) fn words(snapshot: &Snapshot) -> &'static str {
    if snapshot.window {
        "in this window"
    } else {
        "since the reset"
    }
}
