//! The data model: everything that a program publishes of itself at one moment, as flat columns.
//!
//! Times are clock ticks until they are shown; [`Snapshot::nanos`] converts and rounds once. A node stores what was
//! counted in it *itself*. Totals are sums over the subtree and are never stored, so self + children = total holds by
//! construction.

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

/// The time of loads that the clock parts from which on it is said, in nanoseconds. Loads from memory take some 80 ns; where reads do not
/// wait, differences of a few nanoseconds are found.
const DRAINS_NS: f64 = 20.0;

/// By how much the bounds of a scope's own cost differ at most.
const OWN_RANGE: f64 = 1.5;

/// The state of a program's call trees at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Which program this is.
    pub process: Process,
    /// Which clock its ticks come from.
    pub clock: ClockInfo,
    /// When, why and how the snapshot was taken.
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
    /// What is measured, and what is disabled.
    pub measuring: Measuring,
    /// How long finished calls took; empty if histograms are off. Rows of values have theirs here as well, over numbers
    /// in place of ticks.
    pub latencies: Latencies,
    /// How long finished calls of futures took from their first poll on; [`latencies`](Self::latencies) has their polls.
    pub async_latencies: Latencies,
    /// The futures in flight.
    pub tasks: Tasks,
    /// The rows whose times are estimates, in row order.
    pub estimates: Vec<Estimate>,
    /// The rows that are counters, in row order. A counter has calls and a sum, but no time and no children, and is
    /// never open. Values and gauges are counters as well.
    pub counts: Vec<Count>,
    /// Those of them that are values, in row order.
    pub value_rows: Vec<ValueRow>,
    /// Those of them that are gauges, in row order.
    pub gauge_rows: Vec<GaugeRow>,
    /// What was counted of rows beside calls and time.
    pub measures: Measures,
    /// Whether time off the CPU was told from work. Without it nothing is known of waiting, and no column has any.
    pub waits: bool,
    /// What threads wait in.
    pub waits_in: WaitsIn,
    /// What is known of functions that the compiler has prepared; `None` if there are none.
    pub functions: Option<Functions>,
    /// The sites that are enabled and were disabled for a part of the time since the reset: not all of their calls were counted.
    pub was_off: Vec<SiteId>,
    /// The functions that are watched, at most [`WATCHES_MAX`].
    pub watches: Vec<Watch>,
    /// Where threads were in the program's code, as far as that was asked for.
    pub lines: Lines,
    /// How much longer four loads that miss all caches take together if the clock is read behind each of them, beyond what these
    /// reads take themselves, in nanoseconds. Near 0 where reads of the clock do not wait for loads; see [`Snapshot::clock_drains`].
    /// None where it was not measured.
    pub drains_ns: Option<f64>,
    /// What samples saw of measuring; none in modes that take no samples.
    pub seen_cost: Option<SeenCost>,
    /// Whether this is a window: it covers the last `since_reset_ns` before its capture, and not everything since a
    /// reset. `tickscope-analysis` makes windows.
    pub window: bool,
    /// What `self_ticks` and `outside_ticks` hold. It is never written: `tickscope-analysis` makes snapshots of other values
    /// than time to look at.
    pub values: Values,
}

/// What the self values of a snapshot are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Values {
    /// All time, in ticks.
    #[default]
    Time,
    /// A part of the time, in ticks: that of waiting, for one.
    PartOfTime,
    /// Counts of something else, for example allocations.
    Counts,
}

/// The program that carries the collector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// The name given to `start`, by default that of the executable.
    pub name: String,
    /// Its process id, in its own namespace.
    pub pid: u32,
    /// When the collector started in it, in nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// The time since then by the monotonic clock, in nanoseconds.
    pub uptime_ns: u64,
    /// Warnings of the collector to its user: a sentence each, with the next step.
    pub warnings: Vec<String>,
    /// The files in it that bring a collector of their own, which counts as well.
    pub copies: Vec<String>,
}

/// A clock that counts ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum ClockSource {
    /// The CPU's time stamp counter (`rdtsc`).
    Tsc,
    /// The time stamp counter behind a fence, for scopes of a few nanoseconds.
    TscOrdered,
    /// The operating system's monotonic clock, in nanoseconds.
    #[default]
    Monotonic,
    /// A function that the program supplies.
    Custom,
}

