//! Medians with confidence intervals, and alternating measurements.
//!
//! There is no library for these few lines: they compute a confidence interval for the median difference between
//! alternating runs, for any distribution. Benchmark harnesses report the mean of a single measurement.

use std::fmt;

/// Sorts values in ascending order.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Returns the median of sorted values; NaN for an empty slice.
pub fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted {
        [] => f64::NAN,
        _ if sorted.len().is_multiple_of(2) => (sorted[middle - 1] + sorted[middle]) / 2.0,
        _ => sorted[middle],
    }
}

/// Returns the quantile of sorted values for a share from 0 to 1; NaN for an empty slice.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (sorted.len() as f64 * share) as usize;
    let last = sorted.len().saturating_sub(1);
    sorted.get(rank.min(last)).copied().unwrap_or(f64::NAN)
}

/// Returns the 95 % confidence interval of the median. Its ends are the values at the ranks n/2 -+ 0.98 sqrt(n), which
/// come from the normal approximation of the binomial distribution.
pub fn interval(sorted: &[f64]) -> (f64, f64) {
    let n = sorted.len() as f64;
    let half = 0.98 * n.sqrt();
    let low = (n / 2.0 - half).floor().max(0.0) as usize;
    let high = ((n / 2.0 + half).ceil() as usize).min(sorted.len().saturating_sub(1));
    (sorted[low], sorted[high])
}

/// A median, or a most likely value, with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Middle {
    /// The lower end of the interval.
    pub low: f64,
    /// The median, or the most likely value.
    pub middle: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Middle {
    /// Returns the median of the values with its interval. There must be at least one value.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let values = sorted(values);
        let (low, high) = interval(&values);
        let middle = median(&values);
        Self { low, middle, high }
    }
}

impl fmt::Display for Middle {
    /// Writes the median with its interval. The format's width applies only to the median.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, places) = (f.width().unwrap_or(0), f.precision().unwrap_or(2));
        let Self { low, middle, high } = self;
        write!(f, "{middle:width$.places$} [{low:.places$} {high:.places$}]")
    }
}

/// Measures once in the order ABBA, so that a gradual change in the machine's speed favours neither side. Returns the
/// mean times of the two calls of `run(false)` and of the two calls of `run(true)`.
pub fn abba<E>(mut run: impl FnMut(bool) -> Result<f64, E>) -> Result<(f64, f64), E> {
    let (first, second) = (run(false)?, run(true)?);
    let (third, fourth) = (run(true)?, run(false)?);
    Ok(((first + fourth) / 2.0, (second + third) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_their_intervals() {
        assert_eq!(median(&sorted([9.0, 1.0, 2.0])), 2.0);
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), 3.0);
        let forty: Vec<f64> = (1..=40).map(f64::from).collect();
        assert_eq!(median(&forty), 20.5);
        assert_eq!(interval(&forty), (14.0, 28.0));
        assert_eq!(quantile(&forty, 0.5), 21.0);
        assert_eq!(quantile(&forty, 1.0), 40.0);
        assert_eq!(format!("{:8.1}", Middle::of(forty)), "    20.5 [14.0 28.0]");
    }

    #[test]
    fn what_drifts_steadily_favours_neither_side() {
        let mut time = 0.0;
        let both = abba(|_| {
            time += 1.0;
            Ok::<_, ()>(time)
        });
        assert_eq!(both, Ok((2.5, 2.5)));
    }
}
