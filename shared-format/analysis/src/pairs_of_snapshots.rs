//! Properties of any two snapshots: windows are never negative and add up, and aligned snapshots have the same rows
//! with their own counts.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tickscope_format::ids::{NodeId, SiteId, ThreadId};
use tickscope_format::latency::{Histogram, Latencies, bucket_of};
use tickscope_format::snapshot::{
    Count, Estimate, Extremes, Level, LineSample, Lines, Measures, Mode, Module, Nodes, Quantity, SampledIn,
    Snapshot, Tally, Thread, ThreadState, WaitsIn,
};
use tickscope_testkit::fixture::programs::{
    any_program, any_snapshot, order_sim, order_sim_adaptive, order_sim_with_latencies, queries, value_of,
};
use tickscope_testkit::fixture::{received, with_lifetime};

use crate::align::align;
use crate::call_tree::{CallTree, PathId};
use crate::filter;
use crate::measure::Measure;
use crate::merge::sum;
use crate::window::{between, less};

/// Returns a later state of a program: every row has counted more, and some threads have ended.
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

/// Returns the snapshot that the collector writes after the chosen threads have ended: ended threads are folded by name, after
/// the live threads.
fn finish(s: &Snapshot, ends: impl Fn(usize) -> bool) -> Snapshot {
    let mut out = Snapshot {
        threads: Vec::new(),
        nodes: Nodes::default(),
        errors: Vec::new(),
        estimates: Vec::new(),
        latencies: Latencies::default(),
        counts: Vec::new(),
        value_rows: Vec::new(),
        gauge_rows: Vec::new(),
        ..s.clone()
    };
    let sums = s.sums();
    let mut sums_of_out: Vec<Option<u64>> = Vec::new();
    let gone = |index: usize, thread: &Thread| thread.tid == 0 || ends(index);
    let mut folded: Vec<(String, Vec<usize>)> = Vec::new();
    let mut order: Vec<Vec<usize>> = Vec::new();
    for (index, thread) in s.threads.iter().enumerate() {
        if !gone(index, thread) {
            order.push(vec![index]);
        } else if let Some((_, all)) = folded.iter_mut().find(|(name, _)| *name == thread.name) {
            all.push(index);
        } else {
            folded.push((thread.name.clone(), vec![index]));
        }
    }
    let live = order.len();
    order.extend(folded.into_iter().map(|(_, all)| all));
    for (at, indices) in order.iter().enumerate() {
        let first_row = out.nodes.len() as u32;
        // Like the collector's folding: one row for each path.
        let mut rows: Vec<(Option<u32>, u32, u32)> = Vec::new();
        let mut place: Vec<Option<u32>> = vec![None; s.nodes.len()];
        for &index in indices {
            for row in s.rows_of(ThreadId(index as u32)) {
                let parent = s
                    .nodes
                    .parent_of(NodeId(row as u32))
                    .and_then(|parent| place[parent.index()]);
                let site = s.nodes.site[row];
                let found = rows
                    .iter()
                    .find(|(p, known, _)| (*p, *known) == (parent, site))
                    .filter(|_| at >= live)
                    .map(|&(_, _, id)| id);
                let id = found.unwrap_or_else(|| {
                    let id = out.nodes.push(parent.map(NodeId), SiteId(site), 0, 0);
                    rows.push((parent, site, id.0));
                    id.0
                });
                out.nodes.calls[id as usize] += s.nodes.calls[row];
                out.nodes.self_ticks[id as usize] += s.nodes.self_ticks[row];
                sums_of_out.resize(out.nodes.len(), Some(0));
                let sum = &mut sums_of_out[id as usize];
                *sum = sum.zip(sums[row]).map(|(a, b)| a + b);
                place[row] = Some(id);
            }
        }
        let ticks = indices.iter().map(|&index| s.threads[index].outside_ticks).sum();
        let first = &s.threads[indices[0]];
        out.threads.push(Thread {
            first_row,
            rows: out.nodes.len() as u32 - first_row,
            outside_ticks: ticks,
            open: Vec::new(),
            tid: if at >= live { 0 } else { first.tid },
            state: if at >= live {
                ThreadState::Finished
            } else {
                first.state
            },
            ..first.clone()
        });
    }
    out.counts = (0..)
        .zip(sums_of_out)
        .filter_map(|(row, sum)| {
            Some(Count {
                node: NodeId(row),
                sum: sum?,
            })
        })
        .collect();
    out
}

/// Returns the snapshot with a measure, waits and lines that mirror its calls and ticks. They must still mirror them after
/// any change of rows and threads.
fn mirrored(mut s: Snapshot) -> Snapshot {
    s.measures = mirror(&s);
    s.waits_in = mirrored_waits(&s);
    s.lines = mirrored_lines(&s);
    // Costs of any kind do not equal themselves.
    s.capture.cost = Default::default();
    s
}

