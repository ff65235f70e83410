//! What happened between two snapshots of one epoch, as a snapshot: everything that works on snapshots works on a
//! window.

mod lines;
mod pools;
mod watches;

use std::collections::HashMap;

use tickscope_format::ids::NodeId;
use tickscope_format::latency::{Histogram, Latencies, value_edges};
use tickscope_format::snapshot::{
    Column, Estimate, Extremes, Level, Measures, NodeErrors, Quantity, Snapshot, Tally, WaitsIn,
};

pub(super) use self::pools::numbered;
use self::pools::{NONE, Pools, take};

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
    window.measures = measures(later, earlier, &pools);
    window.measures.hold_off_cpu(&window.nodes.self_ticks);
    window.waits_in = waits_in(later, earlier, &pools);
    window.watches = watches::watches(later, earlier);
    window.lines = lines::lines(later, earlier, &pools);
    window.errors = errors(later, earlier, &pools);
    window.estimates = estimates(later, earlier, &pools);
    let (forgotten, forgotten_numbers) = (has_forgotten_latencies(earlier), has_forgotten_numbers(earlier));
    window.latencies = latencies(&later.latencies, &earlier.latencies, &pools, |row| {
        match later.is_value(NodeId(row)) {
            true => !forgotten_numbers,
            false => !forgotten,
        }
    });
    add_tallies(&mut window, later, earlier, &pools);
    let of_calls = &earlier.async_latencies;
    let has_ended = |&quantity: &Quantity| earlier.measures.of(quantity).is_some();
    window.async_latencies = match [Quantity::FutureEnds, Quantity::FutureCancels]
        .iter()
        .any(has_ended)
    {
        // A coarse record does not have them.
        true if of_calls.row.is_empty() => Latencies::default(),
        _ => latencies(&later.async_latencies, of_calls, &pools, |_| true),
    };
    let (facts, then) = (&mut window.capture, &earlier.capture);
    facts.since_reset_ns = facts.since_reset_ns.saturating_sub(then.since_reset_ns);
    let samples = &mut window.measuring.samples;
    *samples = samples.saturating_sub(earlier.measuring.samples);
    if let (Some(seen), Some(then)) = (&mut window.seen_cost, earlier.seen_cost) {
        *seen = seen.since(then);
    }
    window
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

/// Gives a window what its rows show that have no time. Calls and latencies are those of the window already.
fn add_tallies(window: &mut Snapshot, later: &Snapshot, earlier: &Snapshot, pools: &Pools) {
    let mut counts = later.counts.clone();
    take_each(
        &mut counts.iter_mut().map(|count| (count.node.0, &mut count.sum)),
        |row| pools.taken_from(row),
        earlier.counts.iter().map(|count| (count.node.0, count.sum)),
        |row| pools.given_to(row),
    );
    let mut before: HashMap<u32, Tally> = HashMap::new();
    if !later.value_rows.is_empty() || !later.gauge_rows.is_empty() {
        for (row, tally) in (0..).zip(earlier.tallies()) {
            if let Some((pool, tally)) = pools.given_to(row).zip(tally) {
                let all = before.entry(pool).or_insert(Tally::Nothing);
                *all = all.and(tally);
            }
        }
    }
    let tallies = later.tallies();
    window.clear_tallies();
    for count in counts {
        let row = count.node.index();
        let then = pools
            .taken_from(count.node.0)
            .and_then(|pool| before.get(&pool).copied());
        let calls = window.nodes.calls[row];
        let tally = match tallies[row] {
            Some(Tally::Value { range, .. }) => Tally::Value {
                sum: count.sum,
                range: range
                    .filter(|_| calls > 0)
                    .map(|range| since(range, then, &window.latencies.of(count.node.0))),
            },
            Some(Tally::Gauge { level }) => Tally::Gauge {
                level: level.map(|level| level_since(level, then, calls)),
            },
            _ => Tally::Counter { sum: count.sum },
        };
        window.push_tally(count.node, tally);
    }
}

