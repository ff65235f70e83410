//! When and why a snapshot was captured, and what measuring costs.

use bincode::{Decode, Encode};

use super::losses::Losses;
use super::mode::Mode;

/// Why a capture was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum CaptureKind {
    /// The interval elapsed, or a viewer requested a record.
    #[default]
    Periodic,
    /// The last capture of its reset epoch. It has the counts that the reset then cleared.
    Closing,
    /// The last capture of the program.
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

/// When, why and in which mode a capture was made, and what measuring costs.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct CaptureInfo {
    /// The mode in which scopes were measured in this epoch.
    pub mode: Mode,
    /// Why the capture was made.
    pub kind: CaptureKind,
    /// Sequence number of this capture, starting with 1. Captures that did not become records are counted too.
    pub seq: u64,
    /// Tick of the program's clock at the time of the capture.
    pub tick: u64,
    /// Wall-clock time of the capture, in nanoseconds since the Unix epoch.
    pub unix_ns: u64,
    /// The interval between two records, in nanoseconds.
    pub interval_ns: u64,
    /// Number of resets so far. It never decreases, because undoing a reset also increases it.
    pub reset_epoch: u64,
    /// The time since the reset, in nanoseconds.
    pub since_reset_ns: u64,
    /// If this epoch began with an undo, the earlier reset epoch that the undo returned to. The counts then start with
    /// that earlier epoch, and the closing records of that epoch and of all epochs between it and this one are void.
    /// `None` if this epoch did not begin with an undo.
    pub withdraws: Option<u64>,
    /// Number of rows that were merged into rows named "(pruned)", because the record would have been too long.
    pub pruned: u64,
    /// Calls that could not be counted.
    pub losses: Losses,
    /// The cost of measuring.
    pub cost: Cost,
    /// Number of viewers that hold a request slot.
    pub viewers: u32,
}

impl CaptureInfo {
    /// Returns the reset epoch at which the counts start.
    pub fn begin(&self) -> u64 {
        self.withdraws.unwrap_or(self.reset_epoch)
    }
}

/// The cost of measuring: of a scope, as calibrated in this program, and of the publisher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct Cost {
    /// Lower bound of a scope's cost in nanoseconds, measured with work inside the scope, which the CPU overlaps with
    /// the clock reads.
    pub lower_ns: f64,
    /// Upper bound of a scope's cost in nanoseconds, measured in an empty loop.
    pub upper_ns: f64,
    /// CPU time that the publisher has used so far, in nanoseconds.
    pub publisher_cpu_ns: u64,
    /// Share of one core that the publisher used during the last interval, 0 to 1.
    pub publisher_share: f64,
}
