//! Calls of futures: how the calls of each node began and ended, and which calls are in flight.

use std::collections::BTreeMap;

use serde::Serialize;
use tickscope_analysis::functions::Functions;
use tickscope_analysis::per_call::PerCall;
use tickscope_analysis::tasks::{TaskKind, Tasks};
use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::{Quantity, Snapshot};

use crate::quotient::Quotient;

/// How the calls in one node of a future began and ended.
#[derive(Serialize)]
pub(super) struct Futures {
    /// Calls whose first poll was in this node.
    started: Quotient,
    /// Calls that became ready in this node.
    ended: Quotient,
    /// Calls that were dropped in this node before they were ready.
    cancelled: Quotient,
    /// Calls that are over, but whose end was not observed.
    vanished: Quotient,
    /// Calls that have begun in this node minus calls that have ended in it, since the program began. It can be negative, because
    /// a call may begin in one node and end in another, for example on another thread. The sum over all nodes of the future is
    /// correct.
    in_flight: i64,
    polls: Quotient,
    /// Wall time of the calls that have ended, each from first poll to end; null if no call has ended.
    wall_p50_ns: Option<u64>,
    wall_p99_ns: Option<u64>,
    wall_max_ns: Option<u64>,
    /// Nanoseconds spent in polls, including the polls of awaited futures.
    busy_ns: Quotient,
    /// Nanoseconds that woken tasks waited for their next poll.
    scheduled_ns: Quotient,
    /// Number of polls that `scheduled_ns` includes.
    scheduled_polls: Quotient,
}

/// A logical path of futures that has calls in flight.
#[derive(Serialize)]
pub(super) struct Task {
    /// Index of the path in this list.
    id: u32,
    parent: Option<u32>,
    name: String,
    module: String,
    /// `future`, `await` for a named await, or `unnamed` for the unnamed awaits of the parent.
    kind: &'static str,
    in_flight: u64,
    /// How many of the calls in flight are being polled.
    polled: u64,
    oldest_ns: u64,
    /// Percentiles of the ages of the calls in flight.
    age_p50_ns: Option<u64>,
    age_p99_ns: Option<u64>,
}

/// Returns how the calls of futures began and ended, by node.
pub(super) fn of_nodes(
    snapshot: &Snapshot,
    total_ns: &[u64],
    per: Option<&PerCall>,
) -> BTreeMap<u32, Futures> {
    let measures = &snapshot.measures;
    let rows = measures
        .iter()
        .filter(|(quantity, _)| quantity.is_of_futures())
        .flat_map(|(_, column)| &column.rows)
        .map(|&(row, _)| row);
    let mut futures = BTreeMap::new();
    for row in rows {
        let of = |quantity| measures.of_row(quantity, row);
        let count = |quantity| Quotient::of(of(quantity), per);
        let wall = snapshot.async_latencies.of(row);
        futures.entry(row).or_insert_with(|| Futures {
            started: Quotient::of(snapshot.nodes.calls[row as usize], per),
            ended: count(Quantity::FutureEnds),
            cancelled: count(Quantity::FutureCancels),
            vanished: count(Quantity::FutureVanished),
            in_flight: of(Quantity::InFlight) as i64 - of(Quantity::EndedElsewhere) as i64,
            polls: count(Quantity::Polls),
            wall_p50_ns: quantile(snapshot, &wall, 0.5),
            wall_p99_ns: quantile(snapshot, &wall, 0.99),
            wall_max_ns: wall.max().map(|(ticks, _)| snapshot.nanos(ticks)),
            busy_ns: Quotient::of(total_ns[row as usize], per),
            scheduled_ns: Quotient::of(snapshot.nanos(of(Quantity::ScheduledTime)), per),
            scheduled_polls: count(Quantity::ScheduledPolls),
        });
    }
    futures
}

/// Returns the logical paths that have calls in flight, parents before children.
pub(super) fn tasks(snapshot: &Snapshot) -> Vec<Task> {
    if snapshot.tasks.is_empty() {
        return Vec::new();
    }
    let functions = Functions::of(snapshot);
    let table = Tasks::of(snapshot, &functions);
    let mut ids = vec![None; table.rows.len()];
    let mut tasks = Vec::new();
    for (index, row) in table.rows.iter().enumerate() {
        // A path is left out if the path above it has no call in flight, which happens only if the awaiting call has since moved
        // to another path.
        let above = row.parent.map(|parent| ids[parent as usize]);
        if row.in_flight == 0 || above == Some(None) {
            continue;
        }
        let id = tasks.len() as u32;
        ids[index] = Some(id);
        let function = functions.get(row.function);
        let ages = table.ages(index as u32);
        tasks.push(Task {
            id,
            parent: above.flatten(),
            name: function.name.clone(),
            module: function.module.clone(),
            kind: match row.kind {
                TaskKind::Future => "future",
                TaskKind::Await => "await",
                TaskKind::UnnamedAwait => "unnamed",
            },
            in_flight: row.in_flight,
            polled: row.polled,
            oldest_ns: row.oldest_ns,
            age_p50_ns: quantile(snapshot, ages, 0.5),
            age_p99_ns: quantile(snapshot, ages, 0.99),
        });
    }
    tasks
}

fn quantile(snapshot: &Snapshot, histogram: &Histogram, share: f64) -> Option<u64> {
    histogram.quantile(share).map(|ticks| snapshot.nanos(ticks))
}
