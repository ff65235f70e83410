//! Counters of calls that a program could not measure, with explanations for users.

use std::ops::AddAssign;

use bincode::{Decode, Encode};

/// Number of calls and scopes that were not measured exactly since the program started. Resets do not change these
/// counts.
///
/// Both fields are stored in the section of [`CaptureInfo`](super::CaptureInfo), whose layout never changes. So a new
/// counter needs a section of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Losses {
    /// Calls without a row of their own, because of the depth limit or the node limit, because of re-entrance, or
    /// because their thread was already being torn down. Above the node limit, the time of these calls goes to rows
    /// named "(over the limit)". As calls, such a row counts only those that were made directly by a function with a row
    /// of its own.
    pub dropped: u64,
    /// Guards that were leaked, or closed out of order or on another thread.
    pub unbalanced: u64,
}

/// A counter of [`Losses`], with the names that screens and reports use for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Value of the counter.
    pub value: u64,
    /// Name on screens, and key in JSON reports.
    pub name: &'static str,
    /// Name on narrow screens.
    pub short: &'static str,
    /// What was counted, worded to follow the number, as in "3 calls dropped".
    pub counted: &'static str,
    /// Short description of the cause.
    pub cause: &'static str,
    /// Explanation for users, worded to follow the number.
    pub explanation: &'static str,
}

impl Losses {
    /// All counters at 0.
    pub const NONE: Self = Self {
        dropped: 0,
        unbalanced: 0,
    };

    /// Returns all counters, the most harmful loss first.
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