/// Returns wait samples, equal in number to the calls of each row.
fn mirrored_waits(s: &Snapshot) -> WaitsIn {
    let rows = (0..)
        .zip(&s.nodes.calls)
        .map(|(row, &calls)| (row, "futex", calls));
    WaitsIn::new(rows, [])
}

/// Returns samples of the code, equal in number to the calls of each row, and to the ticks outside in each thread.
fn mirrored_lines(s: &Snapshot) -> Lines {
    let rows = (0..)
        .zip(&s.nodes.calls)
        .map(|(row, &calls)| (SampledIn::Row(row), calls));
    let outside = (0..)
        .zip(&s.threads)
        .map(|(index, thread)| (SampledIn::Thread(index), thread.outside_ticks));
    let sample = |(inside, samples)| LineSample {
        inside,
        module: 0,
        address: 9,
        samples,
        cpu_ns: samples,
    };
    let mut lines = Lines {
        modules: vec![Module::default()],
        ..Lines::default()
    };
    lines.set(
        rows.chain(outside)
            .filter(|&(_, samples)| samples > 0)
            .map(sample),
    );
    lines
}

fn mirror(s: &Snapshot) -> Measures {
    let mut measures = Measures::default();
    for (row, &calls) in (0..).zip(&s.nodes.calls) {
        measures.push_row(Quantity::Allocations, row, calls);
    }
    for (index, thread) in (0..).zip(&s.threads) {
        measures.push_outside(Quantity::Allocations, index, thread.outside_ticks);
    }
    measures
}

/// Returns the snapshot with counts so small that no sum of them leaves 64 bits.
fn small(mut s: Snapshot) -> Snapshot {
    for ticks in &mut s.nodes.self_ticks {
        *ticks %= 1 << 40;
    }
    for count in &mut s.counts {
        count.sum %= 1 << 40;
    }
    with_lifetime(s)
}

fn outside(s: &Snapshot) -> u64 {
    s.threads.iter().map(|thread| thread.outside_ticks).sum()
}

/// Returns calls, self time, total time and sums of counters, by path of functions.
fn by_path(s: &Snapshot) -> BTreeMap<u64, (u64, u64, u64, Option<u64>)> {
    let tree = CallTree::build(s, |_| true);
    let rows = tree.rows.iter();
    rows.map(|row| {
        (
            row.path.0,
            (
                row.calls,
                row.self_ticks,
                row.total_ticks,
                row.tally.map(Tally::sum),
            ),
        )
    })
    .collect()
}

/// Returns a thread with a value that was given these numbers, and a gauge that was set to these levels.
fn given(numbers: &[u64], levels: &[i64]) -> Snapshot {
    let mut s = queries();
    let (value, histogram) = value_of(&numbers.iter().map(|&number| (number, 1)).collect::<Vec<_>>());
    let level = levels.last().map(|&last| Level {
        last,
        set_tick: levels.len() as u64,
        range: levels
            .iter()
            .map(|&level| Extremes::of(level))
            .reduce(Extremes::and)
            .unwrap(),
    });
    s.clear_tallies();
    s.latencies = Latencies::default();
    s.nodes = Nodes::default();
    for (site, calls) in [(2, numbers.len()), (4, levels.len())] {
        s.nodes.push(None, SiteId(site), calls as u64, 0);
    }
    s.push_tally(NodeId(0), value);
    s.latencies.push(0, &histogram);
    s.push_tally(NodeId(1), Tally::Gauge { level });
    s.threads.truncate(1);
    s.threads[0].rows = 2;
    s
}

/// Checks that a range bounds these values, and that each end marked as exact is exact.
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
    // 12 has a bucket of its own. The largest number is from before; the window's is in the bucket of 40 000.
    let range = tallies[0].unwrap().range().unwrap();
    assert_eq!(
        (range.min, range.min_exact, range.max, range.max_exact),
        (12, true, 40_959, false)
    );
    let level = tallies[1].unwrap().level().unwrap();
    assert_eq!(
        (level.last, level.range),
        (9, Extremes::of(-7).and(Extremes::of(9)))
    );
    let none = between(&earlier, &earlier).tallies();
    assert_eq!(none[0], Some(Tally::Value { sum: 0, range: None }));
    let level = none[1].unwrap().level().unwrap();
    assert_eq!((level.last, level.range), (-7, Extremes::of(-7)), "it holds");
}

