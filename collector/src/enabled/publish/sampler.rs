//! Decides when to sample the position of each thread in sampled and adaptive mode: up to 1000 times a second, at
//! random intervals. Samples take at most a fixed share of a core. In adaptive mode, an idle program is sampled even
//! less often, because its calls are long, and the clock measures long calls well without samples.

use std::time::{Duration, Instant};

use crate::enabled::capture::capture_lock;
use crate::enabled::capture::collector_state::CollectorState;
use crate::enabled::capture::sampling::wants_samples;
use crate::enabled::platform::os;
use crate::enabled::record::{mode_switch, untimed};

/// Shortest mean time between two samples.
const SHORTEST: Duration = Duration::from_millis(1);

/// Longest mean time between two samples, for any number of threads.
const LONGEST: Duration = Duration::from_secs(1);

/// The mean time between samples is this many times the CPU time of a sample, so samples take 0.5 % of a core.
const COST_SHARE: f64 = 200.0;

/// The cost is recomputed after this many samples.
const BLOCK: u32 = 8;

/// Each time that this many samples in a row have found the program idle, the time between samples doubles. A single
/// sample cannot tell, because the kernel updates the CPU time of a running thread only at timer ticks, which are up to
/// 10 ms apart.
const IDLE_LOOKS: u32 = 16;

/// Longest mean time between samples of an idle program. It takes about this long to notice that the program is busy
/// again.
const IDLE_LONGEST: Duration = Duration::from_millis(64);

/// A program that uses less than this share of a core is idle.
const IDLE_SHARE: f64 = 0.005;

/// Decides when to take the next sample, and measures the cost of samples.
pub(crate) struct Sampler {
    mean: Duration,
    idle: Idle,
    next: Instant,
    /// Number of samples since the cost was computed, and their cost in nanoseconds.
    looks: (u32, u64),
    /// The publisher's CPU time when it began to wait for the next sample.
    waits_since: u64,
    random: u64,
}

/// Detects whether the program is idle, not counting the CPU time of the publisher.
#[derive(Debug, Default)]
struct Idle {
    /// CPU time of the process and of the publisher in ns, and real time, at the last sample.
    since: Option<(u64, u64, Instant)>,
    /// Number of samples in a row that have found the program idle.
    looks: u32,
}

impl Idle {
    /// Notes that a sample was taken. `own_ns` is the CPU time that the publisher has used since its start.
    fn note(&mut self, own_ns: u64) {
        let now = (os::process_cpu_ns(), own_ns, Instant::now());
        if let Some(since) = self.since.replace(now) {
            let [all, own] =
                [(now.0, since.0), (now.1, since.1)].map(|(now, since)| now.saturating_sub(since));
            let took = Duration::from_nanos(all.saturating_sub(own));
            let is_idle = took < now.2.saturating_duration_since(since.2).mul_f64(IDLE_SHARE);
            self.looks = if is_idle { self.looks.saturating_add(1) } else { 0 };
        }
    }

    /// Returns the mean time between samples, which is `mean` while the program is busy.
    fn distance(&self, mean: Duration) -> Duration {
        let doubled = mean * (1 << (self.looks / IDLE_LOOKS).min(6));
        doubled.min(IDLE_LONGEST.max(mean))
    }
}

impl Sampler {
    pub(crate) fn new() -> Self {
        Self {
            mean: SHORTEST,
            idle: Idle::default(),
            next: Instant::now(),
            looks: (0, 0),
            waits_since: os::own_cpu_ns(),
            random: tickscope_format::os::random() | 1,
        }
    }

    /// Returns the time until the next sample; `None` in modes without samples.
    pub(crate) fn rest(&self) -> Option<Duration> {
        let looks = wants_samples(mode_switch::newest().mode);
        looks.then(|| self.next.saturating_duration_since(Instant::now()))
    }

    /// Notes that the publisher begins to wait, so that its other work is not part of the cost of a sample.
    pub(crate) fn begin_to_wait(&mut self) {
        self.waits_since = os::own_cpu_ns();
    }

    /// Takes a sample if one is due. Returns the number of samples a second, if it has changed.
    pub(crate) fn round(&mut self) -> Option<f64> {
        if self.rest() != Some(Duration::ZERO) {
            return None;
        }
        capture_lock::with(CollectorState::sample);
        // The time to the next sample is uniformly distributed between 0.5 and 1.5 times the mean. So a program that
        // repeats its work every millisecond is not always sampled at the same point.
        self.random = untimed::xorshift(self.random);
        let jitter = 0.5 + (self.random >> 11) as f64 / (1u64 << 53) as f64;
        let waited_since = self.waits_since;
        self.begin_to_wait();
        // In sampled mode, samples are the only source of times, so their rate does not fall.
        if mode_switch::newest().mode.is_sampling() {
            self.idle = Idle::default();
        } else {
            self.idle.note(self.waits_since);
        }
        let distance = self.idle.distance(self.mean);
        self.next = Instant::now() + distance.mul_f64(jitter);
        if distance > self.mean {
            // A sample costs more after the core has slept, so this block is not used to estimate the cost of samples.
            self.looks = (0, 0);
            return None;
        }
        self.looks.0 += 1;
        self.looks.1 += self.waits_since.saturating_sub(waited_since);
        if self.looks.0 < BLOCK {
            return None;
        }
        let (looks, ns) = std::mem::take(&mut self.looks);
        let cost = Duration::from_nanos(ns) / looks;
        let wanted = cost.mul_f64(COST_SHARE).clamp(SHORTEST, LONGEST);
        // The mean moves by only 1/8 of the difference, so that one expensive block does not make it swing.
        self.mean = (self.mean * 7 + wanted) / 8;
        Some(1.0 / self.mean.as_secs_f64())
    }
}
