//! The difference between two snapshots of the same epoch. It is a snapshot as well, so all code that works on snapshots also
//! works on a window.

mod lines;
mod pools;
mod watches;

use std::collections::HashMap;

use tickscope_format::ids::NodeId;
use tickscope_format::latency::{Histogram, Latencies, value_edges};
use tickscope_format::snapshot::{Estimate, Extremes, Level, Measures, Quantity, Snapshot, Tally, WaitsIn};

use self::pools::{Pools, take, take_from};

/// Returns whether two snapshots count from the same reset of the same run. Otherwise, their difference has no meaning. After a
/// reset is undone, a snapshot counts from the previous reset again.
pub fn same_epoch(one: &Snapshot, other: &Snapshot) -> bool {
    let run = |s: &Snapshot| (s.process.pid, s.process.started_unix_ns);
    run(one) == run(other) && one.capture.begin() == other.capture.begin()
}

/// Returns the difference between two snapshots of one run: the later counts and times minus the earlier ones. States,
/// open scopes and general facts come from the later snapshot. `since_reset_ns` becomes the time between the two
/// snapshots.
///
/// If there was a reset between the snapshots, the result is the later snapshot, which counts from that reset.
///
/// Rows are matched by the name and id of their thread and by their path of sites. What a thread did in the window before it
/// ended is in the row of finished threads with its name. No number becomes negative, and totals remain sums of self times.
pub fn between(later: &Snapshot, earlier: &Snapshot) -> Snapshot {
    match same_epoch(later, earlier) {
        true => less(later, earlier),
        false => later.clone(),
    }
}

/// Subtracts like `between`. The later snapshot must include all counts of the earlier one.
pub(super) fn less(later: &Snapshot, earlier: &Snapshot) -> Snapshot {
    // The window starts out with the later values. The earlier ones are subtracted further down.
    let mut window = Snapshot {
        threads: later.threads.clone(),
        nodes: later.nodes.clone(),
        errors: later.errors.clone(),
        lines: later.lines.clone(),
        window: true,
        ..later.facts()
    };
    let Pools {
        mut then,
        of_rows: pool_of,
        of_threads: group_of,
    } = Pools::of(later, earlier);
    let untimed = then.estimates.iter().map(|estimate| {
        let calls = then.nodes.calls[estimate.node.index()];
        (estimate.node.0, calls - estimate.timed)
    });
    let untimed: Vec<(u32, u64)> = untimed.collect();
    let mut takers = vec![0u32; then.nodes.len()];
    for (row, &pool) in pool_of.iter().enumerate() {
        let (pool, now, then) = (pool as usize, &mut window.nodes, &mut then.nodes);
        take(&mut now.calls[row], &mut then.calls[pool]);
        take(&mut now.self_ticks[row], &mut then.self_ticks[pool]);
        takers[pool] += 1;
    }
    for (thread, &group) in window.threads.iter_mut().zip(&group_of) {
        let group = &mut then.threads[group as usize];
        take(&mut thread.outside_ticks, &mut group.outside_ticks);
        if let (Some(cpu_ns), Some(then)) = (&mut thread.cpu_ns, &mut group.cpu_ns) {
            take(cpu_ns, then);
        }
    }
    window.measures = measures(later, &mut then.measures, &pool_of, &group_of);
    window.measures.hold_off_cpu(&window.nodes.self_ticks);
    window.waits_in = waits_in(later, &then, &pool_of);
    watches::take(&mut window.watches, earlier);
    let (forgotten, forgotten_numbers) = (has_forgotten_latencies(earlier), has_forgotten_numbers(earlier));
    let is_coarse = forgotten && !has_forgotten_latencies(later);
    match is_coarse && earlier.lines.is_empty() {
        // A coarse record does not tell which samples are older than the window.
        true => window.lines = window.lines.without_samples(),
        false => lines::take(&mut window.lines, &then.lines, &pool_of, &group_of),
    }
    let each = then.errors.iter();
    let mut errors: Vec<(u32, u64)> = each.map(|error| (error.node.0, error.count)).collect();
    for error in &mut window.errors {
        take_from(&mut errors, pool_of[error.node.index()], &mut error.count);
    }
    window.errors.retain(|error| error.count > 0);
    window.estimates = estimates(later, &window.nodes.calls, &then.estimates, untimed, &pool_of);
    window.latencies = latencies(
        &later.latencies,
        &then.latencies,
        &pool_of,
        &takers,
        |row| match later.is_value(NodeId(row)) {
            true => !forgotten_numbers,
            false => !forgotten,
        },
    );
    take_tallies(&mut window, later, &then, &pool_of);
    let has_ended = |&quantity: &Quantity| earlier.measures.of(quantity).is_some();
    let mut ends = [Quantity::FutureEnds, Quantity::FutureCancels].iter();
    // Coarse records have no latencies of futures. If the earlier snapshot is such a record and futures had already ended, the
    // latencies in the window cannot be determined.
    if !earlier.async_latencies.row.is_empty() || !ends.any(has_ended) {
        let (later, then) = (&later.async_latencies, &then.async_latencies);
        window.async_latencies = latencies(later, then, &pool_of, &takers, |_| true);
    }
    let (facts, then) = (&mut window.capture, &earlier.capture);
    facts.since_reset_ns = facts.since_reset_ns.saturating_sub(then.since_reset_ns);
    let samples = &mut window.measuring.samples;
    *samples = samples.saturating_sub(earlier.measuring.samples);
    if let (Some(seen), Some(then)) = (&mut window.seen_cost, earlier.seen_cost) {
        *seen = seen.since(then);
    }
    window
}

