//! Describes which part of a run a report covers.

use tickscope_format::snapshot::Snapshot;

use crate::number;

/// The part of a run that a report covers, as far as the snapshot does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The moment, or the length and the bounds of a window, in words; none if no moment was chosen.
    pub when: Option<String>,
    /// Short names of what is in focus, each looked for in the one before it; see
    /// [`in_focus`](tickscope_analysis::focus::in_focus).
    pub focus: Vec<String>,
}

impl Extent {
    /// How long the counters ran.
    pub(crate) fn length(&self, snapshot: &Snapshot) -> String {
        let long = number::duration(snapshot.capture.since_reset_ns);
        match (snapshot.window, &self.when) {
            (true, Some(when)) => format!("in {when}"),
            (true, None) => format!("in {long}"),
            (false, _) => long,
        }
    }

    /// What is in focus, in so many words, or none if all is shown.
    pub(crate) fn focus_words(&self) -> Option<String> {
        (!self.focus.is_empty()).then(|| format!("only {}", self.focus.join(", in it ")))
    }
}

/// The name of the fact how long the counters ran.
pub(crate) fn name(snapshot: &Snapshot) -> &'static str {
    if snapshot.window { "window" } else { "since reset" }
}

/// How long the counters ran, as [`name`] says it, for sentences: `since the reset`, `in this window`.
pub(crate) fn words(snapshot: &Snapshot) -> &'static str {
    if snapshot.window {
        "in this window"
    } else {
        "since the reset"
    }
}