impl ClockSource {
    /// The name in settings, JSON and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tsc => "tsc",
            Self::TscOrdered => "tsc-ordered",
            Self::Monotonic => "monotonic",
            Self::Custom => "custom",
        }
    }
}

/// The clock in use, why it was chosen, and how it behaved.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct ClockInfo {
    /// Where ticks come from.
    pub source: ClockSource,
    /// Ticks a second, as measured so far; always above 0.
    pub ticks_per_second: f64,
    /// Why this clock: "invariant, kernel clocksource tsc", or why a better one was refused.
    pub reason: String,
    /// Gaps between two events that were not charged to any node: the clock went backward or jumped beyond the limit,
    /// or the mode was switched more often in between than the collector remembers.
    pub errors: u64,
    /// How often the clock broke (suspend, migration). Each time closes the reset epoch.
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

/// What is measured, and what is disabled.
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
    /// Which sites; see [`Pattern`](crate::pattern::Pattern).
    pub pattern: String,
    /// Whether the rule disables them; otherwise it enables them.
    pub off: bool,
}

/// Samples find the call whose scope is open. What a function does in front of its scope and behind it is its caller's there, and so are
/// instructions of the scope itself: so many nanoseconds a call count as an error of caller and callee. In five real programs, samples gave
/// callers 1 to 5 ns a call too much, and callees from 4 ns too little to 4 ns too much.
pub const BORDER_NS: f64 = 3.0;

/// The uncertainty of a row's times. The errors are standard errors: the true value is within one of them two times out
/// of three, and within two of them 19 times out of 20.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Estimate {
    /// The row.
    pub node: NodeId,
    /// How many of its calls were timed; 0 in sampled mode.
    pub timed: u64,
    /// Standard error of its self time, in ticks.
    pub self_error: u64,
    /// Standard error of its total time, in ticks.
    pub total_error: u64,
}

/// Why a snapshot was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum CaptureKind {
    /// The interval had passed, or a viewer asked for a record.
    #[default]
    Periodic,
    /// The last of its reset epoch: it shows what the reset cleared.
    Closing,
    /// The last of the program.
    Final,
}

impl CaptureKind {
    /// The name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Periodic => "periodic",
            Self::Closing => "closing",
            Self::Final => "final",
        }
    }
}

/// When, why and how the snapshot was taken.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct CaptureInfo {
    /// How scopes were measured in this epoch.
    pub mode: Mode,
    /// Why it was taken.
    pub kind: CaptureKind,
    /// The number of this capture, from 1. Captures without a record count as well.
    pub seq: u64,
    /// The program's clock at the capture, in ticks.
    pub tick: u64,
    /// The wall clock at the capture: nanoseconds since the Unix epoch.
    pub unix_ns: u64,
    /// The time between two records, in nanoseconds.
    pub interval_ns: u64,
    /// The number of resets. It never decreases; an undo increases it as well.
    pub reset_epoch: u64,
    /// The time since the reset, in nanoseconds.
    pub since_reset_ns: u64,
    /// The reset epoch that an undo continues. The closing record of that epoch no longer counts.
    pub withdraws: Option<u64>,
    /// Rows that were summed up in rows called "(pruned)", because the record would have been too long.
    pub pruned: u64,
    /// What could not be counted.
    pub losses: Losses,
    /// The cost of measuring.
    pub cost: Cost,
    /// How many viewers own a request slot.
    pub viewers: u32,
}

/// The cost of measuring, as calibrated in this program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct Cost {
    /// The lower bound of a scope's cost in nanoseconds: between work that overlaps with its clock reads.
    pub lower_ns: f64,
    /// The upper bound of a scope's cost in nanoseconds: in an empty loop.
    pub upper_ns: f64,
    /// The publisher's CPU time so far, in nanoseconds.
    pub publisher_cpu_ns: u64,
    /// Its share of one core, 0 to 1, over the last interval.
    pub publisher_share: f64,
}

/// Sums over everything that was ever counted, in all reset epochs and all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Lifetime {
    /// Calls of all nodes.
    pub calls: u64,
    /// Self ticks of all nodes, without time outside any scope. In adaptive mode the share of calls that were not timed
    /// is an estimate. Later calls correct it, so the sum may decrease.
    pub ticks: u64,
}

