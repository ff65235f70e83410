//! What happened between two snapshots of one epoch, as a snapshot: everything that works on snapshots works on a
//! window.

use std::collections::HashMap;
use std::hash::Hash;

use tickscope_format::ids::{NO_PARENT, ThreadId};
use tickscope_format::latency::{Histogram, Latencies};
use tickscope_format::snapshot::{Column, Count, Estimate, Measures, NodeErrors, Quantity, Snapshot};

/// What stands where there is no row to take from.
const NONE: u32 = u32::MAX;

/// Whether both were counted from the same reset of the same run, so that one can be taken from the other. What was
/// counted before a reset goes on where that was taken back.
pub fn same_epoch(one: &Snapshot, other: &Snapshot) -> bool {
    let run = |s: &Snapshot| (s.process.pid, s.process.started_unix_ns);
    let goes_on = |s: &Snapshot, from: &Snapshot| s.capture.withdraws == Some(from.capture.reset_epoch);
    let same = one.capture.reset_epoch == other.capture.reset_epoch;
    run(one) == run(other) && (same || goes_on(one, other) || goes_on(other, one))
}

/// What happened between two snapshots of one run: counts and times of the later one less those of the earlier one.
/// State, open scopes and facts are the later one's, and its `since_reset_ns` is the time between the two.
///
/// Where a reset lies between, it is what happened since the reset: the later one as it is.
///
/// Rows are matched by thread (name and id) and path of sites. Threads that have ended since are found in the row of
/// finished threads of their name. Nothing falls below zero, and totals remain sums of self times.
pub fn between(later: &Snapshot, earlier: &Snapshot) -> Snapshot {
    if same_epoch(later, earlier) {
        less(later, earlier)
    } else {
        later.clone()
    }
}

/// The same for snapshots of which it is known that the later one counts all that the earlier one does.
pub(super) fn less(later: &Snapshot, earlier: &Snapshot) -> Snapshot {
    let mut window = Snapshot {
        window: true,
        ..later.clone()
    };
    let mut pools = Pools::of(later, earlier);
    for (row, &pool) in pools.of_later.iter().enumerate() {
        if pool != NONE {
            take(&mut window.nodes.calls[row], &mut pools.calls[pool as usize]);
            take(&mut window.nodes.self_ticks[row], &mut pools.ticks[pool as usize]);
        }
    }
    for (thread, &group) in window.threads.iter_mut().zip(&pools.group_of_later) {
        let group = &mut pools.groups[group];
        take(&mut thread.outside_ticks, &mut group.outside_ticks);
        if let Some(cpu_ns) = &mut thread.cpu_ns {
            take(cpu_ns, &mut group.cpu_ns);
        }
    }
    window.counts = counts(later, earlier, &pools);
    window.measures = measures(later, earlier, &pools);
    window.measures.hold_off_cpu(&window.nodes.self_ticks);
    window.errors = errors(later, earlier, &pools);
    window.estimates = estimates(later, earlier, &pools);
    window.latencies = match has_forgotten_latencies(earlier) {
        true => Latencies::default(),
        false => latencies(&later.latencies, &earlier.latencies, &pools),
    };
    let of_calls = &earlier.async_latencies;
    let has_ended = |&quantity: &Quantity| earlier.measures.of(quantity).is_some();
    window.async_latencies = match [Quantity::FutureEnds, Quantity::FutureCancels]
        .iter()
        .any(has_ended)
    {
        // A coarse record does not have them.
        true if of_calls.row.is_empty() => Latencies::default(),
        _ => latencies(&later.async_latencies, of_calls, &pools),
    };
    let (facts, then) = (&mut window.capture, &earlier.capture);
    facts.since_reset_ns = facts.since_reset_ns.saturating_sub(then.since_reset_ns);
    let samples = &mut window.measuring.samples;
    *samples = samples.saturating_sub(earlier.measuring.samples);
    window
}

/// Takes as much as there is from both.
fn take(value: &mut u64, pool: &mut u64) {
    let part = (*value).min(*pool);
    *value -= part;
    *pool -= part;
}

