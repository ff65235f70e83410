//! Counters of calls that a program could not measure, with explanations for people.

use std::ops::AddAssign;

use bincode::{Decode, Encode};

/// Numbers of calls and scopes that were not measured exactly. They count from the program's start; a reset keeps them.
///
/// Both fields are in the section of [`CaptureInfo`](super::CaptureInfo), whose bytes never change. A new counter gets a separate
/// section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Losses {
    /// Calls without a separate row, because of the depth or node limit, re-entrance, or a thread that was already torn down.
    /// Above the node limit, rows "(over the limit)" have the time of these calls. These rows count only the calls that functions
    /// with rows have made.
    pub dropped: u64,
    /// Guards that were leaked, or closed out of order or on another thread.
    pub unbalanced: u64,
}

/// A counter of [`Losses`], with its names in screens and reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Value of the counter.
    pub value: u64,
    /// Name on screens, and key in JSON reports.
    pub name: &'static str,
    /// Name on narrow screens.
    pub short: &'static str,
    /// Noun for the counted events, which follows the number in texts.
    pub counted: &'static str,
    /// Cause of the loss, in short.
    pub cause: &'static str,
    /// Explanation for readers, which follows the number.
    pub explanation: &'static str,
}

impl Losses {
    /// All counters at 0.
    pub const NONE: Self = Self {
        dropped: 0,
        unbalanced: 0,
    };

    /// Returns all counters, the most harmful first.
    pub fn iter(&self) -> impl Iterator<Item = Loss> {
        [
            Loss {
                value: self.dropped,
                name: "dropped",
                short: "drop",
                counted: "calls dropped",
                cause: "over a limit",
                explanation: "calls over a limit got no separate row: they are in rows \"(over the limit)\", or are not counted and \
                    their time counts for their callers",
            },
            Loss {
                value: self.unbalanced,
                name: "unbalanced",
                short: "unbalanced",
                counted: "scopes unbalanced",
                cause: "leaked or closed out of order",
                explanation: "scopes were leaked or closed out of order",
            },
        ]
        .into_iter()
    }
}

impl AddAssign for Losses {
    fn add_assign(&mut self, other: Self) {
        self.dropped = self.dropped.saturating_add(other.dropped);
        self.unbalanced = self.unbalanced.saturating_add(other.unbalanced);
    }
}
