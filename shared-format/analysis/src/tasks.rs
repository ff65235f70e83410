//! Tasks: calls of futures by logical path. A logical path is a chain of futures in which each one awaits the next, regardless of
//! scopes and threads. Wall times of concurrent calls overlap, so they do not add up to the program's time.

use std::collections::HashMap;

use tickscope_format::ids::NO_PARENT;
use tickscope_format::latency::{Histogram, Latencies};
use tickscope_format::snapshot::{Quantity, Snapshot, TaskPath};

use crate::call_tree::PathId;
use crate::functions::{FunctionId, Functions};

/// Polls are said to block their executor if they spend at least `1 / BLOCKING_SHARE` of their time waiting.
const BLOCKING_SHARE: u64 = 20;

/// Calls of all futures, by logical path.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    /// The rows, parents before children.
    pub rows: Vec<TaskRow>,
    /// Calls in flight that have no row, because the program's table of calls was full.
    pub beyond: u64,
    /// Maps a parent row (or [`NO_PARENT`]) and a function to the row of that function below the parent.
    known: HashMap<(u32, FunctionId), u32>,
    children: Vec<Vec<u32>>,
    top: Vec<u32>,
    walls: Vec<Histogram>,
    ages: Vec<Histogram>,
}

/// One future on one logical path, or all of its unnamed awaits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskRow {
    /// Hash of the path. A path has the same hash in all snapshots and runs.
    pub path: PathId,
    /// Row of the awaiting future; `None` if this one is not awaited by a measured future.
    pub parent: Option<u32>,
    /// Number of rows above this one.
    pub depth: u32,
    /// Function of the future. For an unnamed await, the function of the awaiting future.
    pub function: FunctionId,
    /// Whether the row stands for a future or an await.
    pub kind: TaskKind,
    /// Number of calls in flight now.
    pub in_flight: u64,
    /// How many of the calls in flight are being polled.
    pub polled: u64,
    /// How many of the calls in flight are neither being polled nor awaiting a measured future.
    pub innermost: u64,
    /// Nanoseconds since the oldest call in flight began; 0 if none is in flight.
    pub oldest_ns: u64,
    /// Number of calls that have begun. A call begins with its first poll.
    pub started: u64,
    /// Number of calls that completed, so that the future became ready.
    pub ended: u64,
    /// Number of calls that were dropped before they completed.
    pub cancelled: u64,
    /// Number of calls that are over, but whose end was not observed. Wall times do not include them.
    pub vanished: u64,
    /// Number of polls.
    pub polls: u64,
    /// Nanoseconds from the first poll to the end, summed over the calls that completed or were cancelled.
    pub wall_ns: u64,
    /// Nanoseconds in polls, including polls of the awaited futures.
    pub busy_ns: u64,
    /// Part of `busy_ns` in which the polling thread waited.
    pub blocked_ns: u64,
    /// Nanoseconds between a wake and the next poll, summed over the measured wakes.
    pub scheduled_ns: u64,
    /// Number of polls that `scheduled_ns` covers.
    pub scheduled_polls: u64,
}

/// What a row of tasks stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskKind {
    /// The future of a function, a block, or any other profiled future.
    #[default]
    Future,
    /// An await that has a name.
    Await,
    /// All calls of a future that are waiting at an unnamed await for something other than a measured future.
    UnnamedAwait,
}

impl Tasks {
    /// Returns the tasks of all threads of a snapshot. `functions` must have been derived from the sites of this snapshot.
    ///
    /// # Panics
    /// May panic if `functions` was derived from other sites.
    pub fn of(snapshot: &Snapshot, functions: &Functions) -> Self {
        let mut table = Self {
            beyond: snapshot.tasks.beyond,
            ..Self::default()
        };
        table.add_nodes(snapshot, functions);
        table.add_in_flight(snapshot, functions);
        table.link();
        table
    }

