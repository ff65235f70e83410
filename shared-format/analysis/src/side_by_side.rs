//! Combines snapshots of concurrent processes into one snapshot, as if they were one program.
//!
//! Each process keeps its threads with their rows, open scopes and states, because views add up threads anyway. Only counts that
//! do not belong to a thread are added up here. There may be thousands of ended processes, so [`fold`] adds up their threads by
//! name.

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

/// One of the processes.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Snapshot of the process.
    pub snapshot: &'a Snapshot,
    /// Process id, or `None` for the sum of ended processes that [`fold`] returns.
    pub pid: Option<u32>,
    /// Number of ticks of the common clock that correspond to one tick of the process.
    pub ratio: f64,
}

/// Returns how many ticks of the clock `common` correspond to one tick of the clock `other`. For a clock that all processes of a
/// host share, this is exactly 1, even though each process measures a slightly different rate.
pub fn ratio(common: &ClockInfo, other: &ClockInfo) -> f64 {
    let is_tsc = |clock: &ClockInfo| matches!(clock.source, ClockSource::Tsc | ClockSource::TscOrdered);
    let is_monotonic = |clock: &ClockInfo| clock.source == ClockSource::Monotonic;
    let both = |is: &dyn Fn(&ClockInfo) -> bool| is(common) && is(other);
    if both(&is_tsc) || both(&is_monotonic) {
        return 1.0;
    }
    common.ticks_per_second / other.ticks_per_second
}

/// Returns the processes as one snapshot, with all times in ticks of `clock`.
///
/// Threads are named after their processes (see [`thread_names`]). Slow calls of watched functions and sampled lines are left
/// out, because they make sense only for a single process. The caller has to set the fields that belong to the result as a whole:
/// its sequence number, kind and reset epoch, and the name and start time of the process.
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
    // Rows use the joined indices of sites, as does the data that `add_beside` adds.
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

/// Adds an ended process to `before`, the sum of the processes that ended earlier. Threads with the same name become one thread.
pub fn fold(before: Option<Snapshot>, ended: &Snapshot, ratio: f64) -> Snapshot {
    let mut ended = ended.clone();
    for thread in &mut ended.threads {
        thread.name = thread_names::of_ended(&thread.name);
    }
    // The sum uses the common clock of all processes, which ticks `ratio` times as fast as the clock of `ended`.
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

/// Returns when counting began, in nanoseconds since the Unix epoch.
fn begin_ns(capture: &CaptureInfo) -> u64 {
    capture.unix_ns.saturating_sub(capture.since_reset_ns)
}

/// Returns the latest tick of the processes that use the common clock.
fn common_tick(parts: &[Part<'_>]) -> u64 {
    let common = parts.iter().filter(|part| part.ratio == 1.0);
    let ticks = common.map(|part| part.snapshot.capture.tick);
    ticks.max().unwrap_or(0)
}

/// Returns the mode that most processes use.
fn mode(parts: &[Part<'_>]) -> Mode {
    let mut processes: Vec<(usize, Mode)> = Vec::new();
    for part in parts.iter().filter(|part| part.pid.is_some()) {
        let mode = part.snapshot.capture.mode;
        match processes.iter_mut().find(|(_, other)| *other == mode) {
            Some((count, _)) => *count += 1,
            None => processes.push((1, mode)),
        }
    }
    // If several modes are used by equally many processes, the first of these modes wins.
    let most = processes.iter().rev().max_by_key(|(count, _)| *count);
    let first = || parts.first().map(|part| part.snapshot.capture.mode);
    most.map(|(_, mode)| *mode).or_else(first).unwrap_or(Mode::USUAL)
}

/// Returns the warnings of all processes, and another warning if their modes differ.
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

/// Returns the threads of a process, renamed for the combined snapshot and with their counts cleared.
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

/// Adds the facts of a process that are not tied to a row. `places` maps the process's sites to their joined indices.
fn add_beside(out: &mut Snapshot, part: &Part<'_>, places: &[u32]) {
    let snapshot = part.snapshot;
    let mut of = Snapshot {
        measuring: snapshot.measuring.clone(),
        tasks: snapshot.tasks.clone(),
        functions: snapshot.functions.clone(),
        was_off: snapshot.was_off.clone(),
        ..Snapshot::default()
    };
    of.move_sites(places);
    add_facts(out, snapshot, part.ratio);
    let (ours, theirs) = (&mut out.capture, &snapshot.capture);
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
    out.drains_ns = both(out.drains_ns, snapshot.drains_ns, f64::max);
    out.seen_cost = both(out.seen_cost, snapshot.seen_cost, SeenCost::and);
    out.functions = both(out.functions.take(), of.functions, both_functions);
    add_tasks(&mut out.tasks, of.tasks, part.ratio);
}

/// Merges what two processes know about functions with sleds. Numbers of calls are added up; of all other numbers, the larger one
/// is kept.
fn both_functions(one: Functions, other: Functions) -> Functions {
    let mut over_budget = one.over_budget;
    let known: HashSet<SiteId> = over_budget.iter().map(|over| over.site).collect();
    let all = other.over_budget.into_iter();
    let new = all.filter(|over| !known.contains(&over.site));
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
mod tests;
