//! A capture: its time, its reason and its cost.

use bincode::{Decode, Encode};

use super::losses::Losses;
use super::mode::Mode;

/// Reason of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum CaptureKind {
    /// The interval had passed, or a viewer requested a record.
    #[default]
    Periodic,
    /// The capture is the last of its reset epoch, and shows the counts that the reset cleared.
    Closing,
    /// The capture is the last of the program.
    Final,
}

impl CaptureKind {
    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Periodic => "periodic",
            Self::Closing => "closing",
            Self::Final => "final",
        }
    }
}

/// Time, reason, mode and cost of a capture.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct CaptureInfo {
    /// Mode in which scopes were measured in this epoch.
    pub mode: Mode,
    /// Reason of the capture.
    pub kind: CaptureKind,
    /// Number of this capture, from 1. Captures without a record count as well.
    pub seq: u64,
    /// The program's clock at the capture, in ticks.
    pub tick: u64,
    /// Wall clock at the capture, in nanoseconds since the Unix epoch.
    pub unix_ns: u64,
    /// The time between two records, in nanoseconds.
    pub interval_ns: u64,
    /// Number of resets. It never decreases; an undo increases it as well.
    pub reset_epoch: u64,
    /// The time since the reset, in nanoseconds.
    pub since_reset_ns: u64,
    /// The earlier reset epoch that an undo has continued in this epoch, so that the counts begin with that epoch; `None` if no
    /// undo began this epoch. Closing records of the continued epoch and of later ones are void.
    pub withdraws: Option<u64>,
    /// Rows that were summed up in rows called "(pruned)", because the record would have been too long.
    pub pruned: u64,
    /// Calls that could not be counted.
    pub losses: Losses,
    /// The cost of measuring.
    pub cost: Cost,
    /// Number of viewers that own a request slot.
    pub viewers: u32,
}

impl CaptureInfo {
    /// Returns the reset epoch with which the counts begin.
    pub fn begin(&self) -> u64 {
        self.withdraws.unwrap_or(self.reset_epoch)
    }
}

/// The cost of measuring, as calibrated in this program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct Cost {
    /// The lower bound of a scope's cost in nanoseconds: measured between work that overlaps with its clock reads.
    pub lower_ns: f64,
    /// The upper bound of a scope's cost in nanoseconds: measured in an empty loop.
    pub upper_ns: f64,
    /// The publisher's CPU time so far, in nanoseconds.
    pub publisher_cpu_ns: u64,
    /// The publisher's share of one core over the last interval, 0 to 1.
    pub publisher_share: f64,
}