    /// Returns whether no future was called.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.beyond == 0
    }

    /// Returns the number of calls in flight that are not awaited by a measured future.
    pub fn roots_in_flight(&self) -> u64 {
        let roots = self.top.iter().map(|&row| self.rows[row as usize].in_flight);
        roots.fold(self.beyond, u64::saturating_add)
    }

    /// Returns the rows of futures that are not awaited by a measured future.
    pub fn top(&self) -> &[u32] {
        &self.top
    }

    /// Returns the rows of the futures and awaits that the future of a row waits for.
    pub fn children(&self, row: u32) -> &[u32] {
        &self.children[row as usize]
    }

    /// Returns the wall times, in ticks, of a row's calls that completed or were cancelled.
    pub fn wall(&self, row: u32) -> &Histogram {
        &self.walls[row as usize]
    }

    /// Returns the ages of a row's calls in flight, in ticks.
    pub fn ages(&self, row: u32) -> &Histogram {
        &self.ages[row as usize]
    }

    /// Returns the chain of rows from the outermost future to this row.
    pub fn chain(&self, row: u32) -> Vec<u32> {
        let above = |&row: &u32| self.rows[row as usize].parent;
        let mut chain: Vec<u32> = std::iter::successors(Some(row), above).collect();
        chain.reverse();
        chain
    }

    /// Adds each node of a future to the row of its logical path. Nodes of scopes on the path are skipped.
    fn add_nodes(&mut self, snapshot: &Snapshot, functions: &Functions) {
        if !has_futures(snapshot) {
            return;
        }
        let nodes = &snapshot.nodes;
        let dense = |quantity| snapshot.measures.dense(quantity, nodes.len());
        let [polls, ends, cancels, vanished, walls] = [
            Quantity::Polls,
            Quantity::FutureEnds,
            Quantity::FutureCancels,
            Quantity::FutureVanished,
            Quantity::FutureTime,
        ]
        .map(dense);
        let [delays, delayed, in_flight, ended_elsewhere] = [
            Quantity::ScheduledTime,
            Quantity::ScheduledPolls,
            Quantity::InFlight,
            Quantity::EndedElsewhere,
        ]
        .map(dense);
        let totals = nodes.totals(&snapshot.self_nanos());
        let waits = nodes.totals(&dense(Quantity::Waiting));
        let mut row_of_node = vec![NO_PARENT; nodes.len()];
        for node in 0..nodes.len() {
            let above = match nodes.parent[node] {
                NO_PARENT => NO_PARENT,
                parent => row_of_node[parent as usize],
            };
            let of_futures = [&polls, &ends, &cancels, &in_flight, &ended_elsewhere];
            let is_future = of_futures.into_iter().any(|values| values[node] > 0);
            if !is_future {
                row_of_node[node] = above;
                continue;
            }
            let function = functions.of_site[nodes.site[node] as usize];
            let at = self.below(above, function, functions);
            row_of_node[node] = at;
            let row = &mut self.rows[at as usize];
            row.started = row.started.saturating_add(nodes.calls[node]);
            row.cancelled = row.cancelled.saturating_add(cancels[node]);
            row.vanished = row.vanished.saturating_add(vanished[node]);
            row.ended = row.ended.saturating_add(ends[node]);
            row.polls = row.polls.saturating_add(polls[node]);
            row.wall_ns = row.wall_ns.saturating_add(snapshot.nanos(walls[node]));
            row.busy_ns = row.busy_ns.saturating_add(totals[node]);
            row.blocked_ns = row.blocked_ns.saturating_add(snapshot.nanos(waits[node]));
            row.scheduled_ns = row.scheduled_ns.saturating_add(snapshot.nanos(delays[node]));
            row.scheduled_polls = row.scheduled_polls.saturating_add(delayed[node]);
            let wall = &mut self.walls[at as usize];
            add(wall, &snapshot.async_latencies, node as u32);
        }
    }

    fn add_in_flight(&mut self, snapshot: &Snapshot, functions: &Functions) {
        let paths = &snapshot.tasks.paths;
        let mut row_of_path = Vec::with_capacity(paths.len());
        for (index, path) in paths.iter().enumerate() {
            let above = match path.parent {
                NO_PARENT => NO_PARENT,
                parent => row_of_path[parent as usize],
            };
            let function = functions.of_site[path.site.index()];
            let at = self.below(above, function, functions);
            row_of_path.push(at);
            add(&mut self.ages[at as usize], &snapshot.tasks.ages, index as u32);
            let row = &mut self.rows[at as usize];
            row.in_flight = row.in_flight.saturating_add(path.in_flight);
            row.polled = row.polled.saturating_add(path.polled);
            row.innermost = row.innermost.saturating_add(path.innermost);
            row.oldest_ns = row.oldest_ns.max(path.oldest_ns);
            if path.names_await {
                row.kind = TaskKind::Await;
            } else if path.innermost > 0 {
                self.add_unnamed(at, path);
            }
        }
    }

    /// Adds a row for the unnamed awaits of the future whose row is `above`.
    fn add_unnamed(&mut self, above: u32, path: &TaskPath) {
        let parent = self.rows[above as usize];
        self.push(TaskRow {
            path: parent.path.below(0),
            parent: Some(above),
            depth: parent.depth + 1,
            kind: TaskKind::UnnamedAwait,
            in_flight: path.innermost,
            innermost: path.innermost,
            oldest_ns: path.innermost_oldest_ns,
            function: parent.function,
            ..TaskRow::default()
        });
    }

    /// Returns the row of a future that is awaited by the future of the row `above`. Adds the row if it does not exist.
    fn below(&mut self, above: u32, function: FunctionId, functions: &Functions) -> u32 {
        if let Some(&row) = self.known.get(&(above, function)) {
            return row;
        }
        let parent = (above != NO_PARENT).then_some(above);
        let (path, depth) = parent.map_or((PathId::TOP, 0), |parent| {
            let parent = &self.rows[parent as usize];
            (parent.path, parent.depth + 1)
        });
        let row = self.push(TaskRow {
            path: path.below(functions.get(function).key),
            parent,
            depth,
            function,
            ..TaskRow::default()
        });
        self.known.insert((above, function), row);
        row
    }

    fn push(&mut self, row: TaskRow) -> u32 {
        self.rows.push(row);
        self.walls.push(Histogram::default());
        self.ages.push(Histogram::default());
        self.rows.len() as u32 - 1
    }

    fn link(&mut self) {
        self.children = vec![Vec::new(); self.rows.len()];
        for (row, at) in self.rows.iter().zip(0..) {
            match row.parent {
                Some(parent) => self.children[parent as usize].push(at),
                None => self.top.push(at),
            }
        }
    }
}

