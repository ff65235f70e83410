//! What the publisher and the session report about themselves. Captures copy it into snapshots, even into those that the
//! program takes without the publisher.

use tickscope_format::snapshot::{Cost, Process};

use crate::enabled::capture::functions;
use crate::enabled::record::live_blocks;
use crate::enabled::runtime::{config, copies};

/// Error of a clock read, due to work that the CPU has not finished by then. A CPU has several hundred instructions in flight.
/// If their loads wait for memory and for each other, about a microsecond of a call's work is charged to later calls. In one
/// measurement, a function that walks a linked list got 2 % of the time instead of 40 %.
const UNFINISHED_NS: f64 = 1_000.0;

/// The warning if the table of live blocks was too small.
const LIVE_TOO_LOW: &str = "live bytes are too low: more blocks are live than can be remembered";

#[derive(Debug, Default)]
pub(crate) struct SessionInfo {
    pub(crate) name: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) interval_ns: u64,
    pub(crate) viewers: u32,
    pub(crate) cost: Cost,
    /// In adaptive mode: the cost of timing a call, and the part of that cost that falls within the measured time of
    /// the call.
    pub(crate) timed_ns: (f64, f64),
    /// How much longer loads take if a clock read separates them; see `clock_drain`.
    pub(crate) drains_ns: Option<f64>,
    /// In sampled and adaptive mode: how many times a second each thread is sampled.
    pub(crate) sampling_hz: f64,
    /// Cost of functions.
    pub(crate) functions: functions::Told,
}

impl SessionInfo {
    /// Returns how far the measured duration of a call may be off, in nanoseconds. This is the largest of three errors: the
    /// cost of timing a call, the delay that clock reads cause for loads, and the work that the CPU has not finished when the
    /// clock is read.
    pub(crate) fn doubt_ns(&self) -> f64 {
        self.timed_ns
            .0
            .max(self.drains_ns.unwrap_or(0.0))
            .max(UNFINISHED_NS)
    }

    /// Returns what a snapshot says about the program. `now_ns` is the current monotonic time.
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