/// What a thread does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum ThreadState {
    /// Inside at least one scope.
    Running,
    /// Alive, outside any scope.
    #[default]
    Idle,
    /// Its clock is paused (`tickscope::pause`).
    Paused,
    /// Ended; all finished threads of one name share an entry.
    Finished,
}

impl ThreadState {
    /// The name in JSON and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Idle => "idle",
            Self::Paused => "paused",
            Self::Finished => "finished",
        }
    }

    /// The name for people. A running thread is "in scope", because its state does not tell whether it computes or
    /// waits.
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
    /// What it does.
    pub state: ThreadState,
    /// How many threads this entry stands for: 1 for a live thread.
    pub count: u64,
    /// CPU time since the reset in nanoseconds, or none if the system does not tell.
    pub cpu_ns: Option<u64>,
    /// Ticks outside any scope since the reset. They belong to no row of the tree.
    pub outside_ticks: u64,
    /// First row of its call tree.
    pub first_row: u32,
    /// Number of its rows.
    pub rows: u32,
    /// Its open scopes, outermost first.
    pub open: Vec<OpenFrame>,
}

/// An open scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct OpenFrame {
    /// Its row.
    pub node: NodeId,
    /// The program's clock when the scope began, in ticks, plus the pauses since; 0 if that was not measured.
    pub began_tick: u64,
}

/// Clock errors seen in one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct NodeErrors {
    /// Its row.
    pub node: NodeId,
    /// Gaps that were not charged.
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
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Whether there is no row.
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

    /// Returns the parent of a row, or none at the top of a thread.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn parent_of(&self, node: NodeId) -> Option<NodeId> {
        match self.parent[node.index()] {
            NO_PARENT => None,
            row => Some(NodeId(row)),
        }
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

/// Adds numbers. A sum beyond 64 bits, as merged snapshots of a hostile file may have, is the largest number.
pub fn saturating_sum(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, u64::saturating_add)
}

impl Snapshot {
    /// Converts ticks to nanoseconds, rounded to the nearest.
    pub fn nanos(&self, ticks: u64) -> u64 {
        // Products up to 2^53 are exact in f64; beyond, the error stays far below the clock's own.
        let ns = ticks as f64 * 1e9 / self.clock.ticks_per_second;
        ns.round() as u64
    }

    /// Returns the self time of each row in nanoseconds, or its own count, each converted and rounded once. All totals in
    /// nanoseconds are sums of these.
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

    /// Returns the sum of all self ticks since the reset: the measured time, without time outside any scope.
    pub fn measured_ticks(&self) -> u64 {
        saturating_sum(self.nodes.self_ticks.iter().copied())
    }

    /// Returns the rows that have latencies of calls, each with the latencies that it is in: of futures those of calls by the
    /// wall clock, and not those of polls. The rows of futures come last.
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

    /// Returns the uncertainty of a row's times, or none if they are exact.
    pub fn estimate_of(&self, node: NodeId) -> Option<&Estimate> {
        let at = self
            .estimates
            .binary_search_by_key(&node, |estimate| estimate.node);
        at.ok().map(|at| &self.estimates[at])
    }

    /// Returns the sum of a counter, or none if the row is not a counter.
    pub fn sum_of(&self, node: NodeId) -> Option<u64> {
        let at = self.counts.binary_search_by_key(&node, |count| count.node);
        at.ok().map(|at| self.counts[at].sum)
    }

    /// Returns the sum of all calls since the reset without those of counters: calls that may read the clock.
    pub fn scope_calls(&self) -> u64 {
        let counted = self
            .counts
            .iter()
            .map(|count| self.nodes.calls[count.node.index()]);
        self.calls() - counted.sum::<u64>()
    }

    /// The same of one thread.
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

    /// Returns the sum of each row, or none for rows that are not counters.
    pub fn sums(&self) -> Vec<Option<u64>> {
        let mut sums = vec![None; self.nodes.len()];
        for count in &self.counts {
            sums[count.node.index()] = Some(count.sum);
        }
        sums
    }

    /// Returns what each row shows that has no time, or none for rows that have.
    pub fn tallies(&self) -> Vec<Option<Tally>> {
        let mut tallies = vec![None; self.nodes.len()];
        for (row, tally) in self.tally_cells() {
            tallies[row as usize] = Some(tally);
        }
        tallies
    }

    /// Adds what a row shows that has no time, behind all rows that have something of this kind.
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