impl TaskRow {
    /// Returns the number of calls whose end was observed.
    pub fn over(&self) -> u64 {
        self.ended.saturating_add(self.cancelled)
    }

    /// Returns the mean wall time, in nanoseconds, of the calls that completed or were cancelled.
    pub fn mean_wall_ns(&self) -> Option<u64> {
        self.wall_ns.checked_div(self.over())
    }

    /// Returns how many nanoseconds a call spent in polls, on average.
    pub fn mean_busy_ns(&self) -> Option<u64> {
        self.busy_ns.checked_div(self.started)
    }

    /// Returns how many nanoseconds a call spent between polls, on average: its wall time minus its time in polls.
    pub fn mean_await_ns(&self) -> Option<u64> {
        let busy = self.mean_busy_ns().unwrap_or(0);
        Some(self.mean_wall_ns()?.saturating_sub(busy))
    }

    /// Returns the mean time from a wake to the next poll, in nanoseconds; `None` if it was not measured.
    pub fn mean_scheduled_ns(&self) -> Option<u64> {
        self.scheduled_ns.checked_div(self.scheduled_polls)
    }

    /// Returns whether polls wait so long that they keep their executor from running other tasks.
    pub fn blocks_executor(&self) -> bool {
        self.blocked_ns > 0 && self.blocked_ns.saturating_mul(BLOCKING_SHARE) >= self.busy_ns
    }
}

/// Returns whether the program has called any future.
pub fn has_futures(snapshot: &Snapshot) -> bool {
    let of_futures = |(quantity, _): (Quantity, _)| quantity.is_of_futures();
    !snapshot.tasks.is_empty() || snapshot.measures.iter().any(of_futures)
}

fn add(sum: &mut Histogram, latencies: &Latencies, row: u32) {
    if latencies.row.binary_search(&row).is_ok() {
        sum.add(&latencies.of(row));
    }
}

#[cfg(test)]
mod tests {
    use tickscope_testkit::fixture;

    use super::*;

    fn tasks(snapshot: &Snapshot) -> (Tasks, Functions) {
        let functions = Functions::of(snapshot);
        (Tasks::of(snapshot, &functions), functions)
    }

    #[test]
    fn calls_of_all_threads_by_which_future_awaits_which() {
        let snapshot = fixture::serving();
        let (tasks, functions) = tasks(&snapshot);
        let ms = |ms: u64| ms * 1_000_000;
        let counts = |row: &TaskRow| {
            [
                row.started,
                row.ended,
                row.cancelled,
                row.in_flight,
                row.innermost,
                row.oldest_ns,
            ]
        };
        let rows: Vec<(u32, &str, TaskKind, [u64; 6])> = tasks
            .rows
            .iter()
            .map(|row| {
                let name = functions.get(row.function).name.as_str();
                (row.depth, name, row.kind, counts(row))
            })
            .collect();
        assert_eq!(
            rows,
            [
                (0, "handler", TaskKind::Future, [100, 76, 4, 20, 0, ms(2_100)]),
                (1, "query", TaskKind::Future, [100, 78, 2, 20, 2, ms(2_000)]),
                (2, "db.lock", TaskKind::Await, [98, 78, 2, 18, 18, ms(1_900)]),
                (2, "query", TaskKind::UnnamedAwait, [0, 0, 0, 2, 2, ms(2_000)]),
            ]
        );
        assert_eq!([tasks.wall(0).count(), tasks.ages(0).count()], [80, 20]);
        let chain = tasks.chain(2);
        assert_eq!(chain, [0, 1, 2]);
        assert_eq!(tasks.roots_in_flight(), 20);
    }

    #[test]
    fn means_are_of_calls_and_blocking_is_of_polls() {
        let (tasks, _) = tasks(&fixture::serving());
        let [handler, query] = [&tasks.rows[0], &tasks.rows[1]];
        assert_eq!(handler.mean_wall_ns(), Some(22_000_000));
        assert_eq!(handler.mean_scheduled_ns(), Some(50_000));
        let got = handler.mean_await_ns().unwrap() + handler.mean_busy_ns().unwrap();
        assert_eq!(got, 22_000_000);
        assert!(query.blocks_executor() && handler.blocks_executor());
        assert!(!tasks.rows[2].blocks_executor());
    }

    #[test]
    fn a_program_without_futures_has_no_tasks() {
        let (tasks, _) = tasks(&fixture::two_threads());
        assert!(tasks.is_empty());
    }
}
