//! The data model: everything that a program publishes about itself at one moment, as flat columns.
//!
//! Times are clock ticks until they are shown; [`Snapshot::nanos`] converts and rounds once. A node stores the counts
//! of its *own* calls and time. Totals are sums over the subtree and are never stored, so self + children = total holds
//! by construction.

mod by_function;
mod functions;
mod lines;
mod losses;
mod measures;
mod mode;
mod over;
mod remap;
mod scope_cost;
mod sites;
mod tally;
mod tasks;
mod waits_in;
mod watches;

use bincode::{Decode, Encode};

use crate::ids::{NO_PARENT, NodeId, SiteId, ThreadId};
use crate::latency::Latencies;

pub use self::by_function::{FunctionName, FunctionNumbers};
pub use self::functions::{CALL_IN_PROGRAM, FunctionChoice, Functions, OverBudget};
pub use self::lines::{
    BUILD_ID_MAX, LINES_HZ, LineSample, Lines, LinesState, Module, NO_MODULE, Sampled, SampledIn,
};
pub use self::losses::{Loss, Losses};
pub use self::measures::{Column, LIVE_SAMPLE_BYTES, Measures, Quantity, live_error};
pub use self::mode::{Mode, ModeTraits, Timing};
pub use self::over::Over;
pub use self::remap::{Left, Part, RowMap, SAME_RATE, When, scaled};
pub use self::scope_cost::{ScopeCost, SeenCost};
pub use self::sites::{Site, Sites};
pub use self::tally::{Count, Extremes, GaugeRow, Level, Tally, ValueRow, both};
pub use self::tasks::{TaskPath, Tasks};
pub use self::waits_in::{Now, WaitsIn};
pub use self::watches::{
    CauseKind, CauseSum, Exemplar, LostCalls, Note, PathSums, Then, Trace, TraceGap, WATCHES_MAX, Watch,
    WatchState, WatchedPath,
};

/// Time in nanoseconds from which loads count as slowed by the clock. A load from memory takes some 80 ns. If reads of
/// the clock do not wait for loads, the measured time is a few nanoseconds.
const DRAINS_NS: f64 = 20.0;

/// Largest ratio of the bounds of a scope's own cost.
const OWN_RANGE: f64 = 1.5;

/// The state of a program's call trees at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The program.
    pub process: Process,
    /// The clock that ticks come from.
    pub clock: ClockInfo,
    /// Time, reason, mode and cost of the capture.
    pub capture: CaptureInfo,
    /// Sums since the program's first scope. Resets do not change them.
    pub lifetime: Lifetime,
    /// The threads, by [`ThreadId`]. Finished threads of one name share one entry.
    pub threads: Vec<Thread>,
    /// The sites that nodes refer to, by [`SiteId`].
    pub sites: Sites,
    /// The call trees of all threads. The rows of a thread are contiguous.
    pub nodes: Nodes,
    /// The clock errors of nodes that had any, in row order.
    pub errors: Vec<NodeErrors>,
    /// Settings of the measurement, and disabled sites.
    pub measuring: Measuring,
    /// Histograms of the durations of finished calls; empty if histograms are off. Rows of values have histograms here
    /// as well, over numbers in place of ticks.
    pub latencies: Latencies,
    /// Histograms of finished calls of futures from their first polls on; [`latencies`](Self::latencies) has their
    /// polls.
    pub async_latencies: Latencies,
    /// The futures in flight.
    pub tasks: Tasks,
    /// The rows whose times are estimates, in row order.
    pub estimates: Vec<Estimate>,
    /// The rows that are counters, in row order. A counter has calls and a sum, but no time and no children, and is
    /// never open. Values and gauges are counters as well.
    pub counts: Vec<Count>,
    /// The counters that are values, in row order.
    pub value_rows: Vec<ValueRow>,
    /// The counters that are gauges, in row order.
    pub gauge_rows: Vec<GaugeRow>,
    /// Quantities of rows beside calls and time.
    pub measures: Measures,
    /// Whether time off the CPU was distinguished from work. If not, waiting is not known and has no column.
    pub waits: bool,
    /// Calls that threads wait in.
    pub waits_in: WaitsIn,
    /// Facts of the functions that the compiler has prepared; `None` in programs without them.
    pub functions: Option<Functions>,
    /// Enabled sites that were disabled for a part of the time since the reset, so that some of their calls were not
    /// counted.
    pub was_off: Vec<SiteId>,
    /// The functions that are watched, at most [`WATCHES_MAX`].
    pub watches: Vec<Watch>,
    /// Samples of the program counter, if they were requested.
    pub lines: Lines,
    /// Time in nanoseconds that reads of the clock add to four loads that miss all caches, beyond the time of the reads
    /// themselves. The clock is read after each load. Near 0 if reads of the clock do not wait for loads; see
    /// [`Snapshot::clock_drains`]. `None` if it was not measured.
    pub drains_ns: Option<f64>,
    /// Cost of measuring as seen by samples; `None` in modes that take no samples.
    pub seen_cost: Option<SeenCost>,
    /// Whether the snapshot covers the last `since_reset_ns` before its capture, and not all time since a reset.
    /// `tickscope-analysis` makes windows.
    pub window: bool,
    /// Meaning of `self_ticks` and `outside_ticks`. Never written to a record, because only `tickscope-analysis` makes
    /// snapshots of values other than time.
    pub values: Values,
}

