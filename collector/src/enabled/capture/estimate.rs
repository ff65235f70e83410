//! Estimates times in the modes that do not time every call.
//!
//! **Adaptive mode**: the time of an untimed call is measured as part of the self time of the nearest timed frame
//! around it. This module moves that time from parents to children. For each untimed call, a child gets the mean
//! duration of its timed calls. All children of a node together get at most the node's time. Time is only moved between
//! rows, so the sum over all rows, and the total of every root, stay as measured.
//!
//! **Sampled mode**: the time of a row is the number of samples times the time between two samples. Only the error of
//! this time is computed here.

use tickscope_format::latency::Packed;

use crate::enabled::capture::baseline::{Baseline, Counts};
use crate::enabled::capture::row::{Epoch, Row};

/// How many nanoseconds of [`BORDER_NS`](tickscope_format::snapshot::BORDER_NS) are known to belong to the callee.
pub(crate) const CALLEES_NS: f64 = 1.0;

/// For each row, returns the ticks that samples may have attributed to the wrong call: those at the borders between the
/// row and its caller, and those at the borders between the row and its callees.
pub(crate) fn border_ticks(rows: &[Row], baseline: &Baseline, epoch: &Epoch) -> Vec<[f64; 2]> {
    let mut borders = vec![[0.0; 2]; rows.len()];
    for (index, row) in rows
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, row)| !row.kind.is_counter())
    {
        let ticks = baseline.shown(index).calls as f64 * epoch.border_ticks;
        borders[index][0] = ticks;
        borders[row.parent as usize][1] += ticks;
    }
    borders
}

/// The time of a row, with its error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Estimated {
    /// Self time in ticks.
    pub(crate) ticks: u64,
    /// Calls that were timed.
    pub(crate) timed: u64,
    /// Standard error of the self time, in ticks.
    pub(crate) self_error: f64,
    /// Standard error of the total time, in ticks.
    pub(crate) total_error: f64,
    /// How many ticks of the self time the thread spent waiting, and how many it spent ready but without a CPU.
    pub(crate) off_cpu: [u64; 2],
}

/// Estimates the times of a tree in adaptive mode. The cost of timing is subtracted from the mean durations: each timed
/// call includes part of the cost of timing itself, and the full cost of timing the calls inside it.
pub(crate) fn adaptive(rows: &[Row], baseline: &Baseline, epoch: &Epoch) -> Vec<Estimated> {
    let shown: Vec<Counts> = (0..rows.len()).map(|index| baseline.shown(index)).collect();
    // The ticks and the timed calls of each node, including all nodes below it.
    let mut below: Vec<(u64, u64)> = shown.iter().map(|counts| (counts.ticks, counts.timed)).collect();
    for index in (1..rows.len()).rev() {
        let (ticks, timed) = below[index];
        let parent = &mut below[rows[index].parent as usize];
        parent.0 += ticks;
        parent.1 += timed;
    }
    // For each row: the estimated time of its untimed calls, and the variance of that estimate.
    let wanted: Vec<(f64, f64)> = (0..rows.len())
        .map(|index| {
            let Counts { calls, timed, .. } = shown[index];
            let untimed = calls.saturating_sub(timed) as f64;
            if index == 0 || timed == 0 || untimed == 0.0 {
                return (0.0, 0.0);
            }
            let (ticks, timed_below) = below[index];
            let inside = timed_below.saturating_sub(timed) as f64;
            let cost = epoch.timed_within_ticks * timed as f64 + epoch.timed_ticks * inside;
            let mean = ((ticks as f64 - cost) / timed as f64).max(0.0);
            let call_variance = baseline.histograms.shown(index).map_or(0.0, call_variance);
            (untimed * mean, untimed * untimed * call_variance / timed as f64)
        })
        .collect();
    let mut children = vec![0.0; rows.len()];
    for index in 1..rows.len() {
        children[rows[index].parent as usize] += wanted[index].0;
    }
    let mut estimated: Vec<Estimated> = shown
        .iter()
        .enumerate()
        .map(|(index, counts)| Estimated {
            ticks: counts.ticks,
            timed: counts.timed.min(counts.calls),
            off_cpu: baseline.measured(index).off_cpu(),
            ..Estimated::default()
        })
        .collect();
    // Parents come before their children, so a row has received all of its time before it passes some on. If a row has less
    // time than its children ask for, its timed calls were slower than its untimed calls. Each child then gets the same
    // fraction of what it asks for, and so do the rows below the child.
    let mut share = vec![1.0; rows.len()];
    let mut known = vec![false; rows.len()];
    for index in 1..rows.len() {
        let parent = rows[index].parent as usize;
        if !std::mem::replace(&mut known[parent], true) {
            let has = estimated[parent].ticks as f64;
            let wanted = children[parent] * share[parent];
            if wanted > has {
                share[parent] *= has / wanted;
                // At least this much time is in the wrong row, but it is unknown which row that is.
                estimated[parent].self_error += (wanted - has) * (wanted - has);
            }
        }
        share[index] = share[parent];
        let (wanted, variance) = wanted[index];
        let refused = wanted * (1.0 - share[index]);
        let variance = variance + refused * refused;
        let given = ((wanted * share[index]) as u64).min(estimated[parent].ticks);
        // The time given to a child has the same proportion of off-CPU time as the time that its parent keeps.
        let part = given as f64 / estimated[parent].ticks.max(1) as f64;
        for at in 0..2 {
            let moved = (estimated[parent].off_cpu[at] as f64 * part) as u64;
            estimated[parent].off_cpu[at] -= moved;
            estimated[index].off_cpu[at] += moved;
        }
        estimated[parent].ticks -= given;
        estimated[index].ticks += given;
        estimated[parent].self_error += variance;
        estimated[index].self_error += variance;
        estimated[index].total_error += variance;
    }
    for row in &mut estimated {
        row.self_error = row.self_error.sqrt();
        row.total_error = row.total_error.sqrt();
    }
    estimated
}