/// Subtracts the tallies of counters, values and gauges. This uses the calls and latencies of `window`, from which the earlier
/// ones must already have been subtracted.
fn take_tallies(window: &mut Snapshot, later: &Snapshot, then: &Snapshot, pool_of: &[u32]) {
    let before: HashMap<u32, Tally> = then.tally_cells().collect();
    let sums = before.iter().map(|(&pool, tally)| (pool, tally.sum()));
    let mut sums: Vec<_> = sums.collect();
    sums.sort_unstable();
    for (row, tally) in later.tally_cells() {
        let mut sum = tally.sum();
        let pool = pool_of[row as usize];
        take_from(&mut sums, pool, &mut sum);
        let then = before.get(&pool).copied();
        let calls = window.nodes.calls[row as usize];
        let tally = match tally {
            Tally::Value { range, .. } => Tally::Value {
                sum,
                range: range
                    .filter(|_| calls > 0)
                    .map(|range| since(range, then, &window.latencies.of(row))),
            },
            Tally::Gauge { level } => Tally::Gauge {
                level: level.map(|level| level_since(level, then, calls)),
            },
            Tally::Nothing | Tally::Counter { .. } => Tally::Counter { sum },
        };
        window.push_tally(NodeId(row), tally);
    }
}

/// Returns the smallest and the largest number that a value received in a window. If the earlier snapshot has the same extreme,
/// that extreme may be older than the window, and only the window's histogram limits the range.
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
        // A bucket for small numbers covers a single number, so its edge is exact.
        min_exact: (is_new.min_exact && min == now.min) || first.0 == first.1,
        max_exact: (is_new.max_exact && max == now.max) || last.0 == last.1,
    }
}