/// Kinds of self values in a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// All time, in ticks.
    #[default]
    Time,
    /// A part of the time, in ticks, such as waiting.
    PartOfTime,
    /// Counts other than ticks, for example allocations.
    Counts,
}

/// The program that carries the collector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Name given to `start`, by default the name of the executable.
    pub name: String,
    /// Process id, in the process's own namespace.
    pub pid: u32,
    /// Time when the collector started, in nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// Time since the start by the monotonic clock, in nanoseconds.
    pub uptime_ns: u64,
    /// Warnings of the collector to its user, each one sentence with the next step.
    pub warnings: Vec<String>,
    /// Files in the process that contain another copy of the collector, which measures as well.
    pub copies: Vec<String>,
}

/// A clock that counts ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum ClockSource {
    /// The CPU's time stamp counter (`rdtsc`).
    Tsc,
    /// The time stamp counter after a fence, for scopes of a few nanoseconds.
    TscOrdered,
    /// The operating system's monotonic clock, in nanoseconds.
    #[default]
    Monotonic,
    /// A function that the program supplies.
    Custom,
}

impl ClockSource {
    /// Returns the name in settings, JSON and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tsc => "tsc",
            Self::TscOrdered => "tsc-ordered",
            Self::Monotonic => "monotonic",
            Self::Custom => "custom",
        }
    }
}

/// The clock in use, the reason for it, and its errors.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct ClockInfo {
    /// Source of the ticks.
    pub source: ClockSource,
    /// Ticks per second, as measured so far; always above 0.
    pub ticks_per_second: f64,
    /// Reason for this clock: "invariant, kernel clocksource tsc", or why a better one was refused.
    pub reason: String,
    /// Gaps between two events that were not charged to any node: the clock went backward or jumped beyond the limit,
    /// or the mode was switched more often in between than the collector remembers.
    pub errors: u64,
    /// Number of breaks of the clock (suspend, migration). Each break closes the reset epoch.
    pub epoch: u32,
}

impl Default for ClockInfo {
    fn default() -> Self {
        Self {
            source: ClockSource::Monotonic,
            ticks_per_second: 1e9,
            reason: String::new(),
            errors: 0,
            epoch: 0,
        }
    }
}

/// Settings of the measurement, and disabled sites.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Measuring {
    /// Whether latencies are collected.
    pub histograms: bool,
    /// Samples a second; 0 unless in sampled mode.
    pub sampling_hz: f64,
    /// Samples taken since the reset.
    pub samples: u64,
    /// The rules that disable and enable sites, oldest first. The last rule that matches a site decides.
    pub rules: Vec<Rule>,
    /// The sites that are disabled now.
    pub off_sites: Vec<SiteId>,
}

