//! Facts that the publisher and the session report about themselves. Captures put them into snapshots, even if the program takes
//! a snapshot without the publisher.

use tickscope_format::snapshot::{Cost, Process};

use crate::enabled::capture::functions;
use crate::enabled::record::live_blocks;
use crate::enabled::runtime::{config, copies};

/// Work that may be unfinished when the clock is read. A CPU has several hundred instructions in flight. If their loads wait for
/// memory and for each other, about a microsecond of a call's work is charged to later calls. In one measurement, a function that
/// walks a linked list got 2 % of the time instead of 40 %.
const UNFINISHED_NS: f64 = 1_000.0;

/// Warning for a table of live blocks that was too small.
const LIVE_TOO_LOW: &str = "live bytes are too low: more blocks are live than can be remembered";

#[derive(Debug, Default)]
pub(crate) struct SessionInfo {
    pub(crate) name: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) interval_ns: u64,
    pub(crate) viewers: u32,
    pub(crate) cost: Cost,
    /// In adaptive mode: the cost of a timed call, and the part of it that the call includes in its own time.
    pub(crate) timed_ns: (f64, f64),
    /// Time by which loads take longer when a clock reading separates them; see `clock_drain`.
    pub(crate) drains_ns: Option<f64>,
    /// In the modes sampled and adaptive: number of samples a second of each thread's node.
    pub(crate) sampling_hz: f64,
    /// Cost of functions.
    pub(crate) functions: functions::Told,
}

impl SessionInfo {
    /// Returns the possible error of a call's timed duration in nanoseconds. This is the largest of the cost of a timed call, the
    /// delay of loads by the clock, and the CPU's unfinished work at a clock reading.
    pub(crate) fn doubt_ns(&self) -> f64 {
        self.timed_ns
            .0
            .max(self.drains_ns.unwrap_or(0.0))
            .max(UNFINISHED_NS)
    }

    /// Returns a snapshot's facts about the program, at a time of the monotonic clock.
    pub(crate) fn process(&self, now_ns: u64) -> Process {
        let config = config::get();
        let mut warnings = self.warnings.clone();
        warnings.extend(copies::warning());
        if live_blocks::lost() > 0 {
            warnings.push(LIVE_TOO_LOW.into());
        }
        let copies = copies::files().into_iter();
        Process {
            name: self.name.clone(),
            pid: std::process::id(),
            started_unix_ns: config.started_unix_ns,
            uptime_ns: now_ns.saturating_sub(config.started_ns),
            warnings,
            copies: copies.map(|file| file.display().to_string()).collect(),
        }
    }
}
