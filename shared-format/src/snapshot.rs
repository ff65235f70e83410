//! The data model: everything that a program publishes about itself at one moment, as flat columns.
//!
//! Times are clock ticks until they are shown; [`Snapshot::nanos`] converts and rounds once. A node stores the counts
//! of its *own* calls and time. Totals are sums over the subtree and are never stored, so self + children = total holds
//! by construction.

mod by_function;
mod capture;
mod clock;
mod cost;
mod functions;
mod lines;
mod losses;
mod measures;
mod mode;
mod nodes;
mod over;
mod remap;
mod scope_cost;
mod selection;
mod sites;
mod tallies;
mod tally;
mod tasks;
mod threads;
mod waits_in;
mod watches;

use bincode::{Decode, Encode};

use crate::ids::{NodeId, SiteId, ThreadId};
use crate::latency::Latencies;

pub use self::by_function::{FunctionName, FunctionNumbers};
pub use self::capture::{CaptureInfo, CaptureKind, Cost};
pub use self::clock::{ClockInfo, ClockSource};
pub use self::functions::{CALL_IN_PROGRAM, FunctionChoice, Functions, OverBudget};
pub use self::lines::{
    BUILD_ID_MAX, LINES_HZ, LineSample, Lines, LinesState, Module, NO_MODULE, Sampled, SampledIn,
};
pub use self::losses::{Loss, Losses};
pub use self::measures::{Column, LIVE_SAMPLE_BYTES, Measures, Quantity, live_error};
pub use self::mode::{Mode, ModeTraits, Timing};
pub use self::nodes::{NodeErrors, Nodes, saturating_sum};
pub use self::over::Over;
pub use self::remap::{Part, RowMap, SAME_RATE, When, scaled, together};
pub use self::scope_cost::{ScopeCost, SeenCost};
pub use self::selection::Left;
pub use self::sites::{Site, Sites};
pub use self::tally::{Count, Extremes, GaugeRow, Level, Tally, ValueRow, both};
pub use self::tasks::{TaskPath, Tasks};
pub use self::threads::{OpenFrame, Thread, ThreadState};
pub use self::waits_in::{Now, WaitsIn};
pub use self::watches::{
    CauseKind, CauseSum, Exemplar, LostCalls, Note, PathSums, Then, Trace, TraceGap, WATCHES_MAX, Watch,
    WatchState, WatchedPath,
};

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
    /// Histograms of the finished calls of futures. A call's duration begins with its first poll. The durations of the polls are
    /// in [`latencies`](Self::latencies).
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
    /// Quantities of rows other than calls and time.
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
    /// Time in nanoseconds by which reads of the clock prolong four loads that miss all caches, beyond the time of the reads
    /// themselves. The clock is read after each load. The time is near 0 if reads of the clock do not wait for loads; see
    /// [`Snapshot::clock_drains`]. `None` if it was not measured.
    pub drains_ns: Option<f64>,
    /// Cost of measuring as seen by samples; `None` in modes that take no samples.
    pub seen_cost: Option<SeenCost>,
    /// Whether the snapshot is a window, which `tickscope-analysis` makes: it covers the last `since_reset_ns` before
    /// its capture, and not all time since a reset.
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
    /// Process id, in the program's PID namespace.
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
    /// Whether the rule disables the sites; otherwise it enables them.
    pub off: bool,
}

/// Error of the sampled times of a caller and its callee, in nanoseconds a call. A sample is charged to the call whose
/// scope is open, so the code before and after a scope, and instructions of the scope itself, are charged to the
/// caller. In five real programs, samples gave callers 1 to 5 ns a call too much, and callees from 4 ns too little to 4
/// ns too much.
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

/// Sums over everything that was ever counted, in all reset epochs and all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Lifetime {
    /// Calls of all nodes.
    pub calls: u64,
    /// Self ticks of all nodes, without time outside any scope. In adaptive mode the time of calls that were not timed
    /// is an estimate. Later calls correct it, so the sum may decrease.
    pub ticks: u64,
}

impl Snapshot {
    /// Converts ticks to nanoseconds, rounded to the nearest.
    pub fn nanos(&self, ticks: u64) -> u64 {
        // Products up to 2^53 are exact in f64; above that, the rounding error stays far below the clock's error.
        let ns = ticks as f64 * 1e9 / self.clock.ticks_per_second;
        ns.round() as u64
    }

    /// Returns the self value of each row: its time in nanoseconds, or its count ([`Values::Counts`]). Each value is
    /// converted and rounded once, and all totals in nanoseconds are sums of these values.
    pub fn self_nanos(&self) -> Vec<u64> {
        let ticks = self.nodes.self_ticks.iter();
        ticks.map(|&ticks| self.value(ticks)).collect()
    }

    /// Converts self ticks or ticks outside any scope to nanoseconds; a count stays as it is.
    pub fn value(&self, ticks: u64) -> u64 {
        match self.values == Values::Counts {
            true => ticks,
            false => self.nanos(ticks),
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

    /// Returns the rows that have latencies of calls, each with the column that contains them. A future's latencies are wall
    /// times of whole calls, and not of polls. The rows of futures come last.
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

    /// Returns the site of a row.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn site_of(&self, node: NodeId) -> &Site {
        &self.sites[self.nodes.site[node.index()] as usize]
    }

    /// Sorts the sites that are disabled now, and the sites that were disabled earlier. Each site stays in only one of
    /// these lists, once.
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

    /// Returns whether reports have columns of time off the CPU, with dashes in sampled mode. Older programs, and
    /// programs that do not measure waiting, have no such columns.
    pub fn has_wait_columns(&self) -> bool {
        self.waits || self.capture.mode.is_sampling()
    }
}
