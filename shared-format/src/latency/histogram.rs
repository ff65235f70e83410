//! Latency histograms with log-linear buckets.
//!
//! Each octave, from one power of two to the next, is divided into eight buckets. A bucket covers durations from
//! 2^e (1 + m/8) up to 2^e (1 + (m+1)/8) ticks, so the durations in it differ by at most 12.5 %. This is the scheme of
//! HdrHistogram (Gil Tene) with three significant bits.

/// Number of buckets in an octave.
pub const PER_OCTAVE: usize = 8;

/// Number of octaves, enough for every 64-bit duration.
pub const OCTAVES: usize = 64;

/// Number of buckets.
pub const BUCKETS: usize = OCTAVES * PER_OCTAVE;

/// Returns the bucket of a duration in ticks. 0 has the same bucket as 1. Durations from 2^53 ticks on may land one
/// bucket too high, and all durations from 2^63 ticks on share one bucket.
// The bucket number consists of the exponent and the upper mantissa bits of the duration as a float. This takes one
// conversion and one shift, whereas counting leading zeros is slow on the oldest x86-64 CPUs.
#[inline(always)]
pub fn bucket_of(ticks: u64) -> usize {
    let positive = ticks.clamp(1, i64::MAX as u64);
    ((positive as i64 as f64).to_bits() >> 49) as usize - (1023 << 3)
}

/// Returns the bucket of a duration above 0 ticks that fits into an `i32`. For 0 and negative numbers the result is
/// meaningless. SIMD instructions convert several `i32` at once, so loops over this function vectorise.
#[inline(always)]
pub fn bucket_of_small(ticks: i32) -> u16 {
    (f64::from(ticks).to_bits() >> 49).wrapping_sub(1023 << 3) as u16
}

/// Returns the shortest duration in a bucket, in whole ticks.
pub fn lower_edge(bucket: usize) -> u64 {
    let (octave, step) = ((bucket / PER_OCTAVE) as u32, (bucket % PER_OCTAVE) as u128);
    let eighths = (8 + step) << octave;
    u64::try_from(eighths.div_ceil(8)).unwrap_or(u64::MAX)
}

/// Returns the longest duration in a bucket, in ticks.
pub fn upper_edge(bucket: usize) -> u64 {
    lower_edge(bucket + 1).saturating_sub(1).max(lower_edge(bucket))
}

/// Returns the bucket of a number that the program passed to `value!`. Unlike for durations, 0 and 1 have separate
/// buckets.
#[inline(always)]
pub fn value_bucket(number: u64) -> usize {
    if number >> f64::MANTISSA_DIGITS == 0 {
        // Bucket 1 covers only durations strictly between 1 and 2 ticks, so it would never be used. Here it holds the
        // number 1.
        bucket_of(number) | usize::from(number == 1)
    } else {
        large_value_bucket(number)
    }
}

/// Returns the bucket of a number that is too large for `f64` to represent exactly.
#[cold]
fn large_value_bucket(number: u64) -> usize {
    let octave = number.ilog2() as usize;
    octave * PER_OCTAVE + (number >> (octave - 3)) as usize % PER_OCTAVE
}

/// Returns the smallest and the largest number for which [`value_bucket`] returns this bucket.
pub fn value_edges(bucket: usize) -> (u64, u64) {
    match bucket {
        0 | 1 => (bucket as u64, bucket as u64),
        _ if bucket >= BUCKETS - 1 => (lower_edge(BUCKETS - 1), u64::MAX),
        _ => (lower_edge(bucket), upper_edge(bucket)),
    }
}

/// The latencies of one or more nodes, as the non-empty buckets in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// The buckets, each with the number of calls in it.
    pub buckets: Vec<(u16, u64)>,
    /// Duration of the longest call in ticks; 0 if only the bucket of that call is known.
    pub max_ticks: u64,
}

impl Histogram {
    /// Returns the number of finished calls.
    pub fn count(&self) -> u64 {
        self.buckets
            .iter()
            .fold(0, |sum: u64, &(_, count)| sum.saturating_add(count))
    }

