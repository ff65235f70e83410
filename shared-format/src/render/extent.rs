//! Which part of a run a report is of. A snapshot does not say: a window is a snapshot like any other.

use crate::render::number;

/// What was left out before a report was made, where that is not nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// It is what happened between two moments (see [`between`](crate::profile::between::between)), not since a reset.
    pub window: bool,
    /// Which moment it is of, or for a window how long and between which; none where nobody asked for one.
    pub when: Option<String>,
    /// Short names of what is in focus, each looked for in the one before it; see
    /// [`in_focus`](crate::profile::in_focus::in_focus).
    pub focus: Vec<String>,
}

// === impl Extent ===

impl Extent {
    /// The name of the fact how long the counters ran.
    pub(crate) fn name(&self) -> &'static str {
        match self.window {
            true => "window",
            false => "since reset",
        }
    }

    /// How long they ran.
    pub(crate) fn length(&self, ns: u64) -> String {
        let long = number::duration(ns);
        match (self.window, &self.when) {
            (true, Some(when)) => format!("in {when}"),
            (true, None) => format!("in {long}"),
            (false, _) => long,
        }
    }

    /// The same for sentences: `since the reset`, `in this window`.
    pub(crate) fn words(&self) -> &'static str {
        match self.window {
            true => "in this window",
            false => "since the reset",
        }
    }

    /// What is in focus, in so many words; none where all is shown.
    pub(crate) fn focus_words(&self) -> Option<String> {
        (!self.focus.is_empty()).then(|| format!("only {}", self.focus.join(", in it ")))
    }
}
