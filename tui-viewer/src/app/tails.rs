//! Functions with a latency tail, meaning that some calls took at least twice the median. The Slow view offers these
//! functions while no function is watched.

use tickscope_analysis::call_tree::CallTree;
use tickscope_analysis::hotspots::HotRow;
use tickscope_analysis::transform::outermost;
use tickscope_format::latency::{Histogram, lower_edge, upper_edge};

/// Minimum number of calls of a function. With fewer calls, a tail means little.
const CALLS_LEAST: u64 = 200;

/// How many times the median a call must take to be in the tail.
const TIMES_MEDIAN: u64 = 2;

/// A function with a tail.
#[derive(Debug)]
pub(crate) struct Tail {
    /// Index of the function's row in the hotspots.
    pub(crate) hot: u32,
    /// Latency histogram of the function's outermost calls. Nested calls are left out, because the outer call already
    /// includes their time.
    pub(crate) latency: Histogram,
    /// How much longer than the median the calls in the tail took, in ticks, summed over these calls.
    pub(crate) ticks: u64,
    /// Whether the function itself spent most of its time waiting, like the functions with which a runtime joins or parks
    /// threads.
    is_idle: bool,
}

impl Tail {
    /// Returns the weight by which tails are sorted, the largest first. Functions that mostly wait come last.
    pub(crate) fn weight(&self) -> u64 {
        let works = u64::from(!self.is_idle) << 63;
        works | self.ticks >> 1
    }
}

/// Returns the functions with a tail. `hot` must be the hotspots of `tree`.
pub(crate) fn tails(tree: &CallTree, hot: &[HotRow]) -> Vec<Tail> {
    let outermost = outermost(tree);
    let tail = |(at, row): (u32, &HotRow)| {
        // Counters of values have histograms too, but not of times.
        if row.tally.is_some() || row.latency.count() < CALLS_LEAST {
            return None;
        }
        let latency = latency_of_outermost(tree, row, &outermost);
        let ticks = ticks(&latency)?;
        Some(Tail {
            hot: at,
            latency,
            ticks,
            is_idle: row.self_off.ns() > row.total_ns / 2,
        })
    };
    (0..).zip(hot).filter_map(tail).collect()
}

fn latency_of_outermost(tree: &CallTree, row: &HotRow, outermost: &[bool]) -> Histogram {
    if row.rows.iter().all(|&at| outermost[at as usize]) {
        return row.latency.clone();
    }
    let mut sum = Histogram::default();
    for &at in row.rows.iter().filter(|&&at| outermost[at as usize]) {
        sum.add(tree.latency(at));
    }
    sum
}

/// Returns how much longer than the median the calls in the tail took, in ticks, summed over these calls; `None` if there
/// is no tail.
fn ticks(latency: &Histogram) -> Option<u64> {
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
    use tickscope_analysis::hotspots::hot;
    use tickscope_testkit::fixture;

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
        // The sum is only as precise as the histogram buckets. Calls of one and a half times the median are not in the tail.
        assert!((16_000..22_000).contains(&tail), "{tail}");
        assert_eq!(of(&[(1_024, 190), (10_240, 9)]), None, "too few calls");
        assert_eq!(of(&[(1_024, 290), (1_500, 20)]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn the_tail_of_a_recursion_is_that_of_its_outermost_calls() {
        let mut outer = Histogram::default();
        (0..300).for_each(|_| outer.insert(1_024));
        outer.insert(1 << 20);
        // The long outer call contains the long inner calls, so their time must not count again.
        let mut inner = Histogram::default();
        (0..500).for_each(|_| inner.insert(1 << 20));
        let mut snapshot = fixture::recursion();
        for (row, latency) in [(1, &outer), (2, &inner), (3, &inner)] {
            snapshot.latencies.push(row, latency);
        }
        let tree = CallTree::build(&snapshot, |_| true);
        let tails = tails(&tree, &hot(&tree));
        let [tail] = tails.as_slice() else {
            panic!("{tails:?}");
        };
        assert_eq!(tail.latency, outer);
        assert!(tail.ticks < 1 << 20, "{}", tail.ticks);
    }
}
