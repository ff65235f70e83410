//! The clock that ticks come from.

use bincode::{Decode, Encode};

/// A clock that counts ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum ClockSource {
    /// The CPU's time stamp counter (`rdtsc`).
    Tsc,
    /// The time stamp counter after a fence, for scopes of a few nanoseconds.
    TscOrdered,
    /// The operating system's monotonic clock, in nanoseconds.
    #[default]
    Monotonic,
    /// A function that the program supplies.
    Custom,
}

impl ClockSource {
    /// Returns the name in settings, JSON and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tsc => "tsc",
            Self::TscOrdered => "tsc-ordered",
            Self::Monotonic => "monotonic",
            Self::Custom => "custom",
        }
    }
}

/// The clock in use, the reason for it, and its errors.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct ClockInfo {
    /// Source of the ticks.
    pub source: ClockSource,
    /// Ticks per second, as measured so far; always above 0.
    pub ticks_per_second: f64,
    /// Reason for this clock: "invariant, kernel clocksource tsc", or why a better one was refused.
    pub reason: String,
    /// Gaps between two events that were not charged to any node: the clock went backward or jumped beyond the limit,
    /// or the mode was switched more often in between than the collector remembers.
    pub errors: u64,
    /// Number of breaks of the clock (suspend, migration). Each break closes the reset epoch.
    pub epoch: u32,
}

impl Default for ClockInfo {
    fn default() -> Self {
        Self {
            source: ClockSource::Monotonic,
            ticks_per_second: 1e9,
            reason: String::new(),
            errors: 0,
            epoch: 0,
        }
    }
}
