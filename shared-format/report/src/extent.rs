//! Tells which part of a run a report covers.

use tickscope_format::snapshot::Snapshot;

use crate::number;

/// What a snapshot does not tell about the part of a run that a report covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The chosen moment, or length and bounds of the chosen window, in words; `None` if neither was chosen.
    pub when: Option<String>,
    /// Short names of the functions in focus, outermost first. Each is focused within the one before it; see
    /// [`in_focus`](tickscope_analysis::focus::in_focus).
    pub focus: Vec<String>,
}

impl Extent {
    /// Returns how long the snapshot counted, in words.
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

/// Returns what the counted time is: `window` or `since reset`.
pub(crate) fn name(snapshot: &Snapshot) -> &'static str {
    if snapshot.window { "window" } else { "since reset" }
}

/// Returns what the counted time is, as part of a sentence: `since the reset` or `in this window`.
pub(crate) fn words(snapshot: &Snapshot) -> &'static str {
    if snapshot.window {
        "in this window"
    } else {
        "since the reset"
    }
}
