use std::collections::BTreeSet;

use proptest::prelude::*;
use tickscope_testkit::fixture;
use tickscope_testkit::fixture::programs::{any_snapshot, order_sim_with_latencies};

use super::*;
use crate::tests::functions;
use crate::window::between;

fn part(snapshot: &Snapshot, pid: u32) -> Part<'_> {
    Part {
        snapshot,
        pid: Some(pid),
        ratio: 1.0,
    }
}

fn ended(snapshot: &Snapshot) -> Part<'_> {
    Part {
        snapshot,
        pid: None,
        ratio: 1.0,
    }
}

proptest! {
    /// For any set of processes, some of which have ended, the counts of each function are the sums over all processes, and each
    /// thread of a live process keeps its open scopes. The result is a valid snapshot.
    #[test]
    fn nothing_is_lost_and_no_threads_are_mixed_up(mut runs in prop::collection::vec((any_snapshot(), any::<bool>()), 1..5)) {
        for (run, _) in &mut runs {
            run.nodes.self_ticks.iter_mut().for_each(|ticks| *ticks %= 1 << 40);
            run.nodes.calls.iter_mut().for_each(|calls| *calls %= 1 << 40);
            // A tick is a nanosecond, so times are not rounded and their sums are exact.
            run.clock.ticks_per_second = 1e9;
        }
        let mut wanted: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for (name, (calls, ns)) in runs.iter().flat_map(|(run, _)| functions(run)) {
            let of = wanted.entry(name).or_default();
            *of = (of.0 + calls, of.1 + ns);
        }
        let over = runs.iter().filter(|(_, runs)| !runs);
        let over = over.fold(None, |before, (run, _)| Some(fold(before, run, 1.0)));
        let live = || runs.iter().filter(|(_, runs)| *runs).map(|(run, _)| run);
        let mut parts: Vec<Part<'_>> = live().zip(100..).map(|(run, pid)| part(run, pid)).collect();
        parts.extend(over.as_ref().map(ended));
        let clock = ClockInfo::default();
        let all = side_by_side(&clock, &parts);
        prop_assert_eq!(functions(&all), wanted);
        let threads: usize = live().map(|run| run.threads.len()).sum();
        let open = |thread: &Thread| thread.open.len();
        prop_assert_eq!(
            all.threads[..threads].iter().map(open).collect::<Vec<_>>(),
            live().flat_map(|run| &run.threads).map(open).collect::<Vec<_>>()
        );
        prop_assert_eq!(fixture::received(&all), all);
    }
}

#[test]
fn what_a_process_had_counted_is_not_new_when_it_ends() {
    let one = order_sim_with_latencies();
    let mut other = one.clone();
    other.nodes.calls[0] += 3;
    let clock = one.clock.clone();
    let before = side_by_side(&clock, &[part(&one, 1), part(&one, 2)]);
    let names: BTreeSet<&str> = before.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(names.len(), before.threads.len(), "{names:?}");
    let over = fold(None, &other, 1.0);
    let after = side_by_side(&clock, &[part(&one, 2), ended(&over)]);
    assert_eq!(after.calls(), before.calls() + 3);
    let window = between(&after, &before);
    assert_eq!((window.calls(), window.measured_ticks()), (3, 0));
    // Another process ends. It had the same threads and calls.
    let over = fold(Some(over), &one, 1.0);
    let last = side_by_side(&clock, &[ended(&over)]);
    assert_eq!(between(&last, &before).calls(), 3);
    assert_eq!(between(&last, &after).calls(), 0);
    let (now, then) = crate::align::align(&last, &before);
    let own: BTreeSet<_> = one.threads.iter().map(|thread| &thread.name).collect();
    assert_eq!(now.threads.len(), own.len(), "none stands beside its own end");
    assert_eq!(now.calls(), then.calls() + 3);
}

#[test]
fn what_stands_beside_rows_is_counted_once() {
    let mut one = fixture::two_threads();
    one.clock.errors = 3;
    one.capture.pruned = 5;
    one.capture.losses.dropped = 7;
    one.capture.cost.publisher_cpu_ns = 11;
    let told = |s: &Snapshot| {
        let (of, cost) = (&s.capture, s.capture.cost.publisher_cpu_ns);
        [s.clock.errors, of.pruned, of.losses.dropped, cost]
    };
    let over = fold(None, &one, 1.0);
    assert_eq!(told(&over), [3, 5, 7, 11]);
    let over = fold(Some(over), &one, 1.0);
    let all = side_by_side(&one.clock, &[part(&one, 1), ended(&over)]);
    assert_eq!(told(&all), [3, 5, 7, 11].map(|once| 3 * once));
}

