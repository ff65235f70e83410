//! The publisher's sampling of where each thread is, in the modes sampled and adaptive.
//!
//! A sampling round reads the current node of all threads, and adds the time since the previous round to each of these
//! nodes. A thread that began since then also gets the whole time, and a thread that ended gets none; on average these
//! errors cancel out. The sums only grow, and a reset keeps them as the baseline.

use tickscope_format::snapshot::{Mode, SeenCost};

use crate::enabled::capture::epochs::Epochs;
use crate::enabled::runtime::config;
use crate::types::Clock;

/// In adaptive mode a round counts for at most this many mean times between two rounds. The mean follows from the rate,
/// which is taken to be at least `LEAST_HZ`.
const LONGEST_LOOKS: f64 = 3.0;
const LEAST_HZ: f64 = 100.0;

/// Sums of the rounds since the beginning.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    count: u64,
    /// Ticks for which the rounds count.
    ticks: u64,
    /// Number of times that a round found a thread in an event, and the ticks for which these rounds count.
    in_events: u64,
    event_ticks: u64,
}

/// The sampling rounds so far.
#[derive(Debug, Default)]
pub(crate) struct Sampling {
    pub(crate) sums: Epochs<Sums>,
    /// Tick of the last round, or of a later switch of modes, from which the next round counts. `None` makes the next
    /// round count for no time.
    pub(crate) looked_at: Option<u64>,
}

/// Returns whether the publisher samples the threads in this mode.
pub(crate) fn wants_samples(mode: Mode) -> bool {
    // A custom clock may stand still while a thread works, or run while it waits.
    let is_own = || matches!(config::get().chosen.clock, Clock::Custom(..));
    mode.is_sampling() || mode.has_estimated_times() && !is_own()
}

impl Sampling {
    /// Counts a round, with `hz` rounds a second, and returns the ticks for which it counts.
    pub(crate) fn look(&mut self, mode: Mode, hz: f64) -> u64 {
        let now = config::now();
        let mut passed = now.saturating_sub(self.looked_at.replace(now).unwrap_or(now));
        if !mode.is_sampling() {
            // Adaptive mode uses shares, not sums. A round that is late, because the publisher had no CPU, must not
            // outweigh all others.
            let longest = LONGEST_LOOKS / hz.max(LEAST_HZ);
            passed = passed.min((longest * config::ticks_per_second()) as u64);
        }
        self.sums.current.count += 1;
        self.sums.current.ticks = self.sums.current.ticks.saturating_add(passed);
        passed
    }

    /// Counts a thread that a round has found in an event.
    pub(crate) fn meet_event(&mut self, passed: u64) {
        self.sums.current.in_events += 1;
        self.sums.current.event_ticks = self.sums.current.event_ticks.saturating_add(passed);
    }

    /// Returns the number of rounds since the reset.
    pub(crate) fn looks(&self) -> u64 {
        self.sums.current.count - self.sums.base.count
    }

    /// Returns the mean time between two rounds since the reset, in ticks. The reset was `since_reset` ticks ago.
    pub(crate) fn period_ticks(&self, mode: Mode, since_reset: f64) -> f64 {
        // In adaptive mode a round may count for less than the time since the previous round.
        let ticks = match mode.is_sampling() {
            true => since_reset,
            false => (self.sums.current.ticks - self.sums.base.ticks) as f64,
        };
        ticks / self.looks().max(1) as f64
    }

    /// Returns the time since the reset in which samples found threads inside events of the library.
    pub(crate) fn seen_cost(&self) -> SeenCost {
        let event_ticks = self.sums.current.event_ticks - self.sums.base.event_ticks;
        SeenCost {
            looks: self.sums.current.in_events - self.sums.base.in_events,
            ns: event_ticks as f64 * (1e9 / config::ticks_per_second()),
        }
    }
}