/// A rule that disables or enables sites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Rule {
    /// Pattern of the sites; see [`Pattern`](crate::pattern::Pattern).
    pub pattern: String,
    /// Whether the rule disables them; otherwise it enables them.
    pub off: bool,
}

/// Error in nanoseconds per call of the sampled times of caller and callee. A sample counts for the call whose scope is
/// open, so the code before and after a scope, and instructions of the scope itself, count for the caller. In five real
/// programs, samples gave callers 1 to 5 ns a call too much, and callees from 4 ns too little to 4 ns too much.
pub const BORDER_NS: f64 = 3.0;

/// The uncertainty of a row's times. The errors are standard errors: the true value is within one error in two of three
/// cases, and within two errors in 19 of 20 cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Estimate {
    /// Row of the estimate.
    pub node: NodeId,
    /// Number of calls that were timed; 0 in sampled mode.
    pub timed: u64,
    /// Standard error of the self time, in ticks.
    pub self_error: u64,
    /// Standard error of the total time, in ticks.
    pub total_error: u64,
}

/// Reason of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum CaptureKind {
    /// The interval had passed, or a viewer requested a record.
    #[default]
    Periodic,
    /// The capture is the last of its reset epoch, and shows the counts that the reset cleared.
    Closing,
    /// The capture is the last of the program.
    Final,
}

impl CaptureKind {
    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Periodic => "periodic",
            Self::Closing => "closing",
            Self::Final => "final",
        }
    }
}

/// Time, reason, mode and cost of a capture.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct CaptureInfo {
    /// Mode in which scopes were measured in this epoch.
    pub mode: Mode,
    /// Reason of the capture.
    pub kind: CaptureKind,
    /// Number of this capture, from 1. Captures without a record count as well.
    pub seq: u64,
    /// The program's clock at the capture, in ticks.
    pub tick: u64,
    /// Wall clock at the capture, in nanoseconds since the Unix epoch.
    pub unix_ns: u64,
    /// The time between two records, in nanoseconds.
    pub interval_ns: u64,
    /// Number of resets. It never decreases; an undo increases it as well.
    pub reset_epoch: u64,
    /// The time since the reset, in nanoseconds.
    pub since_reset_ns: u64,
    /// Reset epoch with which the counts begin, if an undo continues it. Closing records of it and of later epochs no longer
    /// count.
    pub withdraws: Option<u64>,
    /// Rows that were summed up in rows called "(pruned)", because the record would have been too long.
    pub pruned: u64,
    /// Calls that could not be counted.
    pub losses: Losses,
    /// The cost of measuring.
    pub cost: Cost,
    /// Number of viewers that own a request slot.
    pub viewers: u32,
}

impl CaptureInfo {
    /// Returns the reset epoch with which the counts begin.
    pub fn begin(&self) -> u64 {
        self.withdraws.unwrap_or(self.reset_epoch)
    }
}

/// The cost of measuring, as calibrated in this program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct Cost {
    /// The lower bound of a scope's cost in nanoseconds: measured between work that overlaps with its clock reads.
    pub lower_ns: f64,
    /// The upper bound of a scope's cost in nanoseconds: measured in an empty loop.
    pub upper_ns: f64,
    /// The publisher's CPU time so far, in nanoseconds.
    pub publisher_cpu_ns: u64,
    /// The publisher's share of one core over the last interval, 0 to 1.
    pub publisher_share: f64,
}

/// Sums over everything that was ever counted, in all reset epochs and all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Lifetime {
    /// Calls of all nodes.
    pub calls: u64,
    /// Self ticks of all nodes, without time outside any scope. In adaptive mode the time of calls that were not timed
    /// is an estimate. Later calls correct it, so the sum may decrease.
    pub ticks: u64,
}

/// State of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum ThreadState {
    /// The thread is inside at least one scope.
    Running,
    /// The thread is alive and outside any scope.
    #[default]
    Idle,
    /// The thread's clock is paused (`tickscope::pause`).
    Paused,
    /// The thread has ended; all finished threads of one name share an entry.
    Finished,
}