#[test]
fn open_scopes_are_as_old_as_they_were() {
    let mut one = fixture::two_threads();
    // Ticks are doubled, so that they can be halved without rounding.
    one.nodes.self_ticks.iter_mut().for_each(|ticks| *ticks *= 2);
    let mut other = one.clone();
    other.capture.tick += 1_000_000;
    let opened = |all: &Snapshot, thread: usize| {
        let frame = all.threads[thread].open[0];
        all.nanos(all.capture.tick - frame.began_tick)
    };
    let mut threads = one.threads.iter();
    let at = threads.position(|thread| !thread.open.is_empty()).unwrap();
    let wanted = opened(&one, at);
    let all = side_by_side(&one.clock, &[part(&one, 1), part(&other, 2)]);
    assert_eq!(opened(&all, at), wanted);
    // The same process, measured with a clock that ticks twice as fast.
    let mut fast = one.clone();
    fast.clock.source = ClockSource::Custom;
    fast.clock.ticks_per_second *= 2.0;
    let fast = Part {
        ratio: ratio(&one.clock, &fast.clock),
        ..part(&fast, 3)
    };
    assert_eq!(fast.ratio, 0.5);
    let all = side_by_side(&one.clock, &[part(&one, 1), fast]);
    assert_eq!(opened(&all, at + one.threads.len()), wanted / 2);
    let got = all.measured_ticks();
    assert_eq!(got, one.measured_ticks() + one.measured_ticks() / 2);
    let folded = fold(None, fast.snapshot, fast.ratio);
    let got = folded.nanos(folded.measured_ticks());
    assert_eq!(got, one.nanos(one.measured_ticks()) / 2);
}

#[test]
fn a_site_that_is_off_in_one_process_is_not_said_to_have_been_off_as_well() {
    let mut one = fixture::two_threads();
    let mut other = one.clone();
    one.measuring.off_sites = vec![SiteId(1)];
    other.was_off = vec![SiteId(0), SiteId(1)];
    let both = side_by_side(&one.clock, &[part(&one, 1), part(&other, 2)]);
    let got = (both.measuring.off_sites, both.was_off);
    assert_eq!(got, (vec![SiteId(1)], vec![SiteId(0)]));
}

#[test]
fn equal_sites_of_a_process_are_one_for_its_rows_and_its_facts() {
    let mut one = fixture::over_budget();
    let mut sites = one.sites.to_vec();
    let twin = SiteId(sites.len() as u32);
    sites.push(sites[0].clone());
    one.sites = sites.into();
    one.nodes.site[0] = twin.0;
    one.measuring.off_sites = vec![SiteId(0), twin];
    let over_budget = &mut one.functions.as_mut().unwrap().over_budget;
    over_budget.truncate(1);
    over_budget.extend(over_budget.clone());
    over_budget[0].site = SiteId(0);
    over_budget[1].site = twin;
    for pids in [&[1][..], &[1, 2]] {
        let parts: Vec<_> = pids.iter().map(|&pid| part(&one, pid)).collect();
        let both = side_by_side(&one.clock, &parts);
        assert_eq!(both.nodes.site[0], 0);
        assert_eq!(both.measuring.off_sites, [SiteId(0)]);
        assert_eq!(both.functions.unwrap().over_budget.len(), 1);
    }
}

#[test]
fn processes_that_measure_in_several_modes_are_told() {
    let mut one = fixture::two_threads();
    one.capture.mode = Mode::Adaptive;
    let mut other = one.clone();
    other.capture.mode = Mode::Exact;
    other.process.warnings = vec!["The disk is full.".into()];
    let mut third = one.clone();
    third.capture.mode = Mode::Exact;
    let all = side_by_side(&one.clock, &[part(&one, 7), part(&other, 8), part(&third, 9)]);
    assert_eq!(all.capture.mode, Mode::Exact);
    let warnings = &all.process.warnings;
    assert_eq!(warnings[warnings.len() - 2], "pid 8: The disk is full.");
    let last = warnings.last().unwrap();
    assert!(last.contains("2 in exact"), "{last}");
}