#[test]
fn a_row_that_one_of_two_has_is_of_the_same_kind_in_the_other() {
    let later = given(&[3], &[5]);
    let mut earlier = later.clone();
    earlier.clear_tallies();
    earlier.latencies = Latencies::default();
    earlier.nodes = Nodes::default();
    earlier.threads[0].rows = 0;
    let (now, then) = align(&later, &earlier);
    assert_eq!(now.tallies(), later.tallies());
    assert_eq!(now.latencies, later.latencies);
    let nothing = [Tally::Value { sum: 0, range: None }, Tally::Gauge { level: None }];
    assert_eq!(then.tallies(), nothing.map(Some));
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
        let errors = none
            .estimates
            .iter()
            .map(|e| (e.timed, e.self_error, e.total_error));
        assert!(
            errors.clone().all(|e| e == (0, 0, 0)),
            "{:?}",
            errors.collect::<Vec<_>>()
        );
    }
}

#[test]
fn calls_of_a_window_are_timed_as_far_as_they_were_in_it() {
    let mut earlier = order_sim();
    (earlier.nodes.calls[1], earlier.nodes.self_ticks[1]) = (100, 1_000);
    let mut later = earlier.clone();
    (later.nodes.calls[1], later.nodes.self_ticks[1]) = (1_000, 10_000);
    later.estimates = vec![Estimate {
        node: NodeId(1),
        timed: 150,
        self_error: 5,
        total_error: 5,
    }];
    let window = between(&later, &earlier);
    assert_eq!((window.nodes.calls[1], window.estimates[0].timed), (900, 50));
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
    // Counts of the time while the reset held are not part of it.
    earlier.capture.reset_epoch = 5;
    assert_eq!(between(&later, &earlier), later);
}

#[test]
fn latencies_are_those_of_the_time_between() {
    let earlier = order_sim_with_latencies();
    let mut later = earlier.clone();
    let mut all = Latencies::default();
    for row in 0..later.nodes.len() as u32 {
        let mut latency = earlier.latencies.of(row);
        if row == 4 {
            latency.add(&Histogram {
                buckets: vec![(bucket_of(1_000) as u16, 3)],
                max_ticks: 1_000,
            });
        }
        all.push(row, &latency);
    }
    later.latencies = all;
    let window = between(&later, &earlier);
    assert_eq!(window.latencies.row, [4]);
    assert_eq!(window.latencies.of(4).buckets, [(bucket_of(1_000) as u16, 3)]);
    let ended = finish(&later, |_| false);
    assert_eq!(ended.nodes.len(), later.nodes.len(), "nothing to fold there");
}

#[test]
fn a_window_that_begins_without_latencies_has_none_of_before() {
    let later = order_sim_with_latencies();
    let mut coarse = later.clone();
    coarse.latencies = Latencies::default();
    assert!(between(&later, &coarse).latencies.row.is_empty());
    assert!(between(&coarse, &later).latencies.row.is_empty());
    // If no call had finished, all latencies are from the window.
    let open: Vec<NodeId> = (coarse.threads.iter())
        .flat_map(|thread| &thread.open)
        .map(|frame| frame.node)
        .collect();
    assert!(!open.is_empty());
    for row in 0..coarse.nodes.len() {
        coarse.nodes.calls[row] = u64::from(open.contains(&NodeId(row as u32)));
    }
    assert_eq!(between(&later, &coarse).latencies, later.latencies);
}

#[test]
fn a_row_of_another_build_is_found_by_its_function() {
    let earlier = order_sim();
    let mut later = earlier.clone();
    later.process.pid += 1;
    later.process.started_unix_ns += 1;
    for (index, site) in later.sites.iter_mut().enumerate() {
        site.line += 7;
        if index == 4 {
            site.name = "rebalance_fast".into();
        }
    }
    for thread in &mut later.threads {
        thread.tid += if thread.tid > 0 { 1_000 } else { 0 };
    }
    let (now, then) = align(&later, &earlier);
    assert_eq!(
        now.threads.len(),
        earlier.threads.len(),
        "threads are found by name"
    );
    // The renamed one stands in two rows of both matchers.
    assert_eq!(now.nodes.len(), earlier.nodes.len() + 2);
    assert_eq!(now.sites.len(), earlier.sites.len() + 1);
    assert_eq!(then.measured_ticks(), earlier.measured_ticks());
}