impl ThreadState {
    /// Returns the name in JSON and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Idle => "idle",
            Self::Paused => "paused",
            Self::Finished => "finished",
        }
    }

    /// Returns the name for people. A running thread is "in scope", because its state does not tell whether it computes
    /// or waits.
    pub fn words(self) -> &'static str {
        if self == Self::Running {
            return "in scope";
        }
        self.as_str()
    }
}

/// A thread, or all finished threads of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Thread {
    /// The thread's name; threads without one are called "thread".
    pub name: String,
    /// The kernel's thread id; 0 for finished threads.
    pub tid: u32,
    /// State of the thread.
    pub state: ThreadState,
    /// Number of threads in this entry: 1 for a live thread.
    pub count: u64,
    /// CPU time since the reset in nanoseconds, or `None` if the system does not provide it.
    pub cpu_ns: Option<u64>,
    /// Ticks outside any scope since the reset. They belong to no row of the tree.
    pub outside_ticks: u64,
    /// First row of the thread's call tree.
    pub first_row: u32,
    /// Number of the thread's rows.
    pub rows: u32,
    /// The thread's open scopes, outermost first.
    pub open: Vec<OpenFrame>,
}

/// An open scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct OpenFrame {
    /// Row of the scope.
    pub node: NodeId,
    /// The program's clock when the scope began, in ticks, plus the pauses since; 0 if that was not measured.
    pub began_tick: u64,
}

/// Number of clock errors in one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct NodeErrors {
    /// Row of the node.
    pub node: NodeId,
    /// Number of gaps that were not charged to any node.
    pub count: u64,
}

/// The call trees as columns of equal length, parents before children.
// The section of rows has the columns in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Nodes {
    /// Row of the parent, [`NO_PARENT`] at the top of a thread.
    pub parent: Vec<u32>,
    /// Index of the site.
    pub site: Vec<u32>,
    /// Calls begun since the reset.
    pub calls: Vec<u64>,
    /// Ticks spent in the node itself since the reset.
    pub self_ticks: Vec<u64>,
}

impl Nodes {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Returns whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// Adds a row and returns its id.
    pub fn push(&mut self, parent: Option<NodeId>, site: SiteId, calls: u64, self_ticks: u64) -> NodeId {
        let id = NodeId(self.parent.len() as u32);
        self.parent.push(parent.map_or(NO_PARENT, |p| p.0));
        self.site.push(site.0);
        self.calls.push(calls);
        self.self_ticks.push(self_ticks);
        id
    }

    /// Reserves memory for `rows` more rows.
    pub fn reserve(&mut self, rows: usize) {
        self.parent.reserve(rows);
        self.site.reserve(rows);
        self.calls.reserve(rows);
        self.self_ticks.reserve(rows);
    }

    /// Returns the parent of a row, or `None` at the top of a thread.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn parent_of(&self, node: NodeId) -> Option<NodeId> {
        match self.parent[node.index()] {
            NO_PARENT => None,
            row => Some(NodeId(row)),
        }
    }

    /// Returns whether each row has rows below it.
    pub fn has_rows_below(&self) -> Vec<bool> {
        let mut has = vec![false; self.len()];
        for &parent in self.parent.iter().filter(|&&parent| parent != NO_PARENT) {
            has[parent as usize] = true;
        }
        has
    }

    /// Returns the total of each row: the sum of a column of self values over its subtree. Sums saturate.
    pub fn totals(&self, self_values: &[u64]) -> Vec<u64> {
        let mut totals = self_values.to_vec();
        for row in (0..totals.len()).rev() {
            if self.parent[row] != NO_PARENT {
                let parent = self.parent[row] as usize;
                totals[parent] = totals[parent].saturating_add(totals[row]);
            }
        }
        totals
    }
}

/// Adds numbers. A sum above 64 bits, which a hostile file may cause, becomes the largest number.
pub fn saturating_sum(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, u64::saturating_add)
}

