//! Puts snapshots of processes that run side by side into one snapshot, as if they were one program.
//!
//! Only counts that belong to no thread are added up here: each process keeps its threads with their rows, open scopes and
//! states, and views add threads up anyway. There may be thousands of ended processes, so [`fold`] adds them up by the names of
//! their threads.

use std::collections::{BTreeMap, HashSet};

use tickscope_format::ids::{NO_PARENT, SiteId, ThreadId};
use tickscope_format::snapshot::{
    CaptureInfo, ClockInfo, ClockSource, Functions, Lines, Mode, Nodes, Part as Moved, Process, SeenCost,
    Sites, Snapshot, TaskPath, Tasks, Thread, both,
};

use crate::joined::{Joined, Of, joined_sites};
use crate::merge::{add_facts, bounds, hold};
use crate::merge_runs::MergedRuns;
use crate::thread_names;

/// A process beside others.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Snapshot of the process.
    pub snapshot: &'a Snapshot,
    /// Process id; none for the sum of ended processes that [`fold`] makes.
    pub pid: Option<u32>,
    /// Number of ticks of the common clock for each tick of the process.
    pub ratio: f64,
}

/// Returns the number of ticks of one clock for each tick of another. Clocks that all processes of a host share have the same
/// ticks, although each process measures their rate with an error.
pub fn ratio(common: &ClockInfo, other: &ClockInfo) -> f64 {
    let is_tsc = |clock: &ClockInfo| matches!(clock.source, ClockSource::Tsc | ClockSource::TscOrdered);
    let is_monotonic = |clock: &ClockInfo| clock.source == ClockSource::Monotonic;
    let both = |is: &dyn Fn(&ClockInfo) -> bool| is(common) && is(other);
    if both(&is_tsc) || both(&is_monotonic) {
        return 1.0;
    }
    common.ticks_per_second / other.ticks_per_second
}

