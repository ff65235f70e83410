//! The data model: everything that a program publishes about itself at one moment, as flat columns.
//!
//! Times are kept in clock ticks until they are shown; [`Snapshot::nanos`] converts and rounds them once. A node stores
//! only its *own* calls and time. Totals are sums over a node's subtree and are never stored, so a node's total is
//! always its self time plus the totals of its children.

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
pub use self::sites::{Site, Sites, path};
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
    /// The clock that produces the ticks.
    pub clock: ClockInfo,
    /// When, why and in which mode the snapshot was captured, and what measuring costs.
    pub capture: CaptureInfo,
    /// Totals since the program's first scope. Resets do not change them.
    pub lifetime: Lifetime,
    /// The threads, indexed by [`ThreadId`]. Finished threads with the same name share one entry.
    pub threads: Vec<Thread>,
    /// The sites that nodes refer to, indexed by [`SiteId`].
    pub sites: Sites,
    /// The call trees of all threads. The rows of a thread are contiguous.
    pub nodes: Nodes,
    /// The number of clock errors of each node that had any, in row order.
    pub errors: Vec<NodeErrors>,
    /// The measurement settings, and the disabled sites.
    pub measuring: Measuring,
    /// Histograms of the durations of finished calls, if histograms are on. The histograms of values are always here as
    /// well, and count the recorded numbers instead of ticks.
    pub latencies: Latencies,
    /// Histograms of the durations of finished calls of futures, each measured from the first poll to the end. The
    /// durations of the individual polls are in [`latencies`](Self::latencies).
    pub async_latencies: Latencies,
    /// The futures in flight.
    pub tasks: Tasks,
    /// The rows whose times are estimates, in row order.
    pub estimates: Vec<Estimate>,
    /// The rows that are counters, in row order. A counter has a number of calls and a sum, but no time and no
    /// children, and it is never open. Values and gauges are counters as well.
    pub counts: Vec<Count>,
    /// The counters that were recorded with `value!`, in row order.
    pub value_rows: Vec<ValueRow>,
    /// The counters that were recorded with `gauge!`, in row order.
    pub gauge_rows: Vec<GaugeRow>,
    /// Measurements of each row besides calls and time.
    pub measures: Measures,
    /// Whether time off the CPU was told apart from work. If not, waiting times are unknown, and `measures` has no
    /// columns for them.
    pub waits: bool,
    /// The system calls in which threads were waiting.
    pub waits_in: WaitsIn,
    /// Facts about the functions that the compiler has instrumented; `None` if the program has none.
    pub functions: Option<Functions>,
    /// Sites that are enabled now but were disabled for part of the time since the reset, so not all of their calls
    /// were counted.
    pub was_off: Vec<SiteId>,
    /// The watched functions, at most [`WATCHES_MAX`].
    pub watches: Vec<Watch>,
    /// Samples of the program counter, if they were requested.
    pub lines: Lines,
    /// How many nanoseconds clock reads add to four loads that miss all caches, if the clock is read after each load.
    /// This does not include the cost of the clock reads themselves. It is close to 0 if clock reads do not wait for
    /// loads; see [`Snapshot::clock_drains`]. `None` if it was not measured.
    pub drains_ns: Option<f64>,
    /// The cost of measuring, as estimated from samples; `None` in modes that take no samples.
    pub seen_cost: Option<SeenCost>,
    /// Whether `tickscope-analysis` made this snapshot as a window, which covers only the last `since_reset_ns` before
    /// its capture instead of all the time since a reset.
    pub window: bool,
    /// What `self_ticks` and `outside_ticks` contain. This is never written to a record, because only
    /// `tickscope-analysis` makes snapshots that contain anything but time.
    pub values: Values,
}

/// What the self values of a snapshot measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// All of the time, both working and waiting, in ticks.
    #[default]
    Time,
    /// Only part of the time, such as waiting, in ticks.
    PartOfTime,
    /// Counts instead of ticks, such as numbers of allocations.
    Counts,
}

/// The program that contains the collector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Name that was passed to `start`. The default is the name of the executable.
    pub name: String,
    /// Process id, in the program's PID namespace.
    pub pid: u32,
    /// Time when the collector started, in nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// Time since the collector started, according to the monotonic clock, in nanoseconds.
    pub uptime_ns: u64,
    /// Warnings from the collector to its user. Each is one sentence that includes what to do about it.
    pub warnings: Vec<String>,
    /// Files loaded into the process that contain another copy of the collector. Such a copy takes its own
    /// measurements.
    pub copies: Vec<String>,
}