    /// Makes all rows scopes.
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

    /// Returns whether reads of the clock wait for loads, so that code which waits for memory takes longer while it is measured than the
    /// cost of a scope says.
    pub fn clock_drains(&self) -> bool {
        self.drains_ns.is_some_and(|ns| ns >= DRAINS_NS)
    }

    /// Returns whether measuring may cost more than [`scope_cost`](Self::scope_cost) says: only a calibration is known, and the clock waits
    /// for loads.
    pub fn may_cost_more(&self) -> bool {
        self.clock_drains() && self.scope_cost_seen().is_none()
    }

    /// Brings the sites that are off, and those that were, into their order: each is in one of the lists, once.
    pub fn settle_off_sites(&mut self) {
        let off = &mut self.measuring.off_sites;
        for list in [&mut *off, &mut self.was_off] {
            list.sort_unstable();
            list.dedup();
        }
        self.was_off.retain(|site| off.binary_search(site).is_err());
    }

    /// Returns the sites of which not all calls since the reset were counted.
    pub fn counted_in_part(&self) -> impl Iterator<Item = SiteId> {
        self.measuring.off_sites.iter().chain(&self.was_off).copied()
    }

    /// Returns the functions that are off because of the budget.
    pub fn over_budget(&self) -> &[OverBudget] {
        self.functions
            .as_ref()
            .map_or(&[], |functions| &functions.over_budget)
    }

    /// Returns what a call of a function costs that the compiler has prepared, if the program has such functions.
    fn function_cost(&self) -> Option<ScopeCost> {
        self.functions.as_ref()?.call_cost()
    }

    /// Returns whether [`cost_share`](Self::cost_share) is that of functions of `cargo tickscope`, with publisher and build.
    pub fn has_function_cost(&self) -> bool {
        self.function_cost().is_some()
    }

    /// Returns what a scope costs: that of functions in a program of `cargo tickscope`, or as samples saw it in this program, where that is known for the mode in force, or
    /// else as calibrated, without what the clock does to code that waits for memory.
    pub fn scope_cost(&self) -> ScopeCost {
        self.function_cost()
            .or_else(|| self.scope_cost_seen())
            .unwrap_or_else(|| self.own_cost())
    }

    /// Returns what a scope costs as samples saw it: all but the instructions that stand in the program itself. None in modes that take no
    /// samples, and where there are too few.
    pub fn scope_cost_seen(&self) -> Option<ScopeCost> {
        let since_reset_ns = self.capture.since_reset_ns;
        self.seen_cost?
            .scope_cost(self.measuring.samples, since_reset_ns, self.scope_calls())
    }

    /// Returns what a scope costs by itself, as calibrated: its instructions and clock reads, without what the clock does to code that waits
    /// for memory. The upper bound is at most one and a half times the lower one: where a scope costs less, it fills time in which
    /// the program waits, and that depends on the program.
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

    /// Returns the ticks of all rows in which threads worked: without the time in which they waited or had no CPU, where that
    /// is known.
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

    /// Returns the lower and the upper bound of the share of the time in which threads worked in scopes that measuring itself took,
    /// 0 to 1; of other values than time it took nothing. In a program of `cargo tickscope` the publisher's CPU time is in it, and
    /// in the upper bound what the build costs: it is how much more CPU time the program takes than its plain build, and may be above 1.
    pub fn cost_share(&self) -> (f64, f64) {
        let working = self.nanos(self.working_ticks()) as f64;
        if working <= 0.0 || self.values != Values::Time {
            return (0.0, 0.0);
        }
        let calls = self.scope_calls() as f64;
        if let Some(cost) = self.function_cost() {
            let (low, high) = Functions::cost_share(cost, calls, working);
            let cpu_ns: u64 = self.threads.iter().filter_map(|thread| thread.cpu_ns).sum();
            // Its time since the reset, if it took as much before.
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

    /// Whether reports have columns of time off the CPU. In sampled mode they have dashes. A program in which that is switched
    /// off, or that is older, has none.
    pub fn has_wait_columns(&self) -> bool {
        self.waits || self.capture.mode.is_sampling()
    }

    /// Whether the mean of `calls` calls that took `total_ns` together is below
    /// [`doubtful_below_ns`](Self::doubtful_below_ns). In mode off nothing is doubtful, nor are other values than time; in sampled mode a time of 0
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
