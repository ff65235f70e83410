//! When to look where each thread is, in sampled mode: up to a thousand times a second, at random distances, and so
//! seldom that looking stays below its share of a core.

use std::time::{Duration, Instant};

use tickscope_format::snapshot::Mode;

use crate::enabled::capture::collector_state;
use crate::enabled::platform::{os, random};
use crate::enabled::record::mode_switch;

/// The shortest mean distance between two looks.
const SHORTEST: Duration = Duration::from_millis(1);

/// The longest, however many threads there are.
const LONGEST: Duration = Duration::from_secs(1);

/// The distance is so many times what a look costs: 0.5 % of a core.
const COST_SHARE: f64 = 200.0;

/// Looks after which their cost is reckoned anew.
const BLOCK: u32 = 8;

/// Decides when to look.
#[derive(Debug)]
pub(crate) struct Sampler {
    mean: Duration,
    next: Instant,
    /// Looks since their cost was reckoned, and what they cost so far, in nanoseconds.
    looks: (u32, u64),
    /// The publisher's CPU time when it began to wait for the next one.
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

    /// How long until the next look; none where nobody looks.
    pub(crate) fn rest(&self) -> Option<Duration> {
        let sampled = mode_switch::newest().mode == Mode::Sampled;
        sampled.then(|| self.next.saturating_duration_since(Instant::now()))
    }

    /// The publisher has done something else meanwhile, which is no cost of looking.
    pub(crate) fn begin_to_wait(&mut self) {
        self.waits_since = os::own_cpu_ns();
    }

    /// Looks if it is time; gives how often a second it does where that has changed.
    pub(crate) fn round(&mut self) -> Option<f64> {
        if self.rest() != Some(Duration::ZERO) {
            return None;
        }
        if let Some(mut state) = collector_state::lock() {
            state.sample();
        }
        // Evenly between half and one and a half of the mean: a program that does something every millisecond is
        // not always met at the same.
        self.random = random::step(self.random);
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
        // Some of the way: one dear block does not make it swing.
        self.mean = (self.mean * 7 + wanted) / 8;
        Some(1.0 / self.mean.as_secs_f64())
    }
}
