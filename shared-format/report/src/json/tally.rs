//! What values and gauges show, as members of nodes.

use serde::Serialize;
use tickscope_analysis::per_call::PerCall;
use tickscope_format::latency::{Histogram, value_edges};
use tickscope_format::snapshot::Tally;

use crate::quotient::Quotient;

/// The numbers of a value; null where nothing is known of them.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Value {
    calls: Quotient,
    sum: Quotient,
    min: Option<u64>,
    max: Option<u64>,
    /// Where it is not exact, no number is smaller.
    min_exact: Option<bool>,
    /// Where it is not exact, no number is larger.
    max_exact: Option<bool>,
    mean: Option<f64>,
    /// The middle of a bucket, within 6.3 %; exact up to 15.
    p50: Option<u64>,
    p90: Option<u64>,
    p99: Option<u64>,
    p999: Option<u64>,
    /// The smallest and the largest number that a bucket takes, and how many are in it.
    buckets: Vec<(u64, u64, u64)>,
}

/// The level of a gauge; null if it was not set.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Gauge {
    last: Option<i64>,
    min: Option<i64>,
    max: Option<i64>,
    /// Where it is not exact, no level was lower.
    min_exact: Option<bool>,
    /// Where it is not exact, no level was higher.
    max_exact: Option<bool>,
}

impl Value {
    /// Returns the numbers of a value, none of other rows. Calls and sum are divided by those calls that numbers are per.
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
    /// Returns the level of a gauge, none of other rows.
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