/// The numbers of a value in a window: those of the later snapshot that are not in the earlier one. What the earlier one had
/// as well may be of before, and only the histogram of the window bounds it.
fn since(now: Extremes<u64>, then: Option<Tally>, window: &Histogram) -> Extremes<u64> {
    let Some(then) = then else { return now };
    let then = then.range();
    let is_new = Extremes {
        min_exact: now.min_exact && then.is_none_or(|then| now.min < then.min),
        max_exact: now.max_exact && then.is_none_or(|then| now.max > then.max),
        ..now
    };
    let edges = window.buckets.first().zip(window.buckets.last());
    let Some((first, last)) =
        edges.map(|(first, last)| (value_edges(first.0.into()), value_edges(last.0.into())))
    else {
        return is_new;
    };
    let (min, max) = (now.min.max(first.0), now.max.min(last.1));
    Extremes {
        min,
        max: max.max(min),
        // Small numbers have buckets of their own.
        min_exact: (is_new.min_exact && min == now.min) || first.0 == first.1,
        max_exact: (is_new.max_exact && max == now.max) || last.0 == last.1,
    }
}

/// The level of a gauge in a window that begins with the level it had. Levels are not taken from each other.
fn level_since(now: Level, then: Option<Tally>, calls: u64) -> Level {
    let held = match then.map(Tally::level) {
        // It began in the window.
        None | Some(None) => return now,
        Some(Some(then)) => then,
    };
    let ends = Extremes::of(held.last).and(Extremes::of(now.last));
    if calls == 0 {
        return Level {
            range: Extremes::of(now.last),
            ..now
        };
    }
    let known = Extremes {
        min: now.range.min.min(ends.min),
        max: now.range.max.max(ends.max),
        min_exact: ends.min == now.range.min || (now.range.min_exact && now.range.min < held.range.min),
        max_exact: ends.max == now.range.max || (now.range.max_exact && now.range.max > held.range.max),
    };
    Level { range: known, ..now }
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
        // A level is what it is at the later moment.
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

/// Samples of the same path and the same call are taken from each other. What threads do now is what the later one says.
fn waits_in(later: &Snapshot, earlier: &Snapshot, pools: &Pools) -> WaitsIn {
    let mut left: HashMap<(u32, &str), u64> = HashMap::new();
    for (row, call, count) in earlier.waits_in.samples() {
        if let Some(pool) = pools.given_to(row) {
            let sum = left.entry((pool, call)).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    let samples = later.waits_in.samples().map(|(row, call, mut count)| {
        if let Some(pool) = pools.taken_from(row)
            && let Some(before) = left.get_mut(&(pool, call))
        {
            take(&mut count, before);
        }
        (row, call, count)
    });
    WaitsIn::new(samples, later.waits_in.now())
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
    let is_of_calls = |&&row: &&u32| !snapshot.is_value(NodeId(row));
    if snapshot.latencies.row.iter().find(is_of_calls).is_some() {
        return false;
    }
    // Calls that are open have no length yet, and counters never have one. Values have their numbers.
    let mut unfinished = vec![false; snapshot.nodes.len()];
    let open = snapshot.threads.iter().flat_map(|thread| &thread.open);
    let counters = snapshot.counts.iter().map(|count| count.node.index());
    open.map(|frame| frame.node.index())
        .chain(counters)
        .for_each(|row| unfinished[row] = true);
    let mut calls = snapshot.nodes.calls.iter().zip(unfinished);
    calls.any(|(&calls, unfinished)| calls > 0 && !unfinished)
}

/// Whether values were given numbers that were not kept one by one.
fn has_forgotten_numbers(snapshot: &Snapshot) -> bool {
    let mut values = snapshot.value_rows.iter().map(|row| row.node);
    values.any(|node| snapshot.nodes.calls[node.index()] > 0 && snapshot.latencies.bytes_of(node.0).is_none())
}

/// Those of the rows that `is_known` chooses: others may be of calls from before.
fn latencies(
    later: &Latencies,
    earlier: &Latencies,
    pools: &Pools,
    is_known: impl Fn(u32) -> bool,
) -> Latencies {
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
        if !is_known(row) {
            continue;
        }
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