impl Snapshot {
    /// Converts ticks to nanoseconds, rounded to the nearest.
    pub fn nanos(&self, ticks: u64) -> u64 {
        // Products up to 2^53 are exact in f64; above, the rounding error stays far below the clock's error.
        let ns = ticks as f64 * 1e9 / self.clock.ticks_per_second;
        ns.round() as u64
    }

    /// Returns the self value of each row: its time in nanoseconds, or its count ([`Values::Counts`]). Each value is
    /// converted and rounded once, and all totals in nanoseconds are sums of these values.
    pub fn self_nanos(&self) -> Vec<u64> {
        self.nodes
            .self_ticks
            .iter()
            .map(|&ticks| self.value(ticks))
            .collect()
    }

    /// Converts self ticks or ticks outside any scope to nanoseconds; a count stays as it is.
    pub fn value(&self, ticks: u64) -> u64 {
        if self.values == Values::Counts {
            ticks
        } else {
            self.nanos(ticks)
        }
    }

    /// Returns the rows of a thread.
    ///
    /// # Panics
    /// If the thread does not exist.
    pub fn rows_of(&self, thread: ThreadId) -> std::ops::Range<usize> {
        let t = &self.threads[thread.index()];
        t.first_row as usize..(t.first_row + t.rows) as usize
    }

    /// Returns the sum of all calls since the reset.
    pub fn calls(&self) -> u64 {
        saturating_sum(self.nodes.calls.iter().copied())
    }

    /// Returns the sum of all self ticks since the reset, without time outside any scope.
    pub fn measured_ticks(&self) -> u64 {
        saturating_sum(self.nodes.self_ticks.iter().copied())
    }

    /// Returns the rows that have latencies of calls, each with the column that contains them. For futures these are
    /// calls by the wall clock and not polls. The rows of futures come last.
    pub fn call_latencies(&self) -> impl Iterator<Item = (u32, &Latencies)> {
        let (polls, calls) = (&self.latencies, &self.async_latencies);
        let polled = self.measures.of(Quantity::Polls);
        let is_future = move |row: u32| {
            polled.is_some_and(|polled| polled.of_row(row) > 0) || calls.row.binary_search(&row).is_ok()
        };
        let of_others = polls.row.iter().copied().filter(move |&row| !is_future(row));
        let of_futures = calls.row.iter().copied();
        of_others
            .map(move |row| (row, polls))
            .chain(of_futures.map(move |row| (row, calls)))
    }

    /// Returns the uncertainty of a row's times, or `None` if they are exact.
    pub fn estimate_of(&self, node: NodeId) -> Option<&Estimate> {
        let at = self
            .estimates
            .binary_search_by_key(&node, |estimate| estimate.node);
        at.ok().map(|at| &self.estimates[at])
    }

    /// Returns the sum of a counter, or `None` if the row is not a counter.
    pub fn sum_of(&self, node: NodeId) -> Option<u64> {
        let at = self.counts.binary_search_by_key(&node, |count| count.node);
        at.ok().map(|at| self.counts[at].sum)
    }

    /// Returns the number of calls since the reset that may read the clock: all but the calls of counters.
    pub fn scope_calls(&self) -> u64 {
        let counted = self
            .counts
            .iter()
            .map(|count| self.nodes.calls[count.node.index()]);
        self.calls() - counted.sum::<u64>()
    }

    /// Returns the number of calls of one thread since the reset, without the calls of counters.
    pub fn scope_calls_of(&self, thread: ThreadId) -> u64 {
        let rows = self.rows_of(thread);
        let first = self
            .counts
            .partition_point(|count| count.node.index() < rows.start);
        let counted = self.counts[first..]
            .iter()
            .map(|count| count.node.index())
            .take_while(|&row| row < rows.end)
            .map(|row| self.nodes.calls[row]);
        let counted: u64 = counted.sum();
        self.nodes.calls[rows].iter().sum::<u64>() - counted
    }

    /// Returns the sum of each row, or `None` for rows that are not counters.
    pub fn sums(&self) -> Vec<Option<u64>> {
        let mut sums = vec![None; self.nodes.len()];
        for count in &self.counts {
            sums[count.node.index()] = Some(count.sum);
        }
        sums
    }

