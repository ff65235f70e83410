//! Windows are never negative, and consecutive windows add up.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use tickscope_format::ids::{NodeId, SiteId, ThreadId};
use tickscope_format::latency::{Histogram, Latencies};
use tickscope_format::snapshot::{Extremes, Part, RowMap, Snapshot, Tally, Thread, ThreadState};
use tickscope_testkit::fixture::programs::{
    any_program, any_snapshot, order_sim, order_sim_adaptive, order_sim_with_latencies,
};
use tickscope_testkit::fixture::{calls_of, estimate, received, serving, with_lifetime};

use super::{by_path, given, outside, small};
use crate::call_tree::{CallTree, PathId};
use crate::merge::sum;
use crate::window::{between, less};

/// Returns a later state of a program: the counts of every row have grown, and some threads have ended.
fn grown(snapshot: &Snapshot, steps: &[u32], ended: &[bool]) -> Snapshot {
    let mut s = snapshot.clone();
    let step = |at: usize| u64::from(steps.get(at % steps.len().max(1)).copied().unwrap_or(0));
    for row in 0..s.nodes.len() {
        s.nodes.calls[row] += step(row);
        if s.sum_of(NodeId(row as u32)).is_none() {
            s.nodes.self_ticks[row] += step(row + 1) * 1_000;
        }
    }
    for count in &mut s.counts {
        count.sum += step(count.node.index() + 2) * 10;
    }
    for (index, thread) in s.threads.iter_mut().enumerate() {
        thread.outside_ticks += step(index);
    }
    s.capture.since_reset_ns += 1_000_000_000;
    s.capture.tick += 2_500_000_000;
    let s = with_lifetime(s);
    let ends = |index: usize| ended.get(index).copied().unwrap_or(false);
    finish(&s, ends)
}

/// Returns the snapshot that the collector writes after the threads chosen by `ends` have ended. Ended threads are folded by
/// name, and come after the live threads.
fn finish(s: &Snapshot, ends: impl Fn(usize) -> bool) -> Snapshot {
    let mut out = s.facts();
    let mut map = RowMap::nowhere(s);
    let is_live = |&index: &usize| s.threads[index].tid > 0 && !ends(index);
    let (live, ended): (Vec<usize>, Vec<usize>) = (0..s.threads.len()).partition(is_live);
    let mut made_of: Vec<Vec<usize>> = live.iter().map(|&index| vec![index]).collect();
    for index in ended {
        let has_its_name = |all: &&mut Vec<usize>| s.threads[all[0]].name == s.threads[index].name;
        match made_of[live.len()..].iter_mut().find(has_its_name) {
            Some(all) => all.push(index),
            None => made_of.push(vec![index]),
        }
    }
    for (at, indices) in made_of.iter().enumerate() {
        let first_row = out.nodes.len() as u32;
        // Folds like the collector: rows on the same path become one row.
        let mut known: HashMap<(Option<u32>, u32), u32> = HashMap::new();
        for &index in indices {
            map.threads[index] = at as u32;
            for row in s.rows_of(ThreadId(index as u32)) {
                let above = s.nodes.parent_of(NodeId(row as u32));
                let above = above.map(|above| map.rows[above.index()]);
                let site = s.nodes.site[row];
                let mut push = || out.nodes.push(above.map(NodeId), SiteId(site), 0, 0).0;
                map.rows[row] = match at < live.len() {
                    true => push(),
                    false => *known.entry((above, site)).or_insert_with(push),
                };
            }
        }
        let first = &s.threads[indices[0]];
        let (tid, state) = match at < live.len() {
            true => (first.tid, first.state),
            false => (0, ThreadState::Finished),
        };
        out.threads.push(Thread {
            tid,
            state,
            first_row,
            rows: out.nodes.len() as u32 - first_row,
            ..first.without_counts()
        });
    }
    out.gather(&[Part::now(s, map)]);
    out.threads.iter_mut().for_each(|thread| thread.open.clear());
    out
}

