//! The calls of futures: the outcomes of each node's calls, and the calls in flight.

use std::collections::BTreeMap;

use serde::Serialize;
use tickscope_analysis::functions::Functions;
use tickscope_analysis::per_call::PerCall;
use tickscope_analysis::tasks::{TaskKind, Tasks};
use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::{Quantity, Snapshot};

use crate::quotient::Quotient;

/// Outcomes of the calls of a future, in one node.
#[derive(Serialize)]
pub(super) struct Futures {
    /// Calls that began here, with their first polls.
    started: Quotient,
    /// Calls that became ready here.
    ended: Quotient,
    /// Calls that were dropped here before they were ready.
    cancelled: Quotient,
    /// Calls that are over but whose end was not seen.
    vanished: Quotient,
    /// Calls that began here less calls that ended here, since the program began. The number is negative if calls end
    /// on another thread; the sum over all nodes of the future is correct.
    in_flight: i64,
    polls: Quotient,
    /// Time from the first poll to the end of the ended calls; null if no call has ended.
    wall_p50_ns: Option<u64>,
    wall_p99_ns: Option<u64>,
    wall_max_ns: Option<u64>,
    /// Time in polls, including polls of awaited futures.
    busy_ns: Quotient,
    /// Time from wakes of tasks to the polls that followed.
    scheduled_ns: Quotient,
    /// Number of polls that followed a wake.
    scheduled_polls: Quotient,
}

/// A path of futures that await each other, with calls in flight.
#[derive(Serialize)]
pub(super) struct Task {
    /// Index in this list.
    id: u32,
    parent: Option<u32>,
    name: String,
    module: String,
    /// Kind of the path: `future`, `await` for an await with a name, or `unnamed` for awaits of the parent without a
    /// name.
    kind: &'static str,
    in_flight: u64,
    /// Number of calls in flight that are being polled.
    polled: u64,
    oldest_ns: u64,
    /// Age of the calls in flight.
    age_p50_ns: Option<u64>,
    age_p99_ns: Option<u64>,
}

/// Returns the outcomes of the calls of each node that is a future.
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

/// Returns the paths that have calls in flight, parents before children.
pub(super) fn tasks(snapshot: &Snapshot) -> Vec<Task> {
    if snapshot.tasks.is_empty() {
        return Vec::new();
    }
    let functions = Functions::of(snapshot);
    let table = Tasks::of(snapshot, &functions);
    let mut ids = vec![None; table.rows.len()];
    let mut tasks = Vec::new();
    for (index, row) in table.rows.iter().enumerate() {
        // A path is left out if no call is in flight on the path above it. That happens only if its call has moved from
        // there.
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