    /// Returns the tally of each row without time, or `None` for rows with time.
    pub fn tallies(&self) -> Vec<Option<Tally>> {
        let mut tallies = vec![None; self.nodes.len()];
        for (row, tally) in self.tally_cells() {
            tallies[row as usize] = Some(tally);
        }
        tallies
    }

    /// Adds the tally of a row without time. Rows must be added in rising order.
    pub fn push_tally(&mut self, node: NodeId, tally: Tally) {
        self.counts.push(Count {
            node,
            sum: tally.sum(),
        });
        match tally {
            Tally::Value { range, .. } => self.value_rows.push(ValueRow { node, range }),
            Tally::Gauge { level } => self.gauge_rows.push(GaugeRow { node, level }),
            Tally::Counter { .. } | Tally::Nothing => {}
        }
    }

    /// Removes all tallies, so that all rows are scopes.
    pub fn clear_tallies(&mut self) {
        self.counts.clear();
        self.value_rows.clear();
        self.gauge_rows.clear();
    }

    /// Returns whether a row is a value.
    pub fn is_value(&self, node: NodeId) -> bool {
        self.value_rows
            .binary_search_by_key(&node, |row| row.node)
            .is_ok()
    }

    /// Returns whether a row is a gauge.
    pub fn is_gauge(&self, node: NodeId) -> bool {
        self.gauge_rows
            .binary_search_by_key(&node, |row| row.node)
            .is_ok()
    }