/// Returns the processes as one snapshot, with the times of `clock`.
///
/// Threads are named after their processes (see [`thread_names`]). Slow calls of watched functions, and lines, are left out
/// because they belong to one process. The caller sets the number, the name and the epoch of the whole.
pub fn side_by_side(clock: &ClockInfo, parts: &[Part<'_>]) -> Snapshot {
    let captures = || parts.iter().map(|part| &part.snapshot.capture);
    let unix_ns = captures().map(|capture| capture.unix_ns).max().unwrap_or(0);
    let begin_ns = captures().map(begin_ns).min().unwrap_or(unix_ns);
    let snapshots: Vec<&Snapshot> = parts.iter().map(|part| part.snapshot).collect();
    let none = Sites::default();
    let mut sites = snapshots.iter().map(|snapshot| &snapshot.sites);
    let (sites, places) = joined_sites(sites.next().unwrap_or(&none), sites, |site| site);
    let threads = snapshots.iter().zip(0..).flat_map(|(snapshot, of)| {
        let ids = (0..snapshot.threads.len() as u32).map(ThreadId);
        ids.map(move |id| vec![(of, id)])
    });
    let threads: Vec<Vec<Of>> = threads.collect();
    let joined = Joined::of(&snapshots, &places, &threads, true);
    let first_cost = captures().next().map(|capture| bounds(capture.cost));
    let mut out = Snapshot {
        process: Process {
            warnings: warnings(parts),
            ..Process::default()
        },
        clock: ClockInfo {
            errors: 0,
            ..clock.clone()
        },
        capture: CaptureInfo {
            unix_ns,
            since_reset_ns: unix_ns.saturating_sub(begin_ns),
            tick: common_tick(parts),
            mode: mode(parts),
            cost: first_cost.unwrap_or_default(),
            ..CaptureInfo::default()
        },
        threads: parts.iter().flat_map(threads_of).collect(),
        sites,
        ..Snapshot::default()
    };
    joined.place(&mut out.threads);
    // Facts of all parts name the places of sites, so rows do too.
    out.nodes = Nodes {
        site: joined.places,
        ..joined.nodes
    };
    for (part, places) in parts.iter().zip(&places) {
        add_beside(&mut out, part, places);
    }
    let moved = parts.iter().zip(joined.maps).map(|(part, map)| Moved {
        ratio: part.ratio,
        ..Moved::now(part.snapshot, map)
    });
    out.gather(&moved.collect::<Vec<_>>());
    out.lines = Lines::default();
    out.settle_off_sites();
    hold(&mut out);
    out
}

/// Adds an ended process to the earlier ended processes: threads of one name become one thread.
pub fn fold(before: Option<Snapshot>, ended: &Snapshot, ratio: f64) -> Snapshot {
    let mut ended = ended.clone();
    for thread in &mut ended.threads {
        thread.name = thread_names::of_ended(&thread.name);
    }
    // The clock of the sum is the common clock.
    let before = before.unwrap_or_else(|| Snapshot {
        process: ended.process.clone(),
        clock: ClockInfo {
            ticks_per_second: ended.clock.ticks_per_second * ratio,
            errors: 0,
            ..ended.clock.clone()
        },
        capture: CaptureInfo {
            mode: ended.capture.mode,
            unix_ns: ended.capture.unix_ns,
            since_reset_ns: ended.capture.since_reset_ns,
            cost: bounds(ended.capture.cost),
            ..CaptureInfo::default()
        },
        ..Snapshot::default()
    });
    let begin = begin_ns(&before.capture).min(begin_ns(&ended.capture));
    ended.clock.ticks_per_second = before.clock.ticks_per_second / ratio;
    let mut all = MergedRuns::default();
    all.add(before);
    all.add(ended);
    let (mut sum, _) = all.finish().unwrap_or_default();
    sum.capture.since_reset_ns = sum.capture.unix_ns.saturating_sub(begin);
    sum
}

/// Returns the begin of counting, in nanoseconds since the Unix epoch.
fn begin_ns(capture: &CaptureInfo) -> u64 {
    capture.unix_ns.saturating_sub(capture.since_reset_ns)
}

/// Returns the latest tick among processes whose ticks are the common clock's.
fn common_tick(parts: &[Part<'_>]) -> u64 {
    let common = parts.iter().filter(|part| part.ratio == 1.0);
    let ticks = common.map(|part| part.snapshot.capture.tick);
    ticks.max().unwrap_or(0)
}

/// Returns the mode of most processes.
fn mode(parts: &[Part<'_>]) -> Mode {
    let mut processes: Vec<(usize, Mode)> = Vec::new();
    for part in parts.iter().filter(|part| part.pid.is_some()) {
        let mode = part.snapshot.capture.mode;
        match processes.iter_mut().find(|(_, other)| *other == mode) {
            Some((count, _)) => *count += 1,
            None => processes.push((1, mode)),
        }
    }
    // Among modes with equally many processes, the first one is chosen.
    let most = processes.iter().rev().max_by_key(|(count, _)| *count);
    let first = || {
        parts
            .first()
            .map_or(Mode::USUAL, |part| part.snapshot.capture.mode)
    };
    most.map_or_else(first, |(_, mode)| *mode)
}

/// Returns the warnings of each process, and a warning if their modes differ.
fn warnings(parts: &[Part<'_>]) -> Vec<String> {
    let mut of: Vec<(&str, Vec<u32>)> = Vec::new();
    let mut modes: BTreeMap<&str, u64> = BTreeMap::new();
    for part in parts {
        let Some(pid) = part.pid else { continue };
        *modes.entry(part.snapshot.capture.mode.as_str()).or_default() += 1;
        for warning in &part.snapshot.process.warnings {
            match of.iter_mut().find(|(known, _)| known == warning) {
                Some((_, pids)) => pids.push(pid),
                None => of.push((warning, vec![pid])),
            }
        }
    }
    let mut warnings: Vec<String> = of
        .iter()
        .map(|(warning, pids)| match pids[..] {
            [pid] => format!("pid {pid}: {warning}"),
            _ => format!("{} processes: {warning}", pids.len()),
        })
        .collect();
    if modes.len() > 1 {
        let each = modes
            .iter()
            .map(|(mode, processes)| format!("{processes} in {mode}"));
        let each: Vec<String> = each.collect();
        warnings.push(format!(
            "The processes measure in several modes ({}), so some times are estimates and others are not. Give all of them the same mode.",
            each.join(", ")
        ));
    }
    warnings
}

/// Returns the threads of a process without counts.
fn threads_of(part: &Part<'_>) -> impl Iterator<Item = Thread> {
    let pid = part.pid;
    part.snapshot.threads.iter().map(move |thread| Thread {
        name: match pid {
            Some(pid) => thread_names::of_process(&thread.name, pid),
            None => thread.name.clone(),
        },
        ..thread.without_counts()
    })
}

/// Adds the facts of a process outside its rows. `places` gives the places of its sites.
fn add_beside(out: &mut Snapshot, part: &Part<'_>, places: &[u32]) {
    let mut of = part.snapshot.facts();
    of.move_sites(places);
    add_facts(out, &of, part.ratio);
    let (ours, theirs) = (&mut out.capture, &of.capture);
    ours.seq = ours.seq.max(theirs.seq);
    ours.viewers = ours.viewers.max(theirs.viewers);
    if part.pid.is_some() {
        ours.interval_ns = ours.interval_ns.max(theirs.interval_ns);
        ours.cost.publisher_share += theirs.cost.publisher_share;
    }
    let (ours, theirs) = (&mut out.measuring, of.measuring);
    ours.sampling_hz = ours.sampling_hz.max(theirs.sampling_hz);
    ours.samples = ours.samples.saturating_add(theirs.samples);
    for rule in theirs.rules {
        if !ours.rules.contains(&rule) {
            ours.rules.push(rule);
        }
    }
    ours.off_sites.extend(theirs.off_sites);
    out.was_off.extend(of.was_off);
    out.drains_ns = both(out.drains_ns, of.drains_ns, f64::max);
    out.seen_cost = both(out.seen_cost, of.seen_cost, SeenCost::and);
    out.functions = both(out.functions.take(), of.functions, both_functions);
    add_tasks(&mut out.tasks, of.tasks, part.ratio);
}

/// Merges the state of prepared functions: sums the calls of both processes, and takes the largest of the other numbers.
fn both_functions(one: Functions, other: Functions) -> Functions {
    let mut over_budget = one.over_budget;
    let known: HashSet<SiteId> = over_budget.iter().map(|over| over.site).collect();
    let new = other
        .over_budget
        .into_iter()
        .filter(|over| !known.contains(&over.site));
    over_budget.extend(new);
    Functions {
        known: one.known.max(other.known),
        on: one.on.max(other.on),
        returned: one.returned.saturating_add(other.returned),
        unwound: one.unwound.saturating_add(other.unwound),
        elsewhere: one.elsewhere.saturating_add(other.elsewhere),
        vanished: one.vanished.saturating_add(other.vanished),
        fixed: one.fixed | other.fixed,
        budget: one.budget.max(other.budget),
        cost_share: one.cost_share.max(other.cost_share),
        call_ns: one.call_ns.max(other.call_ns),
        over_budget,
        choice: one.choice,
    }
}

fn add_tasks(tasks: &mut Tasks, of: Tasks, ratio: f64) {
    let first = tasks.paths.len() as u32;
    tasks.paths.extend(of.paths.into_iter().map(|path| TaskPath {
        parent: match path.parent {
            NO_PARENT => NO_PARENT,
            parent => parent + first,
        },
        ..path
    }));
    tasks.beyond = tasks.beyond.saturating_add(of.beyond);
    for (at, &path) in of.ages.row.iter().enumerate() {
        match ratio == 1.0 {
            true => tasks.ages.push_bytes(path + first, of.ages.bytes_at(at)),
            false => tasks.ages.push(path + first, &of.ages.at(at).at_rate(ratio)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use tickscope_testkit::fixture;
    use tickscope_testkit::fixture::programs::{any_snapshot, order_sim_with_latencies};

    use super::*;
    use crate::call_tree::CallTree;
    use crate::hotspots::hot;
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

    /// Calls and self time of each function.
    fn functions(snapshot: &Snapshot) -> BTreeMap<String, (u64, u64)> {
        let tree = CallTree::build(snapshot, |_| true);
        let mut functions = BTreeMap::new();
        for row in hot(&tree) {
            let name = tree.functions.get(row.function).full_name();
            let of: &mut (u64, u64) = functions.entry(name).or_default();
            *of = (of.0 + row.calls, of.1 + row.self_ns);
        }
        functions.retain(|_, of| *of != (0, 0));
        functions
    }

    proptest! {
        /// For any processes, of which some have ended, each function has its sum over all processes, and each thread of a live
        /// process keeps its open scopes. The result is a valid snapshot.
        #[test]
        fn nothing_is_lost_and_no_threads_are_mixed_up(mut runs in prop::collection::vec((any_snapshot(), any::<bool>()), 1..5)) {
            for (run, _) in &mut runs {
                run.nodes.self_ticks.iter_mut().for_each(|ticks| *ticks %= 1 << 40);
                run.nodes.calls.iter_mut().for_each(|calls| *calls %= 1 << 40);
                // Whole nanoseconds: sums of rounded times are rounded sums.
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
        // And another one, of the same threads.
        let over = fold(Some(over), &one, 1.0);
        let last = side_by_side(&clock, &[ended(&over)]);
        assert_eq!(between(&last, &before).calls(), 3);
        assert_eq!(between(&last, &after).calls(), 0);
        let (now, then) = crate::align::align(&last, &before);
        let own = one
            .threads
            .iter()
            .map(|thread| &thread.name)
            .collect::<BTreeSet<_>>();
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
        // Halves of the doubled ticks are whole.
        one.nodes.self_ticks.iter_mut().for_each(|ticks| *ticks *= 2);
        let mut other = one.clone();
        other.capture.tick += 1_000_000;
        let opened = |all: &Snapshot, thread: usize| {
            let frame = all.threads[thread].open[0];
            all.nanos(all.capture.tick - frame.began_tick)
        };
        let at = one
            .threads
            .iter()
            .position(|thread| !thread.open.is_empty())
            .unwrap();
        let wanted = opened(&one, at);
        let all = side_by_side(&one.clock, &[part(&one, 1), part(&other, 2)]);
        assert_eq!(opened(&all, at), wanted);
        // A clock whose ticks are half as long.
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
        assert_eq!(
            all.measured_ticks(),
            one.measured_ticks() + one.measured_ticks() / 2
        );
        let folded = fold(None, fast.snapshot, fast.ratio);
        assert_eq!(
            folded.nanos(folded.measured_ticks()),
            one.nanos(one.measured_ticks()) / 2
        );
    }

    #[test]
    fn a_site_that_is_off_in_one_process_is_not_said_to_have_been_off_as_well() {
        let mut one = fixture::two_threads();
        let mut other = one.clone();
        one.measuring.off_sites = vec![SiteId(1)];
        other.was_off = vec![SiteId(0), SiteId(1)];
        let both = side_by_side(&one.clock, &[part(&one, 1), part(&other, 2)]);
        assert_eq!(
            (both.measuring.off_sites, both.was_off),
            (vec![SiteId(1)], vec![SiteId(0)])
        );
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
}