/// Checks that `range` contains all values in `of`, and that each bound marked as exact is one of them.
fn assert_bounds<T: Copy + Ord + std::fmt::Debug>(range: Extremes<T>, of: &[T]) {
    let (min, max) = (of.iter().min().unwrap(), of.iter().max().unwrap());
    assert!(range.min <= *min && range.max >= *max, "{range:?} of {of:?}");
    assert!(!range.min_exact || range.min == *min, "{range:?} of {of:?}");
    assert!(!range.max_exact || range.max == *max, "{range:?} of {of:?}");
}

#[test]
fn a_window_has_the_numbers_since_where_they_are_certain() {
    let earlier = given(&[3, 500, 90_000], &[5, -7]);
    let window = between(&given(&[3, 500, 90_000, 12, 40_000], &[5, -7, 2, 9]), &earlier);
    let tallies = window.tallies();
    // 12 has a bucket of its own, so it is exact. The largest number overall was recorded before the window, so the
    // largest in the window is known only by its bucket, which contains 40 000.
    let range = tallies[0].unwrap().range().unwrap();
    let got = (range.min, range.min_exact, range.max, range.max_exact);
    assert_eq!(got, (12, true, 40_959, false));
    let level = tallies[1].unwrap().level().unwrap();
    let got = (level.last, level.range);
    assert_eq!(got, (9, Extremes::of(-7).and(Extremes::of(9))));
    let larger = between(&given(&[3, 500, 90_000, 7, 99_999], &[]), &earlier).tallies();
    let range = larger[0].unwrap().range().unwrap();
    assert_eq!((range.min, range.max, range.max_exact), (7, 99_999, true));
    let none = between(&earlier, &earlier).tallies();
    assert_eq!(none[0], Some(Tally::Value { sum: 0, range: None }));
    let level = none[1].unwrap().level().unwrap();
    assert_eq!((level.last, level.range), (-7, Extremes::of(-7)), "it holds");
}

#[test]
fn nothing_happens_between_a_snapshot_and_itself() {
    for snapshot in [order_sim_with_latencies(), order_sim_adaptive()] {
        let none = between(&snapshot, &snapshot);
        assert_eq!((none.calls(), none.measured_ticks(), outside(&none)), (0, 0, 0));
        assert!(none.latencies.row.is_empty());
        assert_eq!(none.capture.since_reset_ns, 0);
        assert_eq!(
            none.nodes.parent, snapshot.nodes.parent,
            "its rows are still there"
        );
        let mut errors = none.estimates.iter();
        assert!(errors.all(|of| (of.timed, of.self_error, of.total_error) == (0, 0, 0)));
    }
}

#[test]
fn calls_of_a_window_are_timed_as_far_as_they_were_in_it() {
    let mut earlier = order_sim();
    (earlier.nodes.calls[1], earlier.nodes.self_ticks[1]) = (100, 1_000);
    let mut later = earlier.clone();
    (later.nodes.calls[1], later.nodes.self_ticks[1]) = (1_000, 10_000);
    later.estimates = vec![estimate(1, 150, 5, 13)];
    let window = between(&later, &earlier);
    assert_eq!(window.nodes.calls[1], 900);
    assert_eq!(window.estimates, [estimate(1, 50, 5, 13)]);
    earlier.estimates = vec![estimate(1, 40, 3, 5)];
    let window = between(&later, &earlier);
    // The errors are independent, so their squares are subtracted.
    assert_eq!(window.estimates, [estimate(1, 110, 4, 12)]);
}

#[test]
fn behind_a_reset_all_is_new() {
    let earlier = order_sim();
    let mut later = earlier.clone();
    later.capture.reset_epoch += 1;
    later.capture.since_reset_ns = 5;
    assert_eq!(between(&later, &earlier), later);
    later.capture.reset_epoch -= 1;
    later.process.started_unix_ns += 1;
    assert_eq!(between(&later, &earlier), later, "another run");
    assert!(!later.window, "it is all since that reset");
}

