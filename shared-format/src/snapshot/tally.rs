//! Rows without time: counters, values and gauges.

use bincode::{Decode, Encode};

use crate::ids::NodeId;
use crate::latency::{Histogram, value_edges};

/// A row without time, and its sum. Its number of calls is how often its macro was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Count {
    /// Row of the counter.
    pub node: NodeId,
    /// Sum since the reset; 0 for a gauge.
    pub sum: u64,
}

/// The smallest and the largest of a set of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extremes<T> {
    /// The smallest.
    pub min: T,
    /// The largest.
    pub max: T,
    /// Whether `min` is one of the numbers. If not, it is only a lower bound.
    pub min_exact: bool,
    /// Whether `max` is one of the numbers. If not, it is only an upper bound.
    pub max_exact: bool,
}

/// A row that was recorded with `value!`. It is also a counter. Its histogram is in [`Snapshot::latencies`] and counts
/// the recorded numbers instead of ticks; [`value_edges`](crate::latency::value_edges) returns the edges of a bucket.
///
/// [`Snapshot::latencies`]: super::Snapshot::latencies
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueRow {
    /// Row of the value.
    pub node: NodeId,
    /// Extremes of the numbers since the reset, or `None` if they are unknown.
    pub range: Option<Extremes<u64>>,
}

/// A row that was recorded with `gauge!`. It is also a counter, whose sum is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GaugeRow {
    /// Row of the gauge.
    pub node: NodeId,
    /// Level of the gauge, or `None` if it has not been set yet.
    pub level: Option<Level>,
}

/// The level of a gauge. A reset does not change the level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The last level that was set.
    pub last: i64,
    /// When the level was last set, in ticks of the program's clock.
    pub set_tick: u64,
    /// Extremes of all levels since the reset, including the level at the reset.
    pub range: Extremes<i64>,
}

/// Data of a row without time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tally {
    /// A row in which nothing has been counted yet.
    Nothing,
    /// A row of `count!`, or a row that combines rows of different kinds.
    Counter {
        /// Sum of the counted numbers.
        sum: u64,
    },
    /// A row of `value!`.
    Value {
        /// Sum of all numbers.
        sum: u64,
        /// The smallest and the largest number.
        range: Option<Extremes<u64>>,
    },
    /// A row of `gauge!`.
    Gauge {
        /// Level of the gauge.
        level: Option<Level>,
    },
}

impl<T: Copy + Ord> Extremes<T> {
    /// Returns the extremes of a single number.
    pub fn of(number: T) -> Self {
        Self {
            min: number,
            max: number,
            min_exact: true,
            max_exact: true,
        }
    }

    /// Returns the extremes of the numbers of both `self` and `other`.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let is_exact = |one: (T, bool), other: (T, bool), both: T| {
            (one.0 == both && one.1) || (other.0 == both && other.1)
        };
        let (min, max) = (self.min.min(other.min), self.max.max(other.max));
        Self {
            min,
            max,
            min_exact: is_exact((self.min, self.min_exact), (other.min, other.min_exact), min),
            max_exact: is_exact((self.max, self.max_exact), (other.max, other.max_exact), max),
        }
    }
}

/// Joins two values, or returns the only one that is present.
pub fn both<T>(one: Option<T>, other: Option<T>, join: impl FnOnce(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(join(one, other)),
        (one, other) => one.or(other),
    }
}

impl Level {
    /// Combines the levels of two parts of a gauge. The result has the level that was set last.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let newest = match other.set_tick >= self.set_tick {
            true => other,
            false => self,
        };
        Self {
            range: self.range.and(other.range),
            ..newest
        }
    }
}

impl Tally {
    /// Returns the sum; 0 for a gauge.
    pub fn sum(self) -> u64 {
        match self {
            Self::Counter { sum } | Self::Value { sum, .. } => sum,
            Self::Gauge { .. } | Self::Nothing => 0,
        }
    }

    /// Returns the extremes of a value; `None` if they are unknown, or if this is not a value.
    pub fn range(self) -> Option<Extremes<u64>> {
        match self {
            Self::Value { range, .. } => range,
            Self::Counter { .. } | Self::Gauge { .. } | Self::Nothing => None,
        }
    }

    /// Returns the level of a gauge.
    pub fn level(self) -> Option<Level> {
        match self {
            Self::Gauge { level } => level,
            Self::Counter { .. } | Self::Value { .. } | Self::Nothing => None,
        }
    }

    /// Returns whether this is a value, which has a histogram.
    pub fn is_value(self) -> bool {
        matches!(self, Self::Value { .. })
    }

    /// Returns whether this is a gauge, which has no sum.
    pub fn is_gauge(self) -> bool {
        matches!(self, Self::Gauge { .. })
    }

    /// Returns a quantile of a value: the number that a `share` (0 to 1) of the recorded numbers did not exceed.
    /// `histogram` is the row's histogram. The result is the middle of a bucket, and accurate to 6.3 %. Returns `None`
    /// if this is not a value, or if the histogram is empty.
    pub fn quantile(self, histogram: &Histogram, share: f64) -> Option<u64> {
        if !self.is_value() {
            return None;
        }
        let (lower, upper) = value_edges(histogram.quantile_bucket(share)?);
        let middle = lower.midpoint(upper);
        Some(match self.range() {
            Some(Extremes { min, max, .. }) if min <= max => middle.clamp(min, max),
            _ => middle,
        })
    }

