//! Which part of a run a report is of, in words.

use tickscope_format::snapshot::Snapshot;

use crate::number;

/// What the snapshot itself does not say of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Which moment it is of, or for a window how long and between which; none where nobody asked for one.
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

    /// What is in focus, in so many words; none where all is shown.
    pub(crate) fn focus_words(&self) -> Option<String> {
        (!self.focus.is_empty()).then(|| format!("only {}", self.focus.join(", in it ")))
    }
}

/// The name of the fact how long the counters ran.
pub(crate) fn name(snapshot: &Snapshot) -> &'static str {
    if snapshot.window { "window" } else { "since reset" }
}

/// The same for sentences: `since the reset`, `in this window`.
pub(crate) fn words(snapshot: &Snapshot) -> &'static str {
    if snapshot.window {
        "in this window"
    } else {
        "since the reset"
    }
}
