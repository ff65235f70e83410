//! How the publisher samples where each thread is, in sampled and adaptive mode.
//!
//! A sampling round reads the current node of every thread, and adds the time since the previous round to that node. A
//! thread that has begun since then is credited with the whole time, and a thread that has ended with none; on average,
//! these errors cancel out. The sums only grow. A reset stores them as the baseline.

use tickscope_format::snapshot::{Mode, SeenCost};

use crate::enabled::capture::epochs::Epochs;
use crate::enabled::runtime::config;
use crate::types::Clock;

/// In adaptive mode, a round stands for at most this many times the mean time between rounds. That mean is computed
/// from the sampling rate, which is assumed to be at least `LEAST_HZ`.
const LONGEST_LOOKS: f64 = 3.0;
const LEAST_HZ: f64 = 100.0;

/// Totals over all rounds so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    count: u64,
    /// Ticks that all these rounds stand for.
    ticks: u64,
    /// How often a round found a thread in the middle of an event.
    in_events: u64,
    /// Sum of the ticks that these rounds stand for.
    event_ticks: u64,
}

/// The sampling rounds so far.
#[derive(Debug, Default)]
pub(crate) struct Sampling {
    pub(crate) sums: Epochs<Sums>,
    /// Tick from which the next round counts time: the tick of the last round, or of a mode switch after it. If it is
    /// `None`, the next round counts no time.
    pub(crate) looked_at: Option<u64>,
}

/// Returns whether the publisher samples the threads in this mode.
pub(crate) fn wants_samples(mode: Mode) -> bool {
    // A custom clock may stand still while a thread works, or run while it waits, so samples would not agree with it.
    let is_own = || matches!(config::get().chosen.clock, Clock::Custom(..));
    mode.is_sampling() || mode.has_estimated_times() && !is_own()
}

impl Sampling {
    /// Counts a round, and returns the ticks that it stands for. There are `hz` rounds a second.
    pub(crate) fn look(&mut self, mode: Mode, hz: f64) -> u64 {
        let now = config::now();
        let mut passed = now.saturating_sub(self.looked_at.replace(now).unwrap_or(now));
        if !mode.is_sampling() {
            // Adaptive mode uses shares of the sums, not the sums themselves. A round that is late because the
            // publisher got no CPU time must not outweigh all the others.
            let longest = LONGEST_LOOKS / hz.max(LEAST_HZ);
            passed = passed.min((longest * config::ticks_per_second()) as u64);
        }
        self.sums.current.count += 1;
        self.sums.current.ticks = self.sums.current.ticks.saturating_add(passed);
        passed
    }

    /// Counts a thread that a round found in the middle of an event.
    pub(crate) fn meet_event(&mut self, passed: u64) {
        self.sums.current.in_events += 1;
        self.sums.current.event_ticks = self.sums.current.event_ticks.saturating_add(passed);
    }

    /// Returns the number of rounds since the reset.
    pub(crate) fn looks(&self) -> u64 {
        self.sums.current.count - self.sums.base.count
    }

    /// Returns the mean time between two rounds since the reset, in ticks. `since_reset` is the time since the reset,
    /// in ticks.
    pub(crate) fn period_ticks(&self, mode: Mode, since_reset: f64) -> f64 {
        // In adaptive mode a round may stand for less than the time since the previous round.
        let ticks = match mode.is_sampling() {
            true => since_reset,
            false => (self.sums.current.ticks - self.sums.base.ticks) as f64,
        };
        ticks / self.looks().max(1) as f64
    }

    /// Returns how often samples since the reset found threads in the middle of an event, and for how much time these
    /// samples stand.
    pub(crate) fn seen_cost(&self) -> SeenCost {
        let event_ticks = self.sums.current.event_ticks - self.sums.base.event_ticks;
        SeenCost {
            looks: self.sums.current.in_events - self.sums.base.in_events,
            ns: event_ticks as f64 * (1e9 / config::ticks_per_second()),
        }
    }
}