    /// Returns an empty tally of the same kind.
    #[must_use]
    pub fn emptied(self) -> Self {
        match self {
            Self::Nothing => Self::Nothing,
            Self::Counter { .. } => Self::Counter { sum: 0 },
            Self::Value { .. } => Self::Value { sum: 0, range: None },
            Self::Gauge { .. } => Self::Gauge { level: None },
        }
    }

    /// Returns the tally with its gauge marked as set at tick 0, so that all other gauges count as set later.
    #[must_use]
    pub fn set_before_all(self) -> Self {
        self.set_at(|_| 0)
    }

    /// Returns the tally after applying `tick` to the tick at which its gauge was set. Other tallies stay the same.
    #[must_use]
    pub fn set_at(self, tick: impl FnOnce(u64) -> u64) -> Self {
        match self {
            Self::Gauge { level } => Self::Gauge {
                level: level.map(|level| Level {
                    set_tick: tick(level.set_tick),
                    ..level
                }),
            },
            Self::Nothing | Self::Counter { .. } | Self::Value { .. } => self,
        }
    }

    /// Returns the name of this kind of tally.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Counter { .. } | Self::Nothing => "counter",
            Self::Value { .. } => "value",
            Self::Gauge { .. } => "gauge",
        }
    }

    /// Combines the tallies of two parts of a row. If they are of different kinds, only the sum is kept.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let sum = self.sum().saturating_add(other.sum());
        match (self, other) {
            (Self::Nothing, one) | (one, Self::Nothing) => one,
            (Self::Gauge { level: one }, Self::Gauge { level: other }) => Self::Gauge {
                level: both(one, other, Level::and),
            },
            (Self::Value { .. }, Self::Value { .. }) => Self::Value {
                sum,
                range: both(self.range(), other.range(), Extremes::and),
            },
            _ => Self::Counter { sum },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exact(min: u64, max: u64) -> Extremes<u64> {
        Extremes::of(min).and(Extremes::of(max))
    }

    #[test]
    fn a_bound_stays_one_until_an_exact_number_reaches_it() {
        let bound = Extremes {
            max: 40,
            max_exact: false,
            ..exact(3, 0)
        };
        let both = bound.and(exact(5, 30));
        let got = (both.min, both.min_exact, both.max, both.max_exact);
        assert_eq!(got, (0, true, 40, false));
        assert!(bound.and(exact(5, 40)).max_exact);
        assert!(bound.and(exact(5, 50)).max_exact);
    }

    #[test]
    fn the_level_set_last_is_that_of_all() {
        let level = |last: i64, set_tick| Level {
            last,
            set_tick,
            range: Extremes::of(last),
        };
        let all = level(-3, 20).and(level(9, 10)).and(level(5, 15));
        assert_eq!((all.last, all.range.min, all.range.max), (-3, -3, 9));
    }

    #[test]
    fn kinds_that_differ_have_their_sums_alone() {
        let value = Tally::Value {
            sum: 7,
            range: Some(exact(3, 4)),
        };
        let gauge = Tally::Gauge { level: None };
        assert_eq!(Tally::Nothing.and(value), value);
        assert_eq!(value.and(Tally::Counter { sum: 5 }), Tally::Counter { sum: 12 });
        assert_eq!(value.and(gauge), Tally::Counter { sum: 7 });
        assert_eq!(gauge.and(gauge), gauge);
        let twice = value.and(value);
        assert_eq!((twice.sum(), twice.range()), (14, Some(exact(3, 4))));
        let got = [value, gauge, Tally::Nothing].map(Tally::kind);
        assert_eq!(got, ["value", "gauge", "counter"]);
    }

    #[test]
    fn a_quantile_of_a_value_is_one_of_its_numbers_where_there_is_one_alone() {
        let of = |numbers: &[u64]| {
            let mut histogram = Histogram::default();
            for &number in numbers {
                let bucket = crate::latency::value_bucket(number) as u16;
                let mut one = Histogram::default();
                one.buckets.push((bucket, 1));
                histogram.add(&one);
            }
            let each = numbers.iter().map(|&number| Extremes::of(number));
            let range = each.reduce(Extremes::and);
            let value = Tally::Value { sum: 0, range };
            [0.5, 0.99].map(|share| value.quantile(&histogram, share).unwrap())
        };
        assert_eq!(of(&[4096; 9]), [4096, 4096]);
        assert_eq!(of(&[0, 0, 0, 1]), [0, 1]);
        assert_eq!(of(&[u64::MAX]), [u64::MAX; 2]);
        let got = Tally::Counter { sum: 1 }.quantile(&Histogram::default(), 0.5);
        assert_eq!(got, None);
    }

    proptest! {
        #[test]
        fn extremes_of_parts_are_those_of_the_whole(numbers in proptest::collection::vec(any::<i64>(), 1..20), at in any::<proptest::sample::Index>()) {
            let of = |numbers: &[i64]| numbers.iter().map(|&number| Extremes::of(number)).reduce(Extremes::and);
            let (one, other) = numbers.split_at(at.index(numbers.len()));
            let parts = both(of(one), of(other), Extremes::and).unwrap();
            prop_assert_eq!(Some(&parts.min), numbers.iter().min());
            prop_assert_eq!(Some(&parts.max), numbers.iter().max());
            prop_assert!(parts.min_exact && parts.max_exact);
        }
    }
}
