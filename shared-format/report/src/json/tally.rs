//! The members of a node that is a value or a gauge.

use serde::Serialize;
use tickscope_analysis::per_call::PerCall;
use tickscope_format::latency::{Histogram, value_edges};
use tickscope_format::snapshot::Tally;

use crate::quotient::Quotient;

/// The numbers that a value received. A member is null if it is unknown.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Value {
    calls: Quotient,
    sum: Quotient,
    min: Option<u64>,
    max: Option<u64>,
    /// Whether `min` is exact. If not, all numbers are at least `min`.
    min_exact: Option<bool>,
    /// Whether `max` is exact. If not, all numbers are at most `max`.
    max_exact: Option<bool>,
    mean: Option<f64>,
    /// Percentiles. Each is the midpoint of a histogram bucket and within 6.3 % of the true value. Percentiles up to 15 are
    /// exact.
    p50: Option<u64>,
    p90: Option<u64>,
    p99: Option<u64>,
    p999: Option<u64>,
    /// For each bucket: the smallest and the largest number that it can contain, and how many numbers are in it.
    buckets: Vec<(u64, u64, u64)>,
}

/// The levels of a gauge, which are null if it was never set.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Gauge {
    last: Option<i64>,
    min: Option<i64>,
    max: Option<i64>,
    /// Whether `min` is exact. If not, all levels were at least `min`.
    min_exact: Option<bool>,
    /// Whether `max` is exact. If not, all levels were at most `max`.
    max_exact: Option<bool>,
}

impl Value {
    /// Returns the numbers of a value, or `None` if the row is not a value. With `per`, calls and sum are divided by the number
    /// of calls of that function.
    pub(super) fn of(tally: Tally, calls: u64, numbers: &Histogram, per: Option<&PerCall>) -> Option<Self> {
        if !tally.is_value() {
            return None;
        }
        let range = tally.range();
        let quantile = |share: f64| tally.quantile(numbers, share);
        let buckets = numbers.buckets.iter().map(|&(bucket, count)| {
            let (from, to) = value_edges(bucket.into());
            (from, to, count)
        });
        Some(Self {
            calls: Quotient::of(calls, per),
            sum: Quotient::of(tally.sum(), per),
            min: range.map(|range| range.min),
            max: range.map(|range| range.max),
            min_exact: range.map(|range| range.min_exact),
            max_exact: range.map(|range| range.max_exact),
            mean: (calls > 0).then(|| tally.sum() as f64 / calls as f64),
            p50: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
            p999: quantile(0.999),
            buckets: buckets.collect(),
        })
    }
}

impl Gauge {
    /// Returns the levels of a gauge, or `None` if the row is not a gauge.
    pub(super) fn of(tally: Tally) -> Option<Self> {
        let range = tally.level().map(|level| level.range);
        tally.is_gauge().then(|| Self {
            last: tally.level().map(|level| level.last),
            min: range.map(|range| range.min),
            max: range.map(|range| range.max),
            min_exact: range.map(|range| range.min_exact),
            max_exact: range.map(|range| range.max_exact),
        })
    }
}
