//! The numbers that are counted for a function, a counter or a group. They only ever increase.

use serde::{Deserialize, Serialize};
use tickscope_format::latency::{BUCKETS, Histogram, PER_OCTAVE, lower_edge, upper_edge};

/// Exponent of the lowest bucket edge in exported latency histograms: 2^8 ns = 256 ns.
pub(crate) const FIRST_OCTAVE: u32 = 8;

/// Exponent of the highest bucket edge in exported latency histograms: 2^34 ns = 17.2 s.
pub(crate) const LAST_OCTAVE: u32 = 34;

/// Number of bucket edges in exported latency histograms.
pub(crate) const EDGES: usize = (LAST_OCTAVE - FIRST_OCTAVE + 1) as usize;

/// Index in [`Amounts::latency`] at which calls above the highest edge are counted.
const BEYOND: usize = EDGES;

/// Index in [`Amounts::latency`] at which the durations of all calls are summed up, in nanoseconds.
const SUM: usize = EDGES + 1;

/// A bucket of the program counts as below an edge if its end is at most this factor above the edge. Consecutive bucket
/// ends are at most an eighth apart, so each edge has a bucket end within 6 % of it.
const NEAREST: f64 = 1.06;

/// Selects one of the numbers in [`Amounts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Number of calls started; for a counter, the number of additions.
    Calls,
    /// Self time in nanoseconds; for a group, the time spent in the outermost calls of its members.
    Time,
    /// The part of [`Time`](Self::Time) during which threads were waiting, in nanoseconds.
    Waiting,
    /// Bytes that the function itself allocated.
    Allocated,
    /// The sum of a counter.
    Sum,
}

/// The counts for one function, counter or group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Amounts {
    numbers: [u64; Kind::Sum as usize + 1],
    /// Number of calls in each latency bucket, then the number of calls above the highest edge, then the sum of all
    /// durations in nanoseconds. Empty if there are no latencies.
    latency: Vec<u64>,
}

impl Amounts {
    pub(crate) fn get(&self, kind: Kind) -> u64 {
        self.numbers[kind as usize]
    }

    /// Adds `more` to a number, saturating at `u64::MAX`.
    pub(crate) fn put(&mut self, kind: Kind, more: u64) {
        let number = &mut self.numbers[kind as usize];
        *number = number.saturating_add(more);
    }

    /// Adds the calls of a latency histogram.
    pub(crate) fn put_latencies(&mut self, histogram: &Histogram, octaves: &Octaves) {
        self.latency.resize(SUM + 1, 0);
        for &(bucket, calls) in &histogram.buckets {
            let bucket = usize::from(bucket).min(BUCKETS - 1);
            let place = &mut self.latency[usize::from(octaves.of[bucket])];
            *place = place.saturating_add(calls);
            let ns = (octaves.middle_ns(bucket) * calls as f64).round() as u64;
            self.latency[SUM] = self.latency[SUM].saturating_add(ns);
        }
    }

    pub(crate) fn has_latencies(&self) -> bool {
        !self.latency.is_empty()
    }

    /// Returns the cumulative counts with which a histogram is exported: for each edge, the number of shorter calls,
    /// and at the end the number of all calls.
    pub(crate) fn below_edges(&self) -> Vec<u64> {
        let octaves = self.latency.iter().take(BEYOND + 1);
        let all = octaves.scan(0u64, |all, calls| {
            *all = all.saturating_add(*calls);
            Some(*all)
        });
        all.collect()
    }

    /// Returns the sum of all durations in nanoseconds. Each call counts with the midpoint of its bucket.
    pub(crate) fn latency_sum_ns(&self) -> u64 {
        self.latency.get(SUM).copied().unwrap_or(0)
    }

    /// Adds the counts of another item.
    pub(crate) fn add(&mut self, other: &Self) {
        self.combine(other, u64::saturating_add);
    }

    /// Replaces each number with the corresponding number of `other` if that is larger.
    pub(crate) fn raise_to(&mut self, other: &Self) {
        self.combine(other, u64::max);
    }

    /// Subtracts each number of `other`; negative results become 0.
    pub(crate) fn subtract(&mut self, other: &Self) {
        self.combine(other, u64::saturating_sub);
    }

    /// Copies the latencies of `other`. All other counts stay the same.
    pub(crate) fn set_latencies(&mut self, other: &Self) {
        self.latency.clone_from(&other.latency);
    }