/// Returns the variance of a call's duration, in ticks squared, or 0 if fewer than two calls are known.
fn call_variance(latencies: &Packed) -> f64 {
    latencies
        .unpacked()
        .moments()
        .map_or(0.0, |(_, variance)| variance)
}

/// Estimates the times of a tree in sampled mode.
pub(crate) fn sampled(rows: &[Row], baseline: &Baseline, epoch: &Epoch) -> Vec<Estimated> {
    let borders = border_ticks(rows, baseline, epoch);
    let period = epoch.period_ticks;
    let ticks: Vec<u64> = (0..rows.len()).map(|index| baseline.shown(index).ticks).collect();
    let mut totals = ticks.clone();
    for index in (1..rows.len()).rev() {
        totals[rows[index].parent as usize] += totals[index];
    }
    let all = totals.first().copied().unwrap_or(0) as f64;
    // A share p of n samples has the standard error sqrt(p (1 - p) / n).
    let error = |ticks: u64| {
        let (p, n) = (ticks as f64 / all.max(1.0), (all / period.max(1.0)).max(1.0));
        all * (p * (1.0 - p).max(0.0) / n).sqrt()
    };
    (0..rows.len())
        .map(|index| Estimated {
            ticks: ticks[index],
            timed: 0,
            self_error: error(ticks[index]).hypot(borders[index][0] + borders[index][1]),
            total_error: error(totals[index]).hypot(borders[index][0]),
            ..Estimated::default()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(parent: u32) -> Row {
        Row {
            parent,
            ..Row::default()
        }
    }

    fn baseline(counts: &[(u64, u64, u64)]) -> Baseline {
        let mut baseline = Baseline::default();
        let counts = counts.iter().map(|&(calls, timed, ticks)| Counts {
            calls,
            ticks,
            timed,
            ..Counts::default()
        });
        baseline.show(&counts.collect::<Vec<_>>(), &[], None);
        baseline
    }

    fn epoch(cost: f64) -> Epoch {
        Epoch {
            timed_ticks: cost,
            timed_within_ticks: cost,
            ..Epoch::default()
        }
    }

    fn ticks(estimated: &[Estimated]) -> Vec<u64> {
        estimated.iter().map(|row| row.ticks).collect()
    }

    #[test]
    fn a_child_gets_back_what_the_calls_above_it_were_charged() {
        let shown = |cost, counts: &[_]| {
            let rows: Vec<Row> = (0..counts.len() as u32)
                .map(|index| row(index.saturating_sub(1)))
                .collect();
            ticks(&adaptive(&rows, &baseline(counts), &epoch(cost)))
        };
        // The root calls `a`, all of whose calls are timed. `a` calls `b` 100 times. 10 of these calls were timed, at 7 ticks
        // each.
        let counts = [(0, 0, 50), (1, 1, 1000 - 70), (100, 10, 70)];
        assert_eq!(shown(0.0, &counts), [50, 300, 700]);
        // One tick of each timed call is the cost of reading the clock.
        assert_eq!(shown(1.0, &counts), [50, 390, 610]);
        // 1 of the 10 calls of `b` was timed. It took 100 ticks, 60 of them in `c`, which was timed whenever `b` was timed.
        let counts = [(0, 0, 0), (1, 1, 1000), (10, 1, 40), (10, 1, 60)];
        assert_eq!(shown(0.0, &counts), [0, 100, 400, 600]);
    }

    /// In adaptive mode the lifetime may shrink, because a row may have to give back time that it was given from the time
    /// outside of all scopes.
    #[test]
    fn later_calls_that_are_cheaper_take_back_what_earlier_ones_were_given() {
        let rows = [row(0), row(0)];
        let of = |counts| ticks(&adaptive(&rows, &baseline(counts), &epoch(0.0)))[1];
        let before = of(&[(0, 0, 100_000), (100, 10, 1000)]);
        let after = of(&[(0, 0, 100_100), (110, 20, 1100)]);
        assert_eq!((before, after), (10_000, 6_050));
    }

    #[test]
    fn where_children_want_more_than_there_is_the_errors_say_by_how_much() {
        // `b` asks for 90 times 20 ticks, but `a` has only 900 ticks. So `b` gets only half of the 1 800 ticks.
        let rows = [row(0), row(0), row(1)];
        let baseline = baseline(&[(0, 0, 0), (1, 1, 900), (100, 10, 200)]);
        let estimated = adaptive(&rows, &baseline, &epoch(0.0));
        assert_eq!(ticks(&estimated), [0, 0, 1100]);
        // The error is at least the time that `b` did not get: 900 ticks.
        assert!(estimated[1].self_error >= 900.0);
        assert_eq!([estimated[2].self_error, estimated[2].total_error], [900.0; 2]);
    }

    #[test]
    fn looks_are_wrong_by_chance_and_at_the_borders_of_calls() {
        let rows = [row(0), row(0), row(1)];
        let errors = |period_ticks, border_ticks, counts| {
            let epoch = Epoch {
                period_ticks,
                border_ticks,
                ..Epoch::default()
            };
            let estimated = sampled(&rows, &baseline(counts), &epoch);
            [0, 1, 2].map(|row: usize| (estimated[row].self_error, estimated[row].total_error))
        };
        // With a hundred samples, a share of one half is known to 5 %.
        let found = errors(100.0, 0.0, &[(0, 0, 5000), (9, 0, 5000), (0, 0, 0)]);
        assert_eq!(found[1].0, 500.0);
        // A sample cannot tell on which side of a call's border it was taken, so the border counts as an error of both
        // the caller and the callee.
        let found = errors(1.0, 5.0, &[(0, 0, 0), (10, 0, 0), (1_000, 0, 1_000_000)]);
        assert_eq!(found, [(50.0, 0.0), (5_050.0, 50.0), (5_000.0, 5_000.0)]);
    }

    proptest! {
        #[test]
        fn sums_hold_whatever_was_timed(
            nodes in proptest::collection::vec((any::<u32>(), 0u64..1000, 0u64..1000, 0u64..1_000_000), 1..40),
            inner in 0.0..50.0f64,
        ) {
            let rows: Vec<Row> = nodes
                .iter()
                .enumerate()
                .map(|(index, &(parent, ..))| row(parent % index.max(1) as u32))
                .collect();
            let counts: Vec<(u64, u64, u64)> = nodes
                .iter()
                .map(|&(_, calls, timed, ticks)| (calls, timed.min(calls), ticks))
                .collect();
            let estimated = adaptive(&rows, &baseline(&counts), &epoch(inner));
            let before: u64 = counts.iter().map(|counts| counts.2).sum();
            prop_assert_eq!(ticks(&estimated).iter().sum::<u64>(), before);
            prop_assert!(estimated.iter().all(|row| row.self_error.is_finite()));
        }
    }
}