/// Returns the level of a gauge in a window. Levels are not subtracted: at the start of the window, the gauge has its earlier
/// level.
fn level_since(now: Level, then: Option<Tally>, calls: u64) -> Level {
    let held = match then.map(Tally::level) {
        // The gauge was first set in the window.
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

fn measures(later: &Snapshot, then: &mut Measures, pool_of: &[u32], group_of: &[u32]) -> Measures {
    let mut measures = Measures::default();
    for (quantity, now) in later.measures.iter() {
        let mut now = now.clone();
        // Levels are not subtracted: the window keeps the value of the later snapshot.
        if !quantity.is_level() {
            let mut then = then.take(quantity);
            for (now, then, place) in [
                (&mut now.rows, &mut then.rows, pool_of),
                (&mut now.outside, &mut then.outside, group_of),
            ] {
                for (index, value) in &mut *now {
                    take_from(then, place[*index as usize], value);
                }
                now.retain(|&(_, value)| value > 0);
            }
        }
        measures.set(quantity, now);
    }
    measures
}

/// Subtracts samples with the same path and system call. What each thread is doing now is taken from the later snapshot.
fn waits_in(later: &Snapshot, then: &Snapshot, pool_of: &[u32]) -> WaitsIn {
    let left = then.waits_in.samples();
    let mut left: HashMap<(u32, &str), u64> = left.map(|(pool, call, count)| ((pool, call), count)).collect();
    let samples = later.waits_in.samples().map(|(row, call, mut count)| {
        if let Some(before) = left.get_mut(&(pool_of[row as usize], call)) {
            take(&mut count, before);
        }
        (row, call, count)
    });
    WaitsIn::new(samples, later.waits_in.now())
}

/// Subtracts the earlier number of untimed calls and the earlier errors. Errors of independent times add up as squares, so it is
/// the squares that are subtracted.
fn estimates(
    later: &Snapshot,
    calls: &[u64],
    before: &[Estimate],
    mut untimed_before: Vec<(u32, u64)>,
    pool_of: &[u32],
) -> Vec<Estimate> {
    let mut before: HashMap<u32, &Estimate> = before.iter().map(|before| (before.node.0, before)).collect();
    let square = |error: u64| error as f64 * error as f64;
    let less = |error: u64, before: u64| (square(error) - square(before)).max(0.0).sqrt().round() as u64;
    let estimates = later.estimates.iter().map(|now| {
        let row = now.node.index();
        let mut untimed = later.nodes.calls[row].saturating_sub(now.timed);
        let pool = pool_of[row];
        take_from(&mut untimed_before, pool, &mut untimed);
        let before = before.remove(&pool);
        let (own, total) = before.map_or((0, 0), |before| (before.self_error, before.total_error));
        Estimate {
            node: now.node,
            timed: calls[row].saturating_sub(untimed),
            self_error: less(now.self_error, own),
            total_error: less(now.total_error, total),
        }
    });
    estimates.collect()
}

/// Returns whether the latencies of calls that have ended are missing, as they are in a coarse record.
pub fn has_forgotten_latencies(snapshot: &Snapshot) -> bool {
    let is_of_calls = |&&row: &&u32| !snapshot.is_value(NodeId(row));
    if snapshot.latencies.row.iter().find(is_of_calls).is_some() {
        return false;
    }
    // Open calls have no latency yet, and counters never have one. Values are among the counters, because their histograms hold
    // numbers rather than latencies.
    let mut unfinished = vec![false; snapshot.nodes.len()];
    let open = snapshot.threads.iter().flat_map(|thread| &thread.open);
    let counters = snapshot.counts.iter().map(|count| count.node.index());
    open.map(|frame| frame.node.index())
        .chain(counters)
        .for_each(|row| unfinished[row] = true);
    let mut calls = snapshot.nodes.calls.iter().zip(unfinished);
    calls.any(|(&calls, unfinished)| calls > 0 && !unfinished)
}

/// Returns whether a value has received numbers but has no histogram.
fn has_forgotten_numbers(snapshot: &Snapshot) -> bool {
    let mut values = snapshot.value_rows.iter().map(|row| row.node);
    values.any(|node| snapshot.nodes.calls[node.index()] > 0 && snapshot.latencies.bytes_of(node.0).is_none())
}

/// Returns the latencies in the window for the rows that satisfy `is_known`. For other rows, they cannot be told apart from the
/// latencies of earlier calls.
fn latencies(
    later: &Latencies,
    then: &Latencies,
    pool_of: &[u32],
    takers: &[u32],
    is_known: impl Fn(u32) -> bool,
) -> Latencies {
    // For each pool that several rows share, the latencies that have not been subtracted from any row yet.
    let mut shared: HashMap<u32, Histogram> = HashMap::new();
    let mut out = Latencies::default();
    let mut next = 0;
    for (at, &row) in later.row.iter().enumerate().filter(|&(_, &row)| is_known(row)) {
        let pool = pool_of[row as usize];
        // Most pools are in the order of the rows, so the next one is tried first.
        let found = match then.row.get(next) == Some(&pool) {
            true => Some(next),
            false => then.row.binary_search(&pool).ok(),
        };
        let Some(then_at) = found else {
            out.push_bytes(row, later.bytes_at(at));
            continue;
        };
        next = then_at + 1;
        let before = then.bytes_at(then_at);
        let is_shared = takers[pool as usize] > 1;
        // In a short window, most rows have no new call.
        if !is_shared && before == later.bytes_at(at) {
            continue;
        }
        let mut latency = later.at(at);
        if is_shared {
            let left = shared.entry(pool).or_insert_with(|| then.at(then_at));
            let whole = latency.clone();
            latency.subtract(left);
            left.subtract(&whole);
        } else {
            latency.subtract(&then.at(then_at));
        }
        out.push(row, &latency);
    }
    out
}