#[test]
fn what_goes_on_behind_a_reset_that_was_taken_back_is_one_run() {
    let mut earlier = order_sim();
    earlier.capture.reset_epoch = 4;
    let mut later = grown(&earlier, &[3], &[]);
    later.capture.reset_epoch = 6;
    assert_eq!(between(&later, &earlier), later, "two resets");
    later.capture.withdraws = Some(4);
    let window = between(&later, &earlier);
    assert_eq!(window.calls(), 3 * earlier.nodes.len() as u64);
    assert_eq!(window.capture.since_reset_ns, 1_000_000_000);
    // The window leaves out the counts between the reset and its undo.
    earlier.capture.reset_epoch = 5;
    assert_eq!(between(&later, &earlier), later);
}

/// Returns the latencies with three more calls in `row`.
fn with_more(latencies: &Latencies, row: u32) -> Latencies {
    let mut all = Latencies::default();
    for &of in &latencies.row {
        let mut latency = latencies.of(of);
        if of == row {
            latency.add(&calls_of(1_000, 3));
        }
        all.push(of, &latency);
    }
    all
}

#[test]
fn latencies_of_calls_and_of_futures_are_those_of_the_time_between() {
    let earlier = order_sim_with_latencies();
    let mut later = earlier.clone();
    later.latencies = with_more(&earlier.latencies, 4);
    let window = between(&later, &earlier);
    assert_eq!(window.latencies.row, [4]);
    assert_eq!(window.latencies.of(4).buckets, calls_of(1_000, 3).buckets);
    let earlier = serving();
    let mut later = earlier.clone();
    later.async_latencies = with_more(&earlier.async_latencies, 0);
    let window = between(&later, &earlier);
    assert_eq!(window.async_latencies.row, [0]);
    assert_eq!(window.async_latencies.of(0).count(), 3);
    // A record without latencies does not tell how long the calls before the window took.
    let mut coarse = earlier.clone();
    coarse.async_latencies = Latencies::default();
    assert!(between(&later, &coarse).async_latencies.row.is_empty());
}

#[test]
fn a_window_that_begins_without_latencies_has_none_of_before() {
    let later = order_sim_with_latencies();
    let mut coarse = later.clone();
    coarse.latencies = Latencies::default();
    assert!(between(&later, &coarse).latencies.row.is_empty());
    assert!(between(&coarse, &later).latencies.row.is_empty());
    // If no call had finished before, all latencies belong to the window.
    let frames = coarse.threads.iter().flat_map(|thread| &thread.open);
    let open: Vec<NodeId> = frames.map(|frame| frame.node).collect();
    assert!(!open.is_empty());
    for row in 0..coarse.nodes.len() {
        coarse.nodes.calls[row] = u64::from(open.contains(&NodeId(row as u32)));
    }
    assert_eq!(between(&later, &coarse).latencies, later.latencies);
}

