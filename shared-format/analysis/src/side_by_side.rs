//! Puts snapshots of processes that run side by side into one snapshot, as if they were one program.
//!
//! Nothing is added up here but what belongs to no thread: each process keeps its threads with their rows, open scopes and states, and
//! views add threads up anyway. Processes that have ended are different: there may be thousands of them, so [`fold`] adds them up, by the
//! names of their threads.

use std::collections::{BTreeMap, HashMap};

use tickscope_format::ids::{NO_PARENT, SiteId};
use tickscope_format::snapshot::{
    CaptureInfo, CaptureKind, ClockInfo, ClockSource, Functions, Lifetime, Lines, Losses, Mode, OverBudget,
    Part as Moved, Process, RowMap, Site, Snapshot, TaskPath, Tasks, Thread, scaled,
};

use crate::merge::hold;
use crate::merge_runs::MergedRuns;
use crate::thread_names;

/// A process, as it stands beside others.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// What it has counted.
    pub snapshot: &'a Snapshot,
    /// Its process id; none of what [`fold`] has made of those that have ended.
    pub pid: Option<u32>,
    /// How many ticks of the common clock one of its ticks is.
    pub ratio: f64,
}

/// Returns how many ticks of one clock a tick of another one is. Clocks that all processes of a host share have the same ticks, however
/// well each of them knows their rate.
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
/// Threads are called after their processes (see [`thread_names`]). What is of one process alone is left out: slow calls of watched
/// functions, and lines. The number, the name and the epoch of the whole are for the caller to give.
pub fn side_by_side(clock: &ClockInfo, parts: &[Part<'_>]) -> Snapshot {
    let captures = || parts.iter().map(|part| &part.snapshot.capture);
    let unix_ns = captures().map(|capture| capture.unix_ns).max().unwrap_or(0);
    let begin_ns = captures().map(begin_ns).min().unwrap_or(unix_ns);
    let mut beside = Beside {
        out: Snapshot {
            clock: ClockInfo {
                errors: 0,
                ..clock.clone()
            },
            capture: CaptureInfo {
                unix_ns,
                since_reset_ns: unix_ns.saturating_sub(begin_ns),
                tick: common_tick(parts),
                mode: mode(parts),
                ..CaptureInfo::default()
            },
            ..Snapshot::default()
        },
        sites: HashMap::new(),
        over_budget: Vec::new(),
    };
    let maps = parts.iter().map(|part| beside.add(part));
    let maps: Vec<RowMap> = maps.collect();
    let Beside {
        mut out, over_budget, ..
    } = beside;
    let gathered = parts.iter().zip(maps).map(|(part, map)| Moved {
        ratio: part.ratio,
        ..Moved::now(part.snapshot, map)
    });
    out.gather(&gathered.collect::<Vec<_>>());
    out.lines = Lines::default();
    out.settle_off_sites();
    out.functions = functions(parts).map(|functions| Functions {
        over_budget,
        ..functions
    });
    out.process.warnings = warnings(parts);
    hold(&mut out);
    out
}

/// Adds a process that has ended to those that had ended before: its threads are those of its name.
pub fn fold(before: Option<Snapshot>, ended: &Snapshot, ratio: f64) -> Snapshot {
    let begin = begin_ns(&ended.capture);
    let begin = before
        .iter()
        .map(|before| begin_ns(&before.capture))
        .fold(begin, u64::min);
    let mut ended = ended.clone();
    for thread in &mut ended.threads {
        thread.name = thread_names::of_ended(&thread.name);
    }
    let clock = before.as_ref().map(|before| before.clock.clone());
    let clock = clock.unwrap_or_else(|| {
        let mut clock = ended.clock.clone();
        clock.ticks_per_second *= ratio;
        clock
    });
    // So that the clock of the sum is the common one.
    let mut all = MergedRuns::default();
    all.add(before.unwrap_or_else(|| Snapshot {
        process: ended.process.clone(),
        clock: clock.clone(),
        capture: CaptureInfo {
            since_reset_ns: 0,
            losses: Losses::default(),
            cost: ended.capture.cost,
            ..ended.capture.clone()
        },
        ..Snapshot::default()
    }));
    ended.clock.ticks_per_second = clock.ticks_per_second / ratio;
    all.add(ended);
    let Some((mut sum, _)) = all.finish() else {
        return Snapshot::default();
    };
    sum.capture.since_reset_ns = sum.capture.unix_ns.saturating_sub(begin);
    sum
}

/// When counting began: nanoseconds since the Unix epoch.
fn begin_ns(capture: &CaptureInfo) -> u64 {
    capture.unix_ns.saturating_sub(capture.since_reset_ns)
}

/// The latest moment of those whose ticks are those of the common clock.
fn common_tick(parts: &[Part<'_>]) -> u64 {
    let common = parts.iter().filter(|part| part.ratio == 1.0);
    let ticks = common.map(|part| part.snapshot.capture.tick);
    ticks.max().unwrap_or(0)
}

/// The mode of most processes.
fn mode(parts: &[Part<'_>]) -> Mode {
    let mut processes: Vec<(usize, Mode)> = Vec::new();
    for part in parts.iter().filter(|part| part.pid.is_some()) {
        let mode = part.snapshot.capture.mode;
        match processes.iter_mut().find(|(_, other)| *other == mode) {
            Some((count, _)) => *count += 1,
            None => processes.push((1, mode)),
        }
    }
    // The first one, where several are as many.
    let most = processes.iter().rev().max_by_key(|(count, _)| *count);
    let first = || {
        parts
            .first()
            .map_or(Mode::USUAL, |part| part.snapshot.capture.mode)
    };
    most.map_or_else(first, |(_, mode)| *mode)
}

/// What each process warns of, and that they do not measure alike.
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

/// What the compiler has prepared: calls of all processes, and of the rest what is largest. What is over the budget is for the
/// caller to give, in the numbers of the whole.
fn functions(parts: &[Part<'_>]) -> Option<Functions> {
    let mut all: Option<Functions> = None;
    for functions in parts.iter().filter_map(|part| part.snapshot.functions.as_ref()) {
        let Some(sum) = &mut all else {
            all = Some(functions.clone());
            continue;
        };
        sum.known = sum.known.max(functions.known);
        sum.on = sum.on.max(functions.on);
        sum.returned = sum.returned.saturating_add(functions.returned);
        sum.unwound = sum.unwound.saturating_add(functions.unwound);
        sum.elsewhere = sum.elsewhere.saturating_add(functions.elsewhere);
        sum.vanished = sum.vanished.saturating_add(functions.vanished);
        sum.fixed |= functions.fixed;
        sum.budget = sum.budget.max(functions.budget);
        sum.cost_share = sum.cost_share.max(functions.cost_share);
        sum.call_ns = sum.call_ns.max(functions.call_ns);
    }
    all
}

/// The snapshot as it grows.
struct Beside<'a> {
    out: Snapshot,
    sites: HashMap<&'a Site, u32>,
    /// What is over the budget in any of them, in the numbers of the whole.
    over_budget: Vec<OverBudget>,
}

impl<'a> Beside<'a> {
    /// Adds the rows and threads of a part, in which nothing is counted yet, and says where they are.
    fn add(&mut self, part: &Part<'a>) -> RowMap {
        let of = part.snapshot;
        let sites = self.sites_of(of);
        let rows = self.out.nodes.len() as u32;
        let threads = self.out.threads.len() as u32;
        let map = RowMap {
            rows: (rows..rows + of.nodes.len() as u32).collect(),
            threads: (threads..threads + of.threads.len() as u32).collect(),
            sums: None,
        };
        self.out.threads.extend(of.threads.iter().map(|thread| Thread {
            name: match part.pid {
                Some(pid) => thread_names::of_process(&thread.name, pid),
                None => thread.name.clone(),
            },
            first_row: thread.first_row + rows,
            rows: thread.rows,
            ..thread.without_counts()
        }));
        let all = self.out.nodes.len() + of.nodes.len();
        let nodes = &mut self.out.nodes;
        let parents = of.nodes.parent.iter();
        nodes.parent.extend(parents.map(|&parent| match parent {
            NO_PARENT => NO_PARENT,
            parent => parent + rows,
        }));
        nodes
            .site
            .extend(of.nodes.site.iter().map(|&site| sites[site as usize]));
        nodes.calls.resize(all, 0);
        nodes.self_ticks.resize(all, 0);
        self.add_tasks(part, &sites);
        self.add_measuring(of, &sites);
        self.add_facts(part);
        map
    }

    fn sites_of(&mut self, of: &'a Snapshot) -> Vec<u32> {
        let sites = &mut self.out.sites;
        let places = of.sites.iter().map(|site| {
            *self.sites.entry(site).or_insert_with(|| {
                sites.push(site.clone());
                sites.len() as u32 - 1
            })
        });
        places.collect()
    }

    fn add_tasks(&mut self, part: &Part<'_>, sites: &[u32]) {
        let (tasks, of): (&mut Tasks, &Tasks) = (&mut self.out.tasks, &part.snapshot.tasks);
        let first = tasks.paths.len() as u32;
        let paths = of.paths.iter().map(|path| TaskPath {
            parent: match path.parent {
                NO_PARENT => NO_PARENT,
                parent => parent + first,
            },
            site: SiteId(sites[path.site.index()]),
            ..*path
        });
        tasks.paths.extend(paths);
        tasks.beyond = tasks.beyond.saturating_add(of.beyond);
        for (at, &path) in of.ages.row.iter().enumerate() {
            match part.ratio == 1.0 {
                true => tasks.ages.push_bytes(path + first, of.ages.bytes_at(at)),
                false => tasks.ages.push(path + first, &of.ages.at(at).at_rate(part.ratio)),
            }
        }
    }

    fn add_measuring(&mut self, of: &Snapshot, sites: &[u32]) {
        let moved = |site: SiteId| SiteId(sites[site.index()]);
        let (measuring, theirs) = (&mut self.out.measuring, &of.measuring);
        measuring.histograms |= theirs.histograms;
        measuring.sampling_hz = measuring.sampling_hz.max(theirs.sampling_hz);
        measuring.samples = measuring.samples.saturating_add(theirs.samples);
        for rule in &theirs.rules {
            if !measuring.rules.contains(rule) {
                measuring.rules.push(rule.clone());
            }
        }
        measuring
            .off_sites
            .extend(theirs.off_sites.iter().copied().map(moved));
        self.out.was_off.extend(of.was_off.iter().copied().map(moved));
        for over in of.over_budget() {
            let site = moved(over.site);
            if self.over_budget.iter().all(|known| known.site != site) {
                self.over_budget.push(OverBudget { site, ..*over });
            }
        }
        self.out.waits |= of.waits;
        self.out.drains_ns = match (self.out.drains_ns, of.drains_ns) {
            (Some(one), Some(other)) => Some(one.max(other)),
            (one, other) => one.or(other),
        };
        match (&mut self.out.seen_cost, of.seen_cost) {
            (Some(seen), Some(more)) => seen.add(more),
            (seen @ None, more) => *seen = more,
            (Some(_), None) => {}
        }
    }

    fn add_facts(&mut self, part: &Part<'_>) {
        let (out, of) = (&mut self.out, part.snapshot);
        let (ours, theirs): (&mut Process, &Process) = (&mut out.process, &of.process);
        ours.uptime_ns = ours.uptime_ns.max(theirs.uptime_ns);
        out.clock.errors = out.clock.errors.saturating_add(of.clock.errors);
        let is_first = out.capture.kind == CaptureKind::Periodic && out.capture.seq == 0;
        let (ours, theirs) = (&mut out.capture, &of.capture);
        ours.seq = ours.seq.max(theirs.seq);
        ours.interval_ns = ours.interval_ns.max(match part.pid {
            Some(_) => theirs.interval_ns,
            None => 0,
        });
        ours.viewers = ours.viewers.max(theirs.viewers);
        ours.pruned = ours.pruned.saturating_add(theirs.pruned);
        let Losses { dropped, unbalanced } = theirs.losses;
        ours.losses.dropped = ours.losses.dropped.saturating_add(dropped);
        ours.losses.unbalanced = ours.losses.unbalanced.saturating_add(unbalanced);
        let (cost, theirs) = (&mut ours.cost, &theirs.cost);
        cost.lower_ns = match is_first {
            true => theirs.lower_ns,
            false => cost.lower_ns.min(theirs.lower_ns),
        };
        cost.upper_ns = cost.upper_ns.max(theirs.upper_ns);
        cost.publisher_cpu_ns = cost.publisher_cpu_ns.saturating_add(theirs.publisher_cpu_ns);
        if part.pid.is_some() {
            cost.publisher_share += theirs.publisher_share;
        }
        let (ours, theirs): (&mut Lifetime, &Lifetime) = (&mut out.lifetime, &of.lifetime);
        ours.calls = ours.calls.saturating_add(theirs.calls);
        ours.ticks = ours.ticks.saturating_add(scaled(theirs.ticks, part.ratio));
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
        /// Of any processes, some of which have ended: each function has what it has in all of them, each thread of those that run is there
        /// with what it has open, and the result is a snapshot like any other.
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
    fn open_scopes_are_as_old_as_they_were() {
        let mut one = fixture::two_threads();
        // Halves of them are whole.
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
        // One whose ticks are half as long.
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
