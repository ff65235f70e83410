//! The functions with a tail: what the view Slow offers while no function is watched.

use tickscope_analysis::hotspots::HotRow;
use tickscope_format::latency::{Histogram, lower_edge, upper_edge};

/// Of fewer calls a tail says little.
const CALLS_LEAST: u64 = 200;

/// Calls that take so many times the median are in the tail.
const TIMES_MEDIAN: u64 = 2;

/// The functions that have one, among the hotspots.
pub(crate) fn tails(hot: &[HotRow]) -> Vec<u32> {
    let rows = (0..).zip(hot);
    // Values have histograms as well, and no time.
    let has_tail = |row: &HotRow| row.tally.is_none() && ticks(&row.latency).is_some();
    let with_tail = rows.filter(|(_, row)| has_tail(row));
    with_tail.map(|(index, _)| index).collect()
}

/// What the calls in the tail take above the median, in ticks; none without a tail.
pub(crate) fn ticks(latency: &Histogram) -> Option<u64> {
    let median = latency.quantile(0.5).filter(|&median| median > 0)?;
    let (longest, _) = latency.max()?;
    let above = latency.buckets.iter().map(|&(bucket, calls)| {
        let bucket = usize::from(bucket);
        let call = lower_edge(bucket).midpoint(upper_edge(bucket)).min(longest);
        match call >= median.saturating_mul(TIMES_MEDIAN) {
            true => (call - median).saturating_mul(calls),
            false => 0,
        }
    });
    let ticks = above.fold(0, u64::saturating_add);
    (ticks > 0 && latency.count() >= CALLS_LEAST).then_some(ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(calls: &[(u64, u64)]) -> Option<u64> {
        let mut latency = Histogram::default();
        for &(ticks, count) in calls {
            (0..count).for_each(|_| latency.insert(ticks));
        }
        super::ticks(&latency)
    }

    #[test]
    fn a_tail_is_the_time_above_the_median_of_calls_of_twice_it() {
        let tail = of(&[(1_024, 290), (1_500, 8), (10_240, 2)]).unwrap();
        // Accurate to a bucket; those of half as much more are no tail.
        assert!((16_000..22_000).contains(&tail), "{tail}");
        assert_eq!(of(&[(1_024, 190), (10_240, 9)]), None, "too few calls");
        assert_eq!(of(&[(1_024, 290), (1_500, 20)]), None);
        assert_eq!(of(&[]), None);
    }
}