/// Numbers the things of two lists alike: equal keys get equal numbers.
pub(super) fn numbered<'a, T, K: Eq + Hash>(
    later: &'a [T],
    earlier: &'a [T],
    key: impl Fn(&'a T) -> K,
) -> (Vec<u32>, Vec<u32>) {
    let mut known: HashMap<K, u32> = HashMap::with_capacity(later.len());
    let mut number = |thing| {
        let next = known.len() as u32;
        *known.entry(key(thing)).or_insert(next)
    };
    (
        later.iter().map(&mut number).collect(),
        earlier.iter().map(&mut number).collect(),
    )
}

/// Threads that share what is taken from them: one live thread, or the finished ones of a name.
#[derive(Default)]
struct Group {
    later: Vec<usize>,
    earlier: Vec<usize>,
    outside_ticks: u64,
    cpu_ns: u64,
}

/// What there was before, summed up by group of threads and path: rows of the later snapshot take from it.
#[derive(Default)]
struct Pools {
    calls: Vec<u64>,
    ticks: Vec<u64>,
    /// How many rows gave to a pool, and how many take from it.
    givers: Vec<u32>,
    takers: Vec<u32>,
    of_later: Vec<u32>,
    of_earlier: Vec<u32>,
    groups: Vec<Group>,
    group_of_later: Vec<usize>,
    /// None of a thread whose name is not there any more.
    group_of_earlier: Vec<Option<usize>>,
}

impl Pools {
    fn of(later: &Snapshot, earlier: &Snapshot) -> Self {
        let mut pools = Self {
            of_later: vec![NONE; later.nodes.len()],
            of_earlier: vec![NONE; earlier.nodes.len()],
            ..Self::default()
        };
        pools.group(later, earlier);
        let (site_of_later, site_of_earlier) = numbered(&later.sites, &earlier.sites, |site| site);
        let later_site = |row: usize| site_of_later[later.nodes.site[row] as usize];
        let earlier_site = |row: usize| site_of_earlier[earlier.nodes.site[row] as usize];
        for at in 0..pools.groups.len() {
            let (now, then) = (pools.groups[at].later.clone(), pools.groups[at].earlier.clone());
            if let ([now], [then]) = (&now[..], &then[..]) {
                let (now, then) = (rows(later, *now), rows(earlier, *then));
                let place = |parent: u32, first: usize| match parent {
                    NO_PARENT => NO_PARENT,
                    parent => parent.wrapping_sub(first as u32),
                };
                // The usual case: the tree has grown at its end, or not at all.
                let same = now.len() >= then.len()
                    && now.clone().zip(then.clone()).all(|(a, b)| {
                        later_site(a) == earlier_site(b)
                            && place(later.nodes.parent[a], now.start)
                                == place(earlier.nodes.parent[b], then.start)
                    });
                if same {
                    for (a, b) in now.zip(then) {
                        let pool = pools.add();
                        pools.give(pool, earlier, b);
                        pools.let_take(pool, a);
                    }
                    continue;
                }
            }
            let mut known: HashMap<(u32, u32), u32> = HashMap::new();
            for row in then.iter().flat_map(|&thread| rows(earlier, thread)) {
                let above = above(&earlier.nodes.parent, row, &pools.of_earlier);
                let pool = *known
                    .entry((above, earlier_site(row)))
                    .or_insert_with(|| pools.add());
                pools.give(pool, earlier, row);
            }
            for row in now.iter().flat_map(|&thread| rows(later, thread)) {
                let parent = later.nodes.parent[row];
                let above = above(&later.nodes.parent, row, &pools.of_later);
                // Below what was not there nothing was there.
                if parent != NO_PARENT && above == NONE {
                    continue;
                }
                if let Some(&pool) = known.get(&(above, later_site(row))) {
                    pools.let_take(pool, row);
                }
            }
        }
        pools
    }