/// The measurement settings, and the disabled sites.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Measuring {
    /// Whether histograms of call durations are collected.
    pub histograms: bool,
    /// How many times per second each thread is sampled; 0 in modes that take no samples.
    pub sampling_hz: f64,
    /// Samples taken since the reset.
    pub samples: u64,
    /// The rules that disable and enable sites, oldest first. If several rules match a site, the last one decides.
    pub rules: Vec<Rule>,
    /// The sites that are currently disabled.
    pub off_sites: Vec<SiteId>,
}

/// A rule that disables or enables sites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Rule {
    /// Pattern that selects the sites; see [`Pattern`](crate::pattern::Pattern).
    pub pattern: String,
    /// Whether the rule disables the sites; otherwise it enables them.
    pub off: bool,
}

/// Uncertainty of sampled times at the border between a caller and its callee, in nanoseconds per call. A sample is
/// attributed to the call whose scope is open. So the code just before and after a scope, and some of the scope's own
/// instructions, count as the caller's time. In five real programs, samples attributed 1 to 5 ns per call too much to
/// callers. For callees, the result was anything from 4 ns too little to 4 ns too much.
pub const BORDER_NS: f64 = 3.0;

/// The uncertainty of a row's times. The errors are standard errors: the true value lies within one error of the
/// estimate in two of three cases, and within two errors in 19 of 20 cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Estimate {
    /// Row that the estimate is for.
    pub node: NodeId,
    /// Number of calls that were timed; 0 in sampled mode.
    pub timed: u64,
    /// Standard error of the self time, in ticks.
    pub self_error: u64,
    /// Standard error of the total time, in ticks.
    pub total_error: u64,
}

/// Totals over all threads and all reset epochs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Lifetime {
    /// Calls of all nodes.
    pub calls: u64,
    /// Self ticks of all nodes. Time outside any scope is not included. In adaptive mode, the time of untimed calls is
    /// an estimate, which is corrected as more calls are timed, so this total may decrease.
    pub ticks: u64,
}

impl Snapshot {
    /// Converts ticks to nanoseconds, rounding to the nearest integer.
    pub fn nanos(&self, ticks: u64) -> u64 {
        // Products up to 2^53 are exact in f64; above that, the rounding error stays far below the clock's error.
        let ns = ticks as f64 * 1e9 / self.clock.ticks_per_second;
        ns.round() as u64
    }

    /// Returns the self value of each row: its time in nanoseconds, or a count if `values` is [`Values::Counts`]. Each
    /// time is converted and rounded only once, and all totals in nanoseconds are sums of the rounded times.
    pub fn self_nanos(&self) -> Vec<u64> {
        let ticks = self.nodes.self_ticks.iter();
        ticks.map(|&ticks| self.value(ticks)).collect()
    }

    /// Converts ticks to nanoseconds, no matter whether they are self ticks or ticks outside any scope. A count is
    /// returned unchanged.
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

    /// Returns the number of all calls since the reset.
    pub fn calls(&self) -> u64 {
        saturating_sum(self.nodes.calls.iter().copied())
    }

    /// Returns the sum of all self ticks since the reset. Time outside any scope is not included.
    pub fn measured_ticks(&self) -> u64 {
        saturating_sum(self.nodes.self_ticks.iter().copied())
    }

    /// Returns the rows that have latencies of calls, each with the [`Latencies`] that contain its histogram. The
    /// latencies of a future are the wall-clock durations of its calls, not of its polls. The rows of futures come
    /// last.
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

    /// Returns the uncertainty of a row's times, or `None` if the times are exact.
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

    /// Sorts the list of sites that are disabled now and the list of sites that were disabled earlier, and removes
    /// duplicates. A site that is in both lists stays only in the first.
    pub fn settle_off_sites(&mut self) {
        let off = &mut self.measuring.off_sites;
        for list in [&mut *off, &mut self.was_off] {
            list.sort_unstable();
            list.dedup();
        }
        self.was_off.retain(|site| off.binary_search(site).is_err());
    }

    /// Returns the sites for which only some of the calls since the reset were counted.
    pub fn counted_in_part(&self) -> impl Iterator<Item = SiteId> {
        self.measuring.off_sites.iter().chain(&self.was_off).copied()
    }

    /// Returns the functions that were switched off to stay within the budget.
    pub fn over_budget(&self) -> &[OverBudget] {
        self.functions
            .as_ref()
            .map_or(&[], |functions| &functions.over_budget)
    }

    /// Returns whether reports have columns for time off the CPU. In sampled mode, these columns contain only dashes.
    /// Snapshots from older programs, and from programs that do not measure waiting, do not get such columns.
    pub fn has_wait_columns(&self) -> bool {
        self.waits || self.capture.mode.is_sampling()
    }
}
