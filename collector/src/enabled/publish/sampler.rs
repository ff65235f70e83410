//! Decides when to look where each thread is, in the modes sampled and adaptive: up to 1000 times a second, at random distances, and so
//! rarely that it stays below its share of a core.

use std::time::{Duration, Instant};

use crate::enabled::capture::collector_state;
use crate::enabled::platform::os;
use crate::enabled::record::{mode_switch, untimed};

/// The shortest mean distance between two looks.
const SHORTEST: Duration = Duration::from_millis(1);

/// The longest mean distance, however many threads there are.
const LONGEST: Duration = Duration::from_secs(1);

/// The distance is this many times the cost of a look: 0.5 % of a core.
const COST_SHARE: f64 = 200.0;

/// The cost is recomputed after this many looks.
const BLOCK: u32 = 8;

/// Decides when to look.
#[derive(Debug)]
pub(crate) struct Sampler {
    mean: Duration,
    next: Instant,
    /// The looks since the cost was computed, and what they have cost, in nanoseconds.
    looks: (u32, u64),
    /// The publisher's CPU time when it began to wait for the next look.
    waits_since: u64,
    random: u64,
}

impl Sampler {
    pub(crate) fn new() -> Self {
        Self {
            mean: SHORTEST,
            next: Instant::now(),
            looks: (0, 0),
            waits_since: os::own_cpu_ns(),
            random: tickscope_format::os::random() | 1,
        }
    }

    /// Returns how long until the next look; `None` in other modes.
    pub(crate) fn rest(&self) -> Option<Duration> {
        let looks = mode_switch::newest().mode.has_estimated_times();
        looks.then(|| self.next.saturating_duration_since(Instant::now()))
    }

    /// Notes that the publisher has done other work, which is not a cost of looking.
    pub(crate) fn begin_to_wait(&mut self) {
        self.waits_since = os::own_cpu_ns();
    }

    /// Looks if it is time. Returns how often a second it looks, if that has changed.
    pub(crate) fn round(&mut self) -> Option<f64> {
        if self.rest() != Some(Duration::ZERO) {
            return None;
        }
        if let Some(mut state) = collector_state::lock() {
            state.sample();
        }
        // The distance is uniform between half and one and a half of the mean. A program that does something every
        // millisecond is then not always seen at the same point.
        self.random = untimed::xorshift(self.random);
        let jitter = 0.5 + (self.random >> 11) as f64 / (1u64 << 53) as f64;
        self.next = Instant::now() + self.mean.mul_f64(jitter);
        let waited_since = self.waits_since;
        self.begin_to_wait();
        self.looks.0 += 1;
        self.looks.1 += self.waits_since.saturating_sub(waited_since);
        if self.looks.0 < BLOCK {
            return None;
        }
        let (looks, ns) = std::mem::take(&mut self.looks);
        let cost = Duration::from_nanos(ns) / looks;
        let wanted = cost.mul_f64(COST_SHARE).clamp(SHORTEST, LONGEST);
        // The mean moves only part of the way, so that one expensive block does not make it swing.
        self.mean = (self.mean * 7 + wanted) / 8;
        Some(1.0 / self.mean.as_secs_f64())
    }
}
