//! Medians and their intervals.

use tickscope_examples::statistics::{interval, median, sorted};

/// A median and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

// === impl Estimate ===

impl Estimate {
    /// Of any values.
    pub(crate) fn of(values: Vec<f64>) -> Self {
        let values = sorted(values);
        let (low, high) = interval(&values);
        Self {
            median: median(&values),
            low,
            high,
        }
    }

    /// What was compared with costs something itself, between two bounds: the middle is added, the interval grows.
    pub(crate) fn above(self, (lower, upper): (f64, f64)) -> Self {
        Self {
            median: self.median + (lower + upper) / 2.0,
            low: self.low + lower,
            high: self.high + upper,
        }
    }

    /// Whether two intervals have anything in common.
    pub(crate) fn meets(self, other: Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_their_intervals() {
        assert_eq!(Estimate::of(vec![9.0, 1.0, 2.0]).median, 2.0);
        assert_eq!(Estimate::of(vec![9.0, 1.0, 4.0, 2.0]).median, 3.0);
        let forty = Estimate::of((1..=40).map(f64::from).collect());
        assert_eq!((forty.low, forty.median, forty.high), (14.0, 20.5, 28.0));
        let above = forty.above((1.0, 2.0));
        assert_eq!((above.low, above.median, above.high), (15.0, 22.0, 30.0));
        assert!(forty.meets(above));
    }
}