    fn group(&mut self, later: &Snapshot, earlier: &Snapshot) {
        let mut known: HashMap<(&str, u32), usize> = HashMap::with_capacity(later.threads.len());
        for (index, thread) in later.threads.iter().enumerate() {
            let group = *known.entry((&thread.name, thread.tid)).or_insert_with(|| {
                self.groups.push(Group::default());
                self.groups.len() - 1
            });
            self.groups[group].later.push(index);
            self.group_of_later.push(group);
        }
        for (index, thread) in earlier.threads.iter().enumerate() {
            let of = |tid| known.get(&(thread.name.as_str(), tid)).copied();
            // A thread that has ended since was folded into the row of those that have ended.
            let group = of(thread.tid).or_else(|| of(0));
            self.group_of_earlier.push(group);
            if let Some(group) = group {
                let group = &mut self.groups[group];
                group.earlier.push(index);
                group.outside_ticks = group.outside_ticks.saturating_add(thread.outside_ticks);
                group.cpu_ns = group.cpu_ns.saturating_add(thread.cpu_ns.unwrap_or(0));
            }
        }
    }

    fn add(&mut self) -> u32 {
        self.calls.push(0);
        self.ticks.push(0);
        self.givers.push(0);
        self.takers.push(0);
        self.calls.len() as u32 - 1
    }

    fn give(&mut self, pool: u32, earlier: &Snapshot, row: usize) {
        self.of_earlier[row] = pool;
        let pool = pool as usize;
        self.calls[pool] = self.calls[pool].saturating_add(earlier.nodes.calls[row]);
        self.ticks[pool] = self.ticks[pool].saturating_add(earlier.nodes.self_ticks[row]);
        self.givers[pool] += 1;
    }

    fn let_take(&mut self, pool: u32, row: usize) {
        self.of_later[row] = pool;
        self.takers[pool as usize] += 1;
    }

    /// Where a row of the earlier snapshot gives to.
    fn given_to(&self, row: u32) -> Option<u32> {
        let pool = self.of_earlier.get(row as usize).copied();
        pool.filter(|&pool| pool != NONE)
    }

    /// Where a row of the later snapshot takes from.
    fn taken_from(&self, row: u32) -> Option<u32> {
        self.of_later
            .get(row as usize)
            .copied()
            .filter(|&pool| pool != NONE)
    }
}

fn rows(snapshot: &Snapshot, thread: usize) -> std::ops::Range<usize> {
    snapshot.rows_of(ThreadId(thread as u32))
}

/// The pool of the row above; none at the top.
fn above(parents: &[u32], row: usize, pools: &[u32]) -> u32 {
    match parents[row] {
        NO_PARENT => NONE,
        parent => pools[parent as usize],
    }
}

/// Takes what there was before from the values that there are now, each of which has an index. `now` and `then` say which
/// pool an index belongs to.
fn take_each(
    values: &mut dyn Iterator<Item = (u32, &mut u64)>,
    now: impl Fn(u32) -> Option<u32>,
    before: impl Iterator<Item = (u32, u64)>,
    then: impl Fn(u32) -> Option<u32>,
) {
    let mut left: HashMap<u32, u64> = HashMap::new();
    for (index, value) in before {
        if let Some(pool) = then(index) {
            let sum = left.entry(pool).or_default();
            *sum = sum.saturating_add(value);
        }
    }
    for (index, value) in values {
        if let Some(pool) = now(index).and_then(|pool| left.get_mut(&pool)) {
            take(value, pool);
        }
    }
}

fn counts(later: &Snapshot, earlier: &Snapshot, pools: &Pools) -> Vec<Count> {
    let mut counts = later.counts.clone();
    take_each(
        &mut counts.iter_mut().map(|count| (count.node.0, &mut count.sum)),
        |row| pools.taken_from(row),
        earlier.counts.iter().map(|count| (count.node.0, count.sum)),
        |row| pools.given_to(row),
    );
    counts
}

fn errors(later: &Snapshot, earlier: &Snapshot, pools: &Pools) -> Vec<NodeErrors> {
    let mut errors = later.errors.clone();
    take_each(
        &mut errors.iter_mut().map(|error| (error.node.0, &mut error.count)),
        |row| pools.taken_from(row),
        earlier.errors.iter().map(|error| (error.node.0, error.count)),
        |row| pools.given_to(row),
    );
    errors.retain(|error| error.count > 0);
    errors
}