/// A counter of one side was none as soon as the other side had a scope of its name in another thread.
#[test]
fn what_was_a_counter_in_one_thread_and_a_scope_in_the_others_was_no_counter() {
    let mut one = order_sim();
    one.counts.clear();
    let thread = &one.threads[0];
    let (first, rows) = (thread.first_row, thread.rows);
    let leaf = (first..first + rows)
        .rfind(|row| !one.nodes.parent.contains(row))
        .unwrap();
    let mut other = one.clone();
    one.nodes.self_ticks[leaf as usize] = 0;
    one.counts.push(Count {
        node: NodeId(leaf),
        sum: 5,
    });
    one.threads.truncate(1);
    other.threads[0].name = "another".into();
    let path = by_path(&one)
        .into_iter()
        .find(|(_, figures)| figures.3 == Some(5))
        .unwrap();
    let (now, then) = align(&one, &other);
    assert_eq!(by_path(&now).get(&path.0), Some(&path.1));
    assert_eq!(by_path(&then)[&path.0].3, None);
}

proptest! {
    /// The numbers before may have been kept one by one or not.
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
        // The same by way of both epochs of a reset.
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
        prop_assert_eq!(window.calls(), later.lifetime.calls - first.lifetime.calls);
        prop_assert_eq!(window.measured_ticks(), later.lifetime.ticks - first.lifetime.ticks);
        prop_assert_eq!(outside(&window), outside(&later) - outside(&earlier));
        prop_assert_eq!(window.capture.since_reset_ns, 1_000_000_000);
        prop_assert_eq!(&window.nodes.parent, &later.nodes.parent);
        // Path by path, earlier counts and counts of the window add up to the later counts.
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
                // The longest call may belong to either of two parts.
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
    fn measures_go_with_calls_wherever_rows_and_threads_go(
        one in any_snapshot().prop_map(small),
        other in any_snapshot().prop_map(small),
        share in 0.0..1.0f64,
    ) {
        let (one, other) = (mirrored(one), mirrored(other));
        let (now, then) = align(&one, &other);
        let some = |thread: ThreadId| thread.0.is_multiple_of(2);
        for done in [
            between(&one, &other),
            sum(&[&other, &one, &one]),
            filter::of_threads(&one, some),
            filter::above(&one, Measure::Time, share),
            now,
            then,
        ] {
            prop_assert_eq!(&done.measures, &mirror(&done));
            let samples = |waits_in: &WaitsIn| -> Vec<(u32, u64)> {
                waits_in.samples().map(|(row, _, count)| (row, count)).collect()
            };
            prop_assert_eq!(samples(&done.waits_in), samples(&mirrored_waits(&done)));
            prop_assert_eq!(&done.lines.samples, &mirrored_lines(&done).samples);
            prop_assert_eq!(received(&done), done, "it is a sound snapshot");
        }
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

    #[test]
    fn aligned_snapshots_have_the_same_rows_and_their_own_counts(
        one in any_snapshot().prop_map(small),
        other in any_snapshot().prop_map(small),
        mode in prop::sample::select(vec![Mode::Exact, Mode::Sampled]),
    ) {
        let (mut one, other) = (one, other);
        one.capture.mode = mode;
        let (now, then) = align(&one, &other);
        prop_assert_eq!(&now.nodes.parent, &then.nodes.parent);
        prop_assert_eq!(&now.nodes.site, &then.nodes.site);
        prop_assert_eq!(&now.sites, &then.sites);
        for (side, from) in [(&now, &one), (&then, &other)] {
            prop_assert_eq!(side.calls(), from.calls());
            prop_assert_eq!(outside(side), outside(from));
            let errors = |s: &Snapshot| s.errors.iter().map(|error| error.count).sum::<u64>();
            prop_assert_eq!(errors(side), errors(from));
            let all = by_path(side);
            let tree = CallTree::build(side, |_| true);
            let parents = tree.rows.iter().filter_map(|row| row.parent);
            let has_rows_below: BTreeSet<u64> = parents.map(|row| tree.rows[row as usize].path.0).collect();
            for (path, (calls, own, total, sum)) in by_path(from) {
                let sum = sum.filter(|_| !has_rows_below.contains(&path));
                prop_assert_eq!(all.get(&path).copied(), Some((calls, own, total, sum)));
            }
        }
        let (a, b) = (CallTree::build(&now, |_| true), CallTree::build(&then, |_| true));
        prop_assert_eq!(a.rows.len(), b.rows.len());
        for (index, (a_row, b_row)) in a.rows.iter().zip(&b.rows).enumerate() {
            prop_assert_eq!((a_row.path, a_row.parent, a_row.function), (b_row.path, b_row.parent, b_row.function));
            // The differences add up as the sides do.
            let change = |a: u64, b: u64| i128::from(a) - i128::from(b);
            let below: i128 = a.children(index as u32).iter()
                .map(|&c| change(a.rows[c as usize].total_ns, b.rows[c as usize].total_ns))
                .sum();
            prop_assert_eq!(change(a_row.self_ns, b_row.self_ns) + below, change(a_row.total_ns, b_row.total_ns));
        }
    }
}
