//! Subtracts the cost of measuring from the times of a snapshot: what it is at least or, where it was measured in place, what it is.

use tickscope_format::ids::{NO_PARENT, ThreadId};
use tickscope_format::snapshot::{InPlace, Snapshot};

/// Returns the snapshot with the lower bound of a scope's cost subtracted from self times, never below zero. Totals
/// remain sums of self times. This subtracts what measuring costs *at least*: the true times may be shorter still. What was measured in
/// place is subtracted as it is.
///
/// Half of the cost of a call comes off the scope and the other half off its parent: a clock is read at one moment, and
/// what an enter does before it and an exit does after it passes in the parent. At the top of a thread the parent's
/// half comes off the time outside any scope.
///
/// In adaptive mode calls that were not timed passed in their parent, and what the scope is given for them is free of
/// measuring: their whole cost comes off the parent. Latencies, errors and lifetime totals stay as they were measured.
///
/// Where samples saw what measuring takes, shares are free of it already. In adaptive mode what it took in all comes off all rows in
/// proportion; in sampled mode it is in no row.
pub fn compensated(snapshot: &Snapshot) -> Snapshot {
    let mut compensated = snapshot.clone();
    if let Some(cost) = snapshot.scope_cost_seen() {
        if snapshot.capture.mode.times_some_calls() {
            let taken = snapshot.scope_calls() as f64 * cost.middle_ns;
            let all = snapshot.nanos(snapshot.measured_ticks()).max(1) as f64;
            let stays = 1.0 - (taken / all).min(1.0);
            for ticks in &mut compensated.nodes.self_ticks {
                *ticks = (*ticks as f64 * stays).round() as u64;
            }
        }
        return compensated;
    }
    let half = half_in_ticks(snapshot);
    let nodes = &snapshot.nodes;
    // Counting takes no look at the clock.
    let mut calls = nodes.calls.clone();
    for count in &snapshot.counts {
        calls[count.node.index()] = 0;
    }
    let mut halves_inside = calls.clone();
    if snapshot.capture.mode.times_some_calls() {
        for estimate in &snapshot.estimates {
            let calls = &mut halves_inside[estimate.node.index()];
            *calls = estimate.timed.min(*calls);
        }
    }
    let mut halves_below = vec![0u64; nodes.len()];
    let less = |ticks: u64, halves: u64| ticks.saturating_sub((halves as f64 * half).round() as u64);
    for (index, thread) in compensated.threads.iter_mut().enumerate() {
        let mut halves_outside = 0u64;
        for row in snapshot.rows_of(ThreadId(index as u32)) {
            let above = match nodes.parent[row] {
                NO_PARENT => &mut halves_outside,
                parent => &mut halves_below[parent as usize],
            };
            let all = calls[row].saturating_mul(2);
            *above = above.saturating_add(all.saturating_sub(halves_inside[row]));
        }
        thread.outside_ticks = less(thread.outside_ticks, halves_outside);
    }
    for (row, ticks) in compensated.nodes.self_ticks.iter_mut().enumerate() {
        *ticks = less(*ticks, halves_inside[row].saturating_add(halves_below[row]));
    }
    compensated
}