    /// Returns the site of a row.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn site_of(&self, node: NodeId) -> &Site {
        &self.sites[self.nodes.site[node.index()] as usize]
    }

    /// Returns whether reads of the clock wait for loads. In code that waits for memory, measuring then costs more than
    /// a scope's cost.
    pub fn clock_drains(&self) -> bool {
        self.drains_ns.is_some_and(|ns| ns >= DRAINS_NS)
    }

    /// Returns whether measuring may cost more than [`scope_cost`](Self::scope_cost), because the clock waits for loads
    /// and only a calibration is known.
    pub fn may_cost_more(&self) -> bool {
        self.clock_drains() && self.scope_cost_seen().is_none()
    }

    /// Sorts both lists of sites, disabled now and disabled earlier. Each site stays in one of the lists, once.
    pub fn settle_off_sites(&mut self) {
        let off = &mut self.measuring.off_sites;
        for list in [&mut *off, &mut self.was_off] {
            list.sort_unstable();
            list.dedup();
        }
        self.was_off.retain(|site| off.binary_search(site).is_err());
    }

    /// Returns the sites whose calls since the reset were counted only in part.
    pub fn counted_in_part(&self) -> impl Iterator<Item = SiteId> {
        self.measuring.off_sites.iter().chain(&self.was_off).copied()
    }

    /// Returns the functions that are off because of the budget.
    pub fn over_budget(&self) -> &[OverBudget] {
        self.functions
            .as_ref()
            .map_or(&[], |functions| &functions.over_budget)
    }

    /// Returns the cost of a call of a function that the compiler has prepared, if the program has such functions.
    fn function_cost(&self) -> Option<ScopeCost> {
        self.functions.as_ref()?.call_cost()
    }

    /// Returns whether [`cost_share`](Self::cost_share) is the cost of a program of `cargo tickscope`, which includes
    /// publisher and build.
    pub fn has_function_cost(&self) -> bool {
        self.function_cost().is_some()
    }

    /// Returns the cost of a scope. In a program of `cargo tickscope` this is the cost of a function's call; in other
    /// programs the cost that samples have seen, or else the calibrated cost. The calibration leaves out the clock's
    /// effect on code that waits for memory.
    pub fn scope_cost(&self) -> ScopeCost {
        self.function_cost()
            .or_else(|| self.scope_cost_seen())
            .unwrap_or_else(|| self.own_cost())
    }

    /// Returns the cost of a scope as seen by samples, without the scope's instructions in the program itself. Returns
    /// `None` in modes that take no samples, and with too few samples.
    pub fn scope_cost_seen(&self) -> Option<ScopeCost> {
        let since_reset_ns = self.capture.since_reset_ns;
        self.seen_cost?
            .scope_cost(self.measuring.samples, since_reset_ns, self.scope_calls())
    }

    /// Returns the cost of a scope by itself, as calibrated: instructions and clock reads, without the clock's effect
    /// on code that waits for memory. The upper bound is at most one and a half times the lower one. A scope may seem
    /// to cost less if it runs while the program waits, which depends on the program.
    pub fn own_cost(&self) -> ScopeCost {
        let Cost {
            lower_ns, upper_ns, ..
        } = self.capture.cost;
        let low_ns = lower_ns.max(upper_ns / OWN_RANGE);
        ScopeCost {
            low_ns,
            middle_ns: (low_ns + upper_ns) / 2.0,
            high_ns: upper_ns,
        }
    }

    /// Returns the ticks of all rows in which threads worked, without the time in which they waited or had no CPU, if
    /// that is known.
    pub fn working_ticks(&self) -> u64 {
        let off = [Quantity::Waiting, Quantity::Ready].into_iter().map(|quantity| {
            let column = self.measures.of(quantity);
            column.map_or(0, |column| {
                column
                    .rows
                    .iter()
                    .fold(0u64, |sum, row| sum.saturating_add(row.1))
            })
        });
        off.fold(self.measured_ticks(), u64::saturating_sub)
    }

    /// Returns the lower and the upper bound of the share of working time in scopes that measuring takes, 0 to 1; 0 for
    /// values other than time. In a program of `cargo tickscope` this is the added CPU time compared with the plain
    /// build, which may be above 1. It then includes the publisher's CPU time and, in the upper bound, the cost of the
    /// build.
    pub fn cost_share(&self) -> (f64, f64) {
        let working = self.nanos(self.working_ticks()) as f64;
        if working <= 0.0 || self.values != Values::Time {
            return (0.0, 0.0);
        }
        let calls = self.scope_calls() as f64;
        if let Some(cost) = self.function_cost() {
            let (low, high) = Functions::cost_share(cost, calls, working);
            let cpu_ns: u64 = self.threads.iter().filter_map(|thread| thread.cpu_ns).sum();
            // The publisher's time since the reset is estimated from its share before.
            let since_reset = self.capture.since_reset_ns as f64 / self.process.uptime_ns.max(1) as f64;
            let publisher_ns = self.capture.cost.publisher_cpu_ns as f64 * since_reset.min(1.0);
            let publisher = publisher_ns / working.max(cpu_ns as f64);
            return (low + publisher, high + publisher);
        }
        let share = |ns: f64| (calls * ns / working).clamp(0.0, 1.0);
        let cost = self.scope_cost();
        (share(cost.low_ns), share(cost.high_ns))
    }

    /// Returns the mean duration in nanoseconds below which calls are doubtful: three times the upper bound of a
    /// scope's cost.
    pub fn doubtful_below_ns(&self) -> f64 {
        3.0 * self.scope_cost().high_ns
    }

    /// Returns whether reports have columns of time off the CPU, with dashes in sampled mode. Older programs, and
    /// programs that do not measure waiting, have no such columns.
    pub fn has_wait_columns(&self) -> bool {
        self.waits || self.capture.mode.is_sampling()
    }

    /// Returns whether the mean of `calls` calls that took `total_ns` together is below
    /// [`doubtful_below_ns`](Self::doubtful_below_ns). In mode off no mean is doubtful; in sampled mode a time of 0
    /// says nothing about the mean.
    pub fn is_doubtful(&self, total_ns: u64, calls: u64) -> bool {
        let unknown = match self.capture.mode.traits().timing {
            Timing::Never => true,
            Timing::Samples => total_ns == 0,
            Timing::EveryCall | Timing::SomeCalls => false,
        };
        calls > 0
            && !unknown
            && self.values == Values::Time
            && (total_ns as f64) < self.doubtful_below_ns() * calls as f64
    }
}
