//! The clock that produces the ticks.

use bincode::{Decode, Encode};

/// A clock that counts ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum ClockSource {
    /// The CPU's time stamp counter (`rdtsc`).
    Tsc,
    /// The time stamp counter, read after a fence, for scopes of a few nanoseconds.
    TscOrdered,
    /// The operating system's monotonic clock, in nanoseconds.
    #[default]
    Monotonic,
    /// A clock function supplied by the program.
    Custom,
}

impl ClockSource {
    /// Returns the name that is used in settings, JSON and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tsc => "tsc",
            Self::TscOrdered => "tsc-ordered",
            Self::Monotonic => "monotonic",
            Self::Custom => "custom",
        }
    }
}

/// The clock in use, why it was chosen, and its errors.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct ClockInfo {
    /// Source of the ticks.
    pub source: ClockSource,
    /// Ticks per second, as measured so far. Always greater than 0.
    pub ticks_per_second: f64,
    /// Why this clock was chosen: "invariant, kernel clocksource tsc", or why a better clock was rejected.
    pub reason: String,
    /// Number of gaps between two events that were not charged to any node. Either the clock went backward or jumped
    /// too far forward, or the mode was switched more often during the gap than the collector remembers.
    pub errors: u64,
    /// Number of discontinuities of the clock, for example after suspend or migration. Each of them closes the reset
    /// epoch.
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