/// Half of a scope's cost; 0 if it is not known.
fn half_in_ticks(snapshot: &Snapshot) -> f64 {
    let in_place = snapshot.measured_in_place().and_then(InPlace::scope_cost);
    let ns = in_place.map_or(snapshot.capture.cost.lower_ns, |cost| cost.middle_ns);
    let ticks = ns / 2.0 * snapshot.clock.ticks_per_second / 1e9;
    if ticks.is_finite() { ticks.max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tickscope_format::ids::NodeId;
    use tickscope_format::snapshot::{Estimate, Mode, SeenCost};
    use tickscope_testkit::fixture;
    use tickscope_testkit::fixture::programs as fixtures;

    use super::*;

    // 6 ns at 2.5 GHz are 15 ticks, half of it 7.5.

    #[test]
    fn half_comes_off_the_scope_and_half_off_its_parent() {
        let snapshot = fixture::two_threads();
        let less = compensated(&snapshot);
        let off: Vec<u64> = snapshot.nodes.self_ticks[..3]
            .iter()
            .zip(&less.nodes.self_ticks)
            .map(|(raw, less)| raw - less)
            .collect();
        // 1 call with 400 below it, 400 with 100, 100 with none.
        assert_eq!(off, [3_008, 3_750, 750]);
        assert_eq!(less.threads[0].outside_ticks, 500 - 8);
        assert_eq!(less.lifetime, snapshot.lifetime);
    }

    #[test]
    fn nothing_falls_below_zero() {
        let mut snapshot = fixture::recursion();
        snapshot.capture.cost.lower_ns = 1e9;
        let less = compensated(&snapshot);
        assert_eq!(less.measured_ticks(), 0);
    }

    #[test]
    fn calls_that_were_not_timed_cost_their_parent_all() {
        let mut snapshot = fixture::two_threads();
        snapshot.capture.mode = Mode::Adaptive;
        snapshot.estimates = vec![Estimate {
            node: NodeId(2),
            timed: 10,
            self_error: 5,
            total_error: 5,
        }];
        let off = |snapshot: &Snapshot, row: usize| {
            snapshot.nodes.self_ticks[row] - compensated(snapshot).nodes.self_ticks[row]
        };
        // 400 calls and 10 timed ones below with a half each, 90 with both.
        assert_eq!((off(&snapshot, 1), off(&snapshot, 2)), (3_000 + 75 + 1_350, 75));
        snapshot.capture.mode = Mode::Sampled;
        assert_eq!((off(&snapshot, 1), off(&snapshot, 2)), (3_750, 750));
    }

    #[test]
    fn what_samples_saw_comes_off_in_proportion_and_in_sampled_mode_it_is_in_no_row() {
        let mut snapshot = fixture::two_threads();
        snapshot.capture.mode = Mode::Adaptive;
        // A tenth of the time was in events.
        snapshot.measuring.samples = 1000;
        let (looks, share) = (100, 0.1);
        let ns = snapshot.nanos(snapshot.measured_ticks()) as f64 * share;
        snapshot.seen_cost = Some(SeenCost { looks, ns });
        let less = compensated(&snapshot).nodes.self_ticks;
        for (less, raw) in less.iter().zip(&snapshot.nodes.self_ticks) {
            assert!((*less as f64 - *raw as f64 * (1.0 - share)).abs() <= 1.0);
        }
        snapshot.capture.mode = Mode::Sampled;
        assert_eq!(compensated(&snapshot).nodes, snapshot.nodes);
    }

    #[test]
    fn an_unknown_cost_changes_nothing() {
        for cost in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
            let mut snapshot = fixture::recursion();
            snapshot.capture.cost.lower_ns = cost;
            assert_eq!(compensated(&snapshot).nodes, snapshot.nodes, "{cost}");
        }
    }

    #[test]
    fn counters_took_no_look_at_the_clock() {
        let s = fixtures::order_sim_counting();
        let compensated = compensated(&s);
        // 6 ns a scope at 2.5 ticks each, half of them in the scope: its 60 000 counts cost nothing.
        assert_eq!(s.nodes.calls[1], 30_000);
        assert_eq!(
            s.nodes.self_ticks[1] - compensated.nodes.self_ticks[1],
            30_000 * 15 / 2
        );
        assert_eq!(s.scope_calls(), 40_002);
        assert_eq!(compensated.counts, s.counts);
    }

    proptest! {
        #[test]
        fn no_time_grows_and_totals_are_sums(snapshot in fixtures::any_snapshot()) {
            let less = compensated(&snapshot);
            let raw = &snapshot.nodes;
            for (less, raw) in less.nodes.self_ticks.iter().zip(&raw.self_ticks) {
                prop_assert!(less <= raw);
            }
            prop_assert_eq!(&less.nodes.calls, &raw.calls);
            let totals = less.nodes.totals(&less.nodes.self_ticks);
            let top: u64 = (0..raw.len()).filter(|&row| raw.parent[row] == NO_PARENT).map(|row| totals[row]).sum();
            prop_assert_eq!(top, less.measured_ticks());
        }
    }
}