fn measures(later: &Snapshot, earlier: &Snapshot, pools: &Pools) -> Measures {
    let group_now = |thread: u32| Some(pools.group_of_later[thread as usize] as u32);
    let group_then = |thread: u32| pools.group_of_earlier[thread as usize].map(|group| group as u32);
    let mut measures = Measures::default();
    for (quantity, now) in later.measures.iter() {
        let Column {
            mut rows,
            mut outside,
        } = now.clone();
        if let Some(then) = earlier.measures.of(quantity).filter(|_| !quantity.is_level()) {
            take_each(
                &mut rows.iter_mut().map(|(row, value)| (*row, value)),
                |row| pools.taken_from(row),
                then.rows.iter().copied(),
                |row| pools.given_to(row),
            );
            take_each(
                &mut outside.iter_mut().map(|(thread, value)| (*thread, value)),
                group_now,
                then.outside.iter().copied(),
                group_then,
            );
        }
        rows.retain(|&(_, value)| value > 0);
        outside.retain(|&(_, value)| value > 0);
        measures.set(quantity, Column { rows, outside });
    }
    measures
}

/// What was timed before is not timed again; errors of independent times add up by their squares.
fn estimates(later: &Snapshot, earlier: &Snapshot, pools: &Pools) -> Vec<Estimate> {
    let mut before: HashMap<u32, (u64, f64, f64)> = HashMap::new();
    let square = |error: u64| error as f64 * error as f64;
    for estimate in &earlier.estimates {
        let of = before.entry(pools.of_earlier[estimate.node.index()]).or_default();
        of.0 = of.0.saturating_add(estimate.timed);
        of.1 += square(estimate.self_error);
        of.2 += square(estimate.total_error);
    }
    let less = |error: u64, before: f64| (square(error) - before).max(0.0).sqrt().round() as u64;
    let mut estimates = later.estimates.clone();
    for estimate in &mut estimates {
        let pool = pools.taken_from(estimate.node.0);
        if let Some(mut before) = pool.and_then(|pool| before.remove(&pool)) {
            take(&mut estimate.timed, &mut before.0);
            estimate.self_error = less(estimate.self_error, before.1);
            estimate.total_error = less(estimate.total_error, before.2);
        }
    }
    estimates
}

/// Whether calls had finished, and how long they took was not kept, as in a coarse record.
pub fn has_forgotten_latencies(snapshot: &Snapshot) -> bool {
    if !snapshot.latencies.row.is_empty() {
        return false;
    }
    // Calls that are open have no length yet, and counters never have one.
    let mut unfinished = vec![false; snapshot.nodes.len()];
    let open = snapshot.threads.iter().flat_map(|thread| &thread.open);
    let counters = snapshot.counts.iter().map(|count| count.node.index());
    open.map(|frame| frame.node.index())
        .chain(counters)
        .for_each(|row| unfinished[row] = true);
    let mut calls = snapshot.nodes.calls.iter().zip(unfinished);
    calls.any(|(&calls, unfinished)| calls > 0 && !unfinished)
}

fn latencies(later: &Latencies, earlier: &Latencies, pools: &Pools) -> Latencies {
    let mut row_of_pool = vec![NONE; pools.calls.len()];
    // Of pools with several givers or takers: what is left of them.
    let mut shared: HashMap<u32, Histogram> = HashMap::new();
    for &row in &earlier.row {
        let Some(&pool) = pools.of_earlier.get(row as usize).filter(|&&pool| pool != NONE) else {
            continue;
        };
        if pools.givers[pool as usize] == 1 && pools.takers[pool as usize] == 1 {
            row_of_pool[pool as usize] = row;
        } else {
            shared.entry(pool).or_default().add(&earlier.of(row));
        }
    }
    let mut out = Latencies::default();
    for &row in &later.row {
        let Some(pool) = pools.taken_from(row) else {
            out.push(row, &later.of(row));
            continue;
        };
        let then = row_of_pool[pool as usize];
        // Most rows of a short window: nothing has happened in them.
        if then != NONE && earlier.bytes_of(then) == later.bytes_of(row) {
            continue;
        }
        let mut latency = later.of(row);
        if then != NONE {
            latency.subtract(&earlier.of(then));
        } else if let Some(left) = shared.get_mut(&pool) {
            let whole = latency.clone();
            latency.subtract(left);
            left.subtract(&whole);
        }
        out.push(row, &latency);
    }
    out
}