proptest! {
    /// Windows have correct bounds whether or not the earlier snapshot has a histogram of the recorded numbers.
    #[test]
    fn windows_bound_what_was_given_in_them(
        numbers in proptest::collection::vec(0u64..1 << 40, 0..12),
        small in proptest::collection::vec(0u64..20, 0..12),
        levels in proptest::collection::vec(-50i64..50, 0..12),
        at in any::<[proptest::sample::Index; 2]>(),
        is_coarse: bool,
    ) {
        let numbers: Vec<u64> = small.iter().zip(&numbers).flat_map(|(a, b)| [*a, *b]).chain(small.clone()).collect();
        let (number_at, level_at) = (at[0].index(numbers.len() + 1), at[1].index(levels.len() + 1));
        let mut earlier = given(&numbers[..number_at], &levels[..level_at]);
        if is_coarse {
            earlier.latencies = Latencies::default();
        }
        let window = between(&given(&numbers, &levels), &earlier);
        let since = &numbers[number_at..];
        let [Some(value), Some(gauge)] = window.tallies()[..] else { panic!("two rows") };
        prop_assert_eq!(value.sum(), since.iter().sum::<u64>());
        prop_assert_eq!(value.range().is_some(), !since.is_empty());
        if let Some(range) = value.range() {
            assert_bounds(range, since);
            let counted = window.latencies.of(0).count();
            prop_assert!(counted == since.len() as u64 || (is_coarse && number_at > 0 && counted == 0));
        }
        prop_assert_eq!(gauge.level().map(|level| level.last), levels.last().copied());
        if let Some(level) = gauge.level() {
            assert_bounds(level.range, &levels[level_at.saturating_sub(1)..]);
        }
        // The sum of the epochs before and after a reset has the same bounds.
        let all = sum(&[&earlier, &given(since, &levels[level_at.saturating_sub(1)..])]).tallies();
        if let Some(range) = all[0].unwrap().range() {
            assert_bounds(range, &numbers);
        }
        if let Some(level) = all[1].unwrap().level() {
            assert_bounds(level.range, &levels);
        }
        prop_assert_eq!(received(&window), window);
    }

    #[test]
    fn a_window_holds_what_was_added(
        first in any_snapshot().prop_map(small),
        steps in prop::collection::vec(0u32..5, 1..40),
        ended in prop::collection::vec(any::<bool>(), 5),
    ) {
        let earlier = finish(&first, |_| false);
        let later = grown(&earlier, &steps, &ended);
        let window = between(&later, &earlier);
        prop_assert!(window.window);
        prop_assert_eq!(window.calls(), later.lifetime.calls - first.lifetime.calls);
        prop_assert_eq!(window.measured_ticks(), later.lifetime.ticks - first.lifetime.ticks);
        prop_assert_eq!(outside(&window), outside(&later) - outside(&earlier));
        prop_assert_eq!(window.capture.since_reset_ns, 1_000_000_000);
        prop_assert_eq!(&window.nodes.parent, &later.nodes.parent);
        // On each path, the counts before the window and those in the window add up to the later counts.
        let (then, now) = (by_path(&earlier), by_path(&later));
        for (path, (calls, own, total, sum)) in by_path(&window) {
            let before = then.get(&path).copied().unwrap_or((0, 0, 0, Some(0)));
            let after = now[&path];
            let sum = before.3.zip(sum).map(|(before, sum)| before + sum);
            prop_assert_eq!((before.0 + calls, before.1 + own, before.2 + total, sum), after);
        }
    }

    #[test]
    fn what_was_added_can_be_taken_away_again(one in any_program(), other in any_program()) {
        let told = |s: &Snapshot| -> BTreeMap<PathId, (u64, u64, u64, Histogram)> {
            let tree = CallTree::build(s, |_| true);
            let rows = (0..).zip(&tree.rows).filter(|(_, row)| row.self_ticks > 0);
            rows.map(|(at, row)| {
                let mut latency = tree.latency(at).clone();
                // `max_ticks` of a sum may come from either of its parts, so it is not compared.
                latency.max_ticks = 0;
                let timed = tree.uncertainty(at).map_or(row.calls, |of| of.timed);
                (row.path, (row.calls, row.self_ticks, timed, latency))
            })
            .collect()
        };
        let both = sum(&[&one, &other]);
        let since = both.capture.since_reset_ns;
        prop_assert_eq!(since, one.capture.since_reset_ns + other.capture.since_reset_ns);
        prop_assert_eq!(told(&less(&both, &one)), told(&other));
        prop_assert_eq!(told(&less(&both, &other)), told(&one));
    }

    #[test]
    fn of_any_two_nothing_is_negative(one in any_snapshot(), other in any_snapshot()) {
        let window = between(&one, &other);
        for row in 0..one.nodes.len() {
            prop_assert!(window.nodes.calls[row] <= one.nodes.calls[row]);
            prop_assert!(window.nodes.self_ticks[row] <= one.nodes.self_ticks[row]);
        }
        prop_assert!(outside(&window) <= outside(&one));
    }
}