    fn combine(&mut self, other: &Self, how: fn(u64, u64) -> u64) {
        if self.latency.len() < other.latency.len() {
            self.latency.resize(other.latency.len(), 0);
        }
        let (ours, theirs) = (&mut self.numbers, &other.numbers);
        for (one, other) in ours.iter_mut().zip(theirs) {
            *one = how(*one, *other);
        }
        for (one, other) in self.latency.iter_mut().zip(&other.latency) {
            *one = how(*one, *other);
        }
    }
}

/// Maps each latency bucket of a program's clock to the edge below which its calls are counted. The mapping stays the
/// same for a whole run, so that calls do not move to another edge when the measured clock rate changes slightly.
#[derive(Clone, Debug)]
pub(crate) struct Octaves {
    of: [u8; BUCKETS],
    ns_per_tick: f64,
}

impl Octaves {
    /// Returns the mapping for a clock with this many ticks per second.
    pub(crate) fn of_clock(ticks_per_second: f64) -> Self {
        let ns_per_tick = 1e9 / ticks_per_second;
        let mut of = [0; BUCKETS];
        for (bucket, place) in of.iter_mut().enumerate() {
            let octave = (bucket / PER_OCTAVE) as f64;
            let end = octave.exp2() * (1.0 + ((bucket % PER_OCTAVE) as f64 + 1.0) / 8.0) * ns_per_tick;
            let least = (end / NEAREST).log2().ceil() - f64::from(FIRST_OCTAVE);
            *place = least.clamp(0.0, BEYOND as f64) as u8;
        }
        Self { of, ns_per_tick }
    }

    /// Returns the clock rate for which this mapping was made, in ticks per second.
    pub(crate) fn ticks_per_second(&self) -> f64 {
        1e9 / self.ns_per_tick
    }

    /// Returns whether a measured rate is so far from the rate of this mapping that it must come from another clock.
    pub(crate) fn is_of_another_clock(&self, ticks_per_second: f64) -> bool {
        (self.ns_per_tick * ticks_per_second / 1e9 - 1.0).abs() > 0.001
    }

    fn middle_ns(&self, bucket: usize) -> f64 {
        (lower_edge(bucket) as f64 + upper_edge(bucket) as f64) / 2.0 * self.ns_per_tick
    }
}

/// Returns an edge in nanoseconds.
pub(crate) fn edge_ns(edge: usize) -> u64 {
    1 << (FIRST_OCTAVE + edge as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(ticks: &[u64], ticks_per_second: f64) -> Amounts {
        let mut histogram = Histogram::default();
        ticks.iter().for_each(|&ticks| histogram.insert(ticks));
        let mut amounts = Amounts::default();
        amounts.put_latencies(&histogram, &Octaves::of_clock(ticks_per_second));
        amounts
    }

    #[test]
    fn a_clock_of_nanoseconds_is_counted_exactly_at_every_octave() {
        let durations: Vec<u64> = (6..37)
            .flat_map(|octave| [(1 << octave) - 1, 1 << octave])
            .collect();
        let amounts = counted(&durations, 1e9);
        let below = amounts.below_edges();
        for (edge, &calls) in below[..EDGES].iter().enumerate() {
            let shorter = durations.iter().filter(|&&ns| ns < edge_ns(edge)).count();
            assert_eq!(calls, shorter as u64, "{}", edge_ns(edge));
        }
        assert_eq!(below[EDGES], durations.len() as u64);
        let exact: u64 = durations.iter().sum();
        assert!((amounts.latency_sum_ns() as f64 / exact as f64 - 1.0).abs() < 0.0625);
    }

    #[test]
    fn other_clocks_are_counted_at_an_edge_within_six_percent() {
        for rate in [1.0e9, 1.9e9, 2.1e9, 2.9e9, 3.7e9, 24e6, 54e6] {
            for octave in FIRST_OCTAVE..=LAST_OCTAVE {
                let ticks = |share: f64| (2f64.powi(octave as i32) * share * rate / 1e9) as u64;
                let below = |ticks| counted(&[ticks], rate).below_edges()[(octave - FIRST_OCTAVE) as usize];
                // At 24 MHz, 256 ns are only six ticks: too few for this check.
                if ticks(1.0) > 64 {
                    assert_eq!(below(ticks(0.94)), 1, "{rate} 2^{octave}");
                    assert_eq!(below(ticks(1.061)), 0, "{rate} 2^{octave}");
                }
            }
        }
    }

    #[test]
    fn a_rate_that_is_measured_anew_is_the_same_clock() {
        let octaves = Octaves::of_clock(2.9e9);
        assert!(!octaves.is_of_another_clock(2.9001e9));
        assert!(octaves.is_of_another_clock(1e9));
    }
}