    /// Returns true if no call has finished.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// Returns a quantile of the durations, in ticks: the duration that the given share (0 to 1) of the calls did not
    /// exceed. Returns `None` if no call has finished. The result is the middle of a bucket, or the longest duration if
    /// that is shorter, and is accurate to 6.3 %.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let bucket = self.quantile_bucket(share)?;
        let middle = lower_edge(bucket).midpoint(upper_edge(bucket));
        Some(match self.max_ticks {
            0 => middle,
            max => middle.min(max),
        })
    }

    /// Returns the range in ticks that contains the [`quantile`](Self::quantile): from the lower to the upper edge of
    /// its bucket, but not beyond the longest duration.
    pub fn quantile_range(&self, share: f64) -> Option<(u64, u64)> {
        let bucket = self.quantile_bucket(share)?;
        let (least, most) = (lower_edge(bucket), upper_edge(bucket));
        Some(match self.max_ticks {
            0 => (least, most),
            max => (least.min(max), most.min(max)),
        })
    }

    /// Returns the bucket of the quantile, which is the duration that the given share (0 to 1) of the calls did not
    /// exceed.
    pub(crate) fn quantile_bucket(&self, share: f64) -> Option<usize> {
        let count = self.count();
        let rank = ((share * count as f64).ceil() as u64).clamp(1, count.max(1));
        let mut seen = 0u64;
        let bucket = self.buckets.iter().find(|&&(_, count)| {
            seen = seen.saturating_add(count);
            seen >= rank
        });
        bucket.map(|&(bucket, _)| bucket.into())
    }

    /// Returns the duration of the longest call in ticks, and whether it is exact. An inexact duration is the upper
    /// edge of the call's bucket. Returns `None` if no call has finished.
    pub fn max(&self) -> Option<(u64, bool)> {
        let &(highest, _) = self.buckets.last()?;
        Some(match self.max_ticks {
            0 => (upper_edge(highest.into()), false),
            max => (max, true),
        })
    }

    /// Returns the mean and the variance of the durations, in ticks and ticks squared, or `None` if no call has
    /// finished. Each call is assumed to have lasted as long as the middle of its bucket.
    pub fn moments(&self) -> Option<(f64, f64)> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let middle =
            |bucket: u16| (lower_edge(bucket.into()) as f64 + upper_edge(bucket.into()) as f64) / 2.0;
        let over = |value: &dyn Fn(f64) -> f64| {
            let sum: f64 = self
                .buckets
                .iter()
                .map(|&(bucket, count)| value(middle(bucket)) * count as f64)
                .sum();
            sum / count as f64
        };
        let mean = over(&|x| x);
        Some((mean, over(&|x| (x - mean) * (x - mean))))
    }

    /// Adds one call.
    pub fn insert(&mut self, ticks: u64) {
        let bucket = bucket_of(ticks) as u16;
        let highest = self.buckets.last().map(|&(bucket, _)| bucket);
        if highest.is_none_or(|highest| highest < bucket) || highest == Some(bucket) && self.max_ticks > 0 {
            self.max_ticks = self.max_ticks.max(ticks);
        }
        match self.buckets.binary_search_by_key(&bucket, |&(at, _)| at) {
            Ok(at) => self.buckets[at].1 += 1,
            Err(at) => self.buckets.insert(at, (bucket, 1)),
        }
    }

    /// Adds the calls of another histogram. The longest duration is exact afterwards if it was exact in each of the two
    /// histograms that reaches the highest bucket.
    pub fn add(&mut self, other: &Self) {
        self.combine(other, u64::saturating_add);
    }

    /// Subtracts the calls of an earlier histogram of the same row. The longest duration stays exact only if it has
    /// grown since then, because otherwise the longest call may be one of those that were subtracted.
    pub fn subtract(&mut self, earlier: &Self) {
        if self.max_ticks <= earlier.max_ticks {
            self.max_ticks = 0;
        }
        self.buckets = merged(&self.buckets, &earlier.buckets, u64::saturating_sub);
    }

    /// Converts the histogram to another clock, which ticks `ratio` times during one tick of this one. Each bucket is
    /// converted as a whole, according to the duration in its middle.
    #[must_use]
    pub fn at_rate(&self, ratio: f64) -> Self {
        let mut buckets: Vec<(u16, u64)> = Vec::with_capacity(self.buckets.len());
        for &(bucket, calls) in &self.buckets {
            let bucket = usize::from(bucket);
            let middle = lower_edge(bucket).midpoint(upper_edge(bucket)) as f64 * ratio;
            let to = bucket_of(middle.round() as u64) as u16;
            match buckets.last_mut().filter(|last| last.0 == to) {
                Some(last) => last.1 = last.1.saturating_add(calls),
                None => buckets.push((to, calls)),
            }
        }
        // The longest duration stays exact only if it still lies in the last non-empty bucket.
        let max_ticks = (self.max_ticks as f64 * ratio).round() as u64;
        let is_last = buckets
            .last()
            .is_some_and(|(last, _)| bucket_of(max_ticks) == usize::from(*last));
        let is_known = is_last && self.max_ticks > 0;
        Self {
            buckets,
            max_ticks: if is_known { max_ticks } else { 0 },
        }
    }

    /// Raises the count of each bucket, and the longest duration, to at least the value in another histogram. The longest
    /// duration is exact afterwards under the same condition as in [`Self::add`].
    pub fn raise_to(&mut self, other: &Self) {
        self.combine(other, u64::max);
    }

    fn combine(&mut self, other: &Self, combine: fn(u64, u64) -> u64) {
        let highest = |histogram: &Self| histogram.buckets.last().map(|&(bucket, _)| bucket);
        self.max_ticks = match highest(self).cmp(&highest(other)) {
            std::cmp::Ordering::Greater => self.max_ticks,
            std::cmp::Ordering::Less => other.max_ticks,
            std::cmp::Ordering::Equal if self.max_ticks == 0 || other.max_ticks == 0 => 0,
            std::cmp::Ordering::Equal => self.max_ticks.max(other.max_ticks),
        };
        self.buckets = merged(&self.buckets, &other.buckets, combine);
    }
}

