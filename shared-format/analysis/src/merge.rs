//! Adds up several snapshots of one run into one snapshot.

use tickscope_format::ids::{SiteId, ThreadId};
use tickscope_format::snapshot::{Cost, Part, Snapshot, Tasks, Thread, ThreadState, When, scaled};

use crate::joined::{Joined, Threads, joined_sites};

/// Adds up snapshots of one run, ordered from oldest to newest. The state of the program, its open scopes and other facts that
/// cannot be added up are taken from the last snapshot. `since_reset_ns` is the sum over all snapshots.
///
/// Rows are matched by thread (name and id) and by their path of sites. Threads that are missing from the last snapshot are added
/// to the finished threads with the same name.
pub fn sum(parts: &[&Snapshot]) -> Snapshot {
    sum_with(parts, |known, thread| known.ended(thread))
}

/// Adds up snapshots. For a thread that is missing from the last snapshot, `ended` finds the thread to which its rows are added.
pub(crate) fn sum_with(
    parts: &[&Snapshot],
    ended: impl Fn(&Threads<'_>, &Thread) -> Option<usize>,
) -> Snapshot {
    let Some((&last, earlier)) = parts.split_last() else {
        return Snapshot::default();
    };
    if earlier.is_empty() {
        return last.clone();
    }
    let mut threads: Vec<Thread> = last.threads.iter().map(Thread::without_counts).collect();
    let mut made_of: Vec<_> = (0..threads.len() as u32)
        .map(|id| vec![(0, ThreadId(id))])
        .collect();
    let mut known = Threads::of(last);
    for (of, snapshot) in (1..).zip(earlier) {
        for (id, thread) in (0..).map(ThreadId).zip(&snapshot.threads) {
            let there = known.same(thread).or_else(|| ended(&known, thread));
            let at = there.unwrap_or_else(|| {
                known.add_ended(&thread.name, threads.len());
                made_of.push(Vec::new());
                threads.push(Thread {
                    name: thread.name.clone(),
                    state: ThreadState::Finished,
                    count: thread.count,
                    ..Thread::default()
                });
                threads.len() - 1
            });
            made_of[at].push((of, id));
        }
    }
    // The first snapshot in the list keeps its sites and rows, so the last snapshot goes first.
    let all: Vec<&Snapshot> = std::iter::once(last).chain(earlier.iter().copied()).collect();
    let (sites, places) = joined_sites(&last.sites, earlier.iter().map(|part| &part.sites), |site| site);
    let mut joined = Joined::of(&all, &places, &made_of, true);
    joined.place(&mut threads);
    let mut out = Snapshot {
        threads,
        sites,
        nodes: joined.nodes,
        ..last.facts()
    };
    joined.maps.rotate_left(1);
    let maps = parts.iter().zip(joined.maps);
    let mut parts: Vec<Part<'_>> = maps.map(|(part, map)| Part::now(part, map)).collect();
    for part in parts.iter_mut().rev().skip(1) {
        let of = part.snapshot;
        part.when = When::Before;
        if of.clock.epoch != last.clock.epoch {
            // The clock broke between the two snapshots, and its replacement may tick at a different rate.
            part.ratio = last.clock.ticks_per_second / of.clock.ticks_per_second;
            part.when = When::BeforeItsClock;
        }
        let since = &mut out.capture.since_reset_ns;
        *since = since.saturating_add(of.capture.since_reset_ns);
        let samples = &mut out.measuring.samples;
        *samples = samples.saturating_add(of.measuring.samples);
        out.seen_cost = out
            .seen_cost
            .map(|seen| of.seen_cost.map_or(seen, |of| seen.and(of)));
    }
    for (part, places) in earlier.iter().zip(&places[1..]) {
        let was_off = part.counted_in_part().map(|site| SiteId(places[site.index()]));
        out.was_off.extend(was_off);
    }
    out.settle_off_sites();
    out.gather(&parts);
    hold(&mut out);
    out
}

/// Adds the facts of another program or run that are not tied to a row. One tick of `of` is `ratio` ticks of `sum`.
pub(crate) fn add_facts(sum: &mut Snapshot, of: &Snapshot, ratio: f64) {
    sum.process.uptime_ns = sum.process.uptime_ns.max(of.process.uptime_ns);
    sum.clock.errors = sum.clock.errors.saturating_add(of.clock.errors);
    let (ours, theirs) = (&mut sum.capture, &of.capture);
    ours.pruned = ours.pruned.saturating_add(theirs.pruned);
    ours.losses += theirs.losses;
    let (ours, theirs) = (&mut ours.cost, &theirs.cost);
    ours.lower_ns = ours.lower_ns.min(theirs.lower_ns);
    ours.upper_ns = ours.upper_ns.max(theirs.upper_ns);
    ours.publisher_cpu_ns = ours.publisher_cpu_ns.saturating_add(theirs.publisher_cpu_ns);
    sum.measuring.histograms |= of.measuring.histograms;
    sum.waits |= of.waits;
    let (ours, theirs) = (&mut sum.lifetime, &of.lifetime);
    ours.calls = ours.calls.saturating_add(theirs.calls);
    ours.ticks = ours.ticks.saturating_add(scaled(theirs.ticks, ratio));
}

/// Returns a cost with the bounds of `cost` and everything else zero, as the start of a sum.
pub(crate) fn bounds(cost: Cost) -> Cost {
    Cost {
        lower_ns: cost.lower_ns,
        upper_ns: cost.upper_ns,
        ..Cost::default()
    }
}

/// Keeps sums within the decoder's limits, which several malicious snapshots could exceed together. If the values of one kind add
/// up to too much, the last of them are reduced.
pub(crate) fn hold(sum: &mut Snapshot) {
    let longest_ns = (u64::MAX / 4) as f64 * 0.999;
    let most_ticks = (longest_ns * sum.clock.ticks_per_second / 1e9) as u64;
    let threads = &mut sum.threads;
    hold_each(&mut threads.iter_mut().map(|thread| &mut thread.count), u64::MAX);
    let mut outside = threads.iter_mut().map(|thread| &mut thread.outside_ticks);
    hold_each(&mut outside, most_ticks);
    hold_each(&mut sum.nodes.calls.iter_mut(), u64::MAX);
    hold_each(&mut sum.nodes.self_ticks.iter_mut(), most_ticks);
    sum.measures.hold(u64::MAX);
    sum.waits_in.hold(u64::MAX);
    hold_each(&mut sum.errors.iter_mut().map(|error| &mut error.count), u64::MAX);
    let Tasks { paths, beyond, .. } = &mut sum.tasks;
    let in_flight = paths.iter_mut().map(|path| &mut path.in_flight);
    hold_each(&mut in_flight.chain([beyond]), u64::MAX);
    for path in paths {
        path.innermost = path.innermost.min(path.in_flight);
        path.polled = path.polled.min(path.in_flight);
    }
}

fn hold_each(numbers: &mut dyn Iterator<Item = &mut u64>, mut room: u64) {
    for number in numbers {
        *number = (*number).min(room);
        room -= *number;
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::ids::NO_PARENT;
    use tickscope_format::latency::Histogram;
    use tickscope_format::snapshot::{Extremes, Quantity};
    use tickscope_testkit::fixture;

    use super::*;
    use crate::window::less;

    #[test]
    fn a_level_is_that_of_the_last_moment_in_sums_and_windows() {
        let with = |live: u64| {
            let mut one = fixture::allocating();
            one.measures.push_row(Quantity::LiveBytes, 2, live);
            one.measures.push_row(Quantity::LiveVariance, 2, live * live);
            one.measures.push_outside(Quantity::LiveBytes, 0, live + 1);
            one
        };
        let (earlier, mut later) = (with(700), with(500));
        let both = sum(&[&earlier, &later]);
        assert_eq!(both.measures.of(Quantity::Allocations).unwrap().of_row(2), 80);
        let twice = sum(&[&later, &later]);
        later.capture.seq += 1;
        let window = less(&later, &earlier);
        assert!(window.measures.of(Quantity::Allocations).is_none());
        for derived in [both, twice, window] {
            let live = derived.measures.of(Quantity::LiveBytes).unwrap();
            let rows: Vec<u64> = live.rows.iter().map(|&(_, value)| value).collect();
            let outside: Vec<u64> = live.outside.iter().map(|&(_, value)| value).collect();
            assert_eq!((rows, outside), (vec![500], vec![501]));
            let variance = derived.measures.of(Quantity::LiveVariance).unwrap();
            assert_eq!(variance.rows[0].1, 500 * 500);
        }
    }

    #[test]
    fn nothing_is_lost_and_rows_of_the_same_path_are_one() {
        let one = fixture::two_threads();
        let other = fixture::recursion();
        let sum = sum(&[&other, &one, &one]);
        assert_eq!(sum.calls(), other.calls() + 2 * one.calls());
        let got = sum.measured_ticks();
        assert_eq!(got, other.measured_ticks() + 2 * one.measured_ticks());
        assert_eq!(sum.capture.since_reset_ns, 12_000_000);
        assert_eq!(sum.sites.len(), 6);
        assert_eq!(sum.threads.len(), 3, "main is one thread in both");
        assert_eq!(sum.nodes.len(), one.nodes.len() + other.nodes.len());
        assert_eq!(sum.errors[0].count, 4);
        assert_eq!(fixture::received(&sum), sum);
    }

    #[test]
    fn rows_of_the_same_path_stay_apart_and_give_together() {
        let mut one = fixture::two_threads();
        // Make the callee of `insert` a second row of `insert` below `worker`.
        (one.nodes.site[2], one.nodes.parent[2]) = (one.nodes.site[1], one.nodes.parent[1]);
        for (row, calls) in [(1, 400), (2, 100)] {
            let mut latency = Histogram::default();
            (0..calls).for_each(|call| latency.insert(1_000 + call));
            one.latencies.push(row, &latency);
        }
        assert_eq!(sum(&[&one]), one);
        let both = sum(&[&one, &one]);
        assert_eq!(both.nodes.calls[1..3], [800, 200], "each with its own");
        // The threads now have different rows than in `both`, so the rows of the earlier snapshot are joined by path.
        one.threads[0].rows = 4;
        one.threads[1].first_row = 4;
        one.threads[1].rows = 2;
        one.nodes.parent[3..6].copy_from_slice(&[0, NO_PARENT, 4]);
        one.nodes.site[3..6].copy_from_slice(&[2, 0, 1]);
        let taken = less(&both, &one);
        assert_eq!(taken.nodes.calls[1..3].iter().sum::<u64>(), 500);
        let count: u64 = (1..3).map(|row| taken.latencies.of(row).count()).sum();
        assert_eq!(count, 500);
    }

    #[test]
    fn sums_of_counters_add_up() {
        let one = tickscope_testkit::fixture::programs::order_sim_counting();
        let both = sum(&[&one, &one]);
        let sums = |s: &Snapshot| s.counts.iter().map(|count| count.sum).collect::<Vec<_>>();
        assert!(!one.counts.is_empty());
        let got = sums(&both);
        assert_eq!(got, sums(&one).iter().map(|sum| 2 * sum).collect::<Vec<_>>());
        assert_eq!(less(&both, &one).counts, one.counts);
    }

    #[test]
    fn values_have_the_numbers_of_both_and_gauges_the_level_set_last() {
        let earlier = tickscope_testkit::fixture::programs::queries();
        let mut later = earlier.clone();
        later.value_rows[0].range = Some(Extremes::of(95_000));
        let level = later.gauge_rows[0].level.as_mut().unwrap();
        (level.last, level.set_tick) = (7, 9_000);
        level.range = Extremes::of(7);
        let both = sum(&[&earlier, &later]);
        let node = earlier.value_rows[0].node;
        let row = both.value_rows[0];
        assert_eq!(row.range.map(|range| (range.min, range.max)), Some((0, 95_000)));
        let count = |s: &Snapshot| s.latencies.of(node.0).count();
        assert_eq!(count(&both), 2 * count(&earlier));
        let level = both.gauge_rows[0].level.unwrap();
        assert_eq!((level.last, level.range.min, level.range.max), (7, 0, 100));
        // Ticks start over in a new clock epoch.
        later.clock.epoch += 1;
        later.gauge_rows[0].level.as_mut().unwrap().set_tick = 3;
        let level = sum(&[&earlier, &later]).gauge_rows[0].level.unwrap();
        assert_eq!((level.last, level.set_tick), (7, 3));
    }

    #[test]
    fn what_was_counted_before_a_clock_broke_is_in_ticks_of_the_last_one() {
        let mut one = fixture::two_threads();
        one.threads[0].outside_ticks = 100;
        one.measures.push_row(Quantity::Waiting, 1, 50);
        one.measures.push_row(Quantity::Allocations, 1, 7);
        one.measures.push_outside(Quantity::Ready, 0, 30);
        one.estimates = vec![fixture::estimate(1, 2, 400, 300)];
        let mut latency = Histogram::default();
        latency.insert(1_000);
        one.latencies.push(1, &latency);
        let mut last = one.clone();
        last.clock.epoch += 1;
        last.clock.ticks_per_second /= 4.0;
        let both = sum(&[&one, &last]);
        let of_row = |quantity| both.measures.of_row(quantity, 1);
        let ready = both.measures.of(Quantity::Ready);
        let ready = ready.map(|column| column.of_outside(0));
        assert_eq!((both.threads[0].outside_ticks, ready), (125, Some(38)));
        assert_eq!([Quantity::Waiting, Quantity::Allocations].map(of_row), [63, 14]);
        let estimate = both.estimates[0];
        assert_eq!((estimate.self_error, estimate.total_error), (412, 309));
        let latency = both.latencies.of(1);
        assert_eq!((latency.count(), latency.max_ticks), (2, 1_000));
        assert!(latency.buckets.len() == 2, "a quarter is two octaves below");
    }

    #[test]
    fn who_has_ended_goes_to_the_finished_ones() {
        let now = fixture::two_threads();
        let mut then = now.clone();
        then.threads[0].name = "gone".into();
        let both = sum(&[&then, &now]);
        let gone = both.threads.last().unwrap();
        assert_eq!((gone.name.as_str(), gone.tid, gone.rows), ("gone", 0, 3));
        assert_eq!(gone.state, ThreadState::Finished);
        assert_eq!(both.calls(), 2 * now.calls());
    }
}