/// Merges two lists of buckets. The two counts of a bucket are combined with `combine`, where a missing bucket counts
/// as 0. Buckets that end up without calls are dropped.
fn merged(a: &[(u16, u64)], b: &[(u16, u64)], combine: fn(u64, u64) -> u64) -> Vec<(u16, u64)> {
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    let mut all = Vec::new();
    loop {
        let (bucket, left, right) = match (a.peek().copied(), b.peek().copied()) {
            (None, None) => return all,
            (Some((bucket, left)), None) => (bucket, left, 0),
            (None, Some((bucket, right))) => (bucket, 0, right),
            (Some((at, left)), Some((other, right))) => match at.cmp(&other) {
                std::cmp::Ordering::Less => (at, left, 0),
                std::cmp::Ordering::Greater => (other, 0, right),
                std::cmp::Ordering::Equal => (at, left, right),
            },
        };
        a.next_if(|&(at, _)| at == bucket);
        b.next_if(|&(at, _)| at == bucket);
        let count = combine(left, right);
        if count > 0 {
            all.push((bucket, count));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(durations: &[u64]) -> Histogram {
        let mut all = Histogram::default();
        durations.iter().for_each(|&ticks| all.insert(ticks));
        all
    }

    #[test]
    fn numbers_of_values_lie_between_the_edges_of_their_buckets() {
        let powers = (0..64).flat_map(|shift| {
            let power = 1u64 << shift;
            [
                power - 1,
                power,
                power + 1,
                power | power >> 3,
                power | power >> 1,
            ]
        });
        for number in powers.chain(0..1000).chain([u64::MAX - 1, u64::MAX]) {
            let bucket = value_bucket(number);
            let (lower, upper) = value_edges(bucket);
            assert!((lower..=upper).contains(&number), "{number} in {bucket}");
            assert_eq!(value_bucket(lower), bucket, "{number}");
            assert_eq!(value_bucket(upper), bucket, "{number}");
            assert!(upper - lower <= lower / 8, "{number}");
        }
        assert_eq!([0, 1, 2].map(value_bucket), [0, 1, 8]);
    }

    #[test]
    fn buckets_are_an_eighth_of_an_octave_wide() {
        for (ticks, bucket) in [
            (0, 0),
            (1, 0),
            (2, 8),
            (3, 12),
            (8, 24),
            (9, 25),
            (16, 32),
            (17, 32),
            (18, 33),
        ] {
            assert_eq!(bucket_of(ticks), bucket, "{ticks}");
        }
        assert_eq!((lower_edge(33), upper_edge(33)), (18, 19));
        assert!(bucket_of(u64::MAX) < BUCKETS);
    }

    #[test]
    fn quantiles_of_a_known_series() {
        let thousand: Vec<u64> = (1..=1000).collect();
        let histogram = of(&thousand);
        for (share, exact) in [(0.5, 500.0), (0.9, 900.0), (0.99, 990.0)] {
            let found = histogram.quantile(share).unwrap() as f64;
            assert!((found / exact - 1.0).abs() < 0.0625, "{share}: {found}");
        }
        assert_eq!(histogram.max(), Some((1000, true)));
        assert_eq!(of(&[]).quantile(0.5), None);
    }

    #[test]
    fn the_longest_is_exact_only_where_it_was_seen() {
        let earlier = of(&[10, 500]);
        let mut later = earlier.clone();
        later.add(&of(&[20, 30]));
        later.subtract(&earlier);
        assert_eq!(later.max(), Some((upper_edge(bucket_of(30)), false)));
        let mut longer = earlier.clone();
        longer.add(&of(&[700]));
        longer.subtract(&earlier);
        assert_eq!(longer.max(), Some((700, true)));
        let mut raised = of(&[20]);
        raised.raise_to(&later);
        assert_eq!(raised.max(), later.max());
    }

    proptest! {
        #[test]
        fn both_ways_find_the_same_bucket(ticks in 1..i32::MAX) {
            prop_assert_eq!(usize::from(bucket_of_small(ticks)), bucket_of(ticks as u64));
        }

        #[test]
        fn a_duration_lies_within_the_edges_of_its_bucket(ticks in 1u64..1 << 53) {
            let bucket = bucket_of(ticks);
            prop_assert!(lower_edge(bucket) <= ticks && ticks <= upper_edge(bucket));
            let width = (upper_edge(bucket) - lower_edge(bucket)) as f64;
            prop_assert!(width <= lower_edge(bucket) as f64 / 8.0);
        }

        #[test]
        fn what_is_added_can_be_taken_away(
            a in proptest::collection::vec(1u64..1 << 40, 0..50),
            b in proptest::collection::vec(1u64..1 << 40, 0..50),
        ) {
            let mut both = of(&a);
            both.add(&of(&b));
            prop_assert_eq!(both.count(), (a.len() + b.len()) as u64);
            both.subtract(&of(&a));
            prop_assert_eq!(both.buckets, of(&b).buckets);
        }
    }
}
