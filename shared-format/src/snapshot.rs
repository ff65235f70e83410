//! The snapshot: everything a program says of itself at one moment, as flat columns.
//!
//! Times stay in clock ticks until they are shown; [`Snapshot::nanos`] converts, rounding once. A node holds
//! what was counted in it *itself*; totals are sums over the subtree and are never stored, so that
//! self + children = total holds by construction.

mod sites;

use bincode::{Decode, Encode};

use crate::ids::{NO_PARENT, NodeId, SiteId, ThreadId};
use crate::latency::Latencies;

pub use self::sites::{Site, Sites};

/// One whole state of a program's call trees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Which program this is.
    pub process: Process,
    /// Which clock its ticks come from.
    pub clock: ClockFacts,
    /// When, why and how the picture was taken.
    pub capture: CaptureFacts,
    /// Sums since the program's first scope, which no reset touches.
    pub lifetime: Lifetime,
    /// The threads; finished ones are folded by name. A thread's index is its [`ThreadId`].
    pub threads: Vec<Thread>,
    /// The places in the source that nodes refer to.
    pub sites: Sites,
    /// The call trees of all threads, a thread's rows contiguous.
    pub nodes: Nodes,
    /// Clock errors per node, only where there were any, in row order.
    pub errors: Vec<NodeErrors>,
    /// What is measured, and what is left out.
    pub measuring: Measuring,
    /// How long finished calls took, where histograms are on.
    pub latencies: Latencies,
    /// Rows whose times are estimated, in row order.
    pub estimates: Vec<Estimate>,
    /// Rows that count without a clock, in row order: being here is what makes a row a counter. It has no time, no
    /// children, and is never open.
    pub counts: Vec<Count>,
    /// All of it is what happened in the last `since_reset_ns` of its capture, and not all since a reset; see
    /// `between` of `tickscope-analysis`.
    pub window: bool,
}

/// The program that carries the collector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Process {
    /// The name given to `start`, or the executable's.
    pub name: String,
    /// Its process id, in its own namespace.
    pub pid: u32,
    /// When the collector woke up in it: nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// How long ago that is, by the monotonic clock.
    pub uptime_ns: u64,
    /// What the collector wants its user to know, one sentence each with the next step.
    pub warnings: Vec<String>,
}

/// A clock that ticks are read from.
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
    /// A function of the program's own.
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

/// The clock in force, why it was chosen, and how it behaved.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct ClockFacts {
    /// Where ticks come from.
    pub source: ClockSource,
    /// Ticks in a second, as measured so far; above zero.
    pub ticks_per_second: f64,
    /// Why this clock: "invariant, kernel clocksource tsc", or why a better one was refused.
    pub reason: String,
    /// Gaps between two events that were not charged: the clock went backward or beyond the limit, or the mode was switched
    /// more often in between than is remembered.
    pub errors: u64,
    /// How often the clock was seen to break (suspend, migration); each closes the reset epoch.
    pub epoch: u32,
}

impl Default for ClockFacts {
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

/// How scopes are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum Mode {
    /// Two clock reads a scope.
    #[default]
    Exact,
    /// Exact counts; calls of short functions are timed now and then, and their times are estimates.
    Adaptive,
    /// Exact counts and no clock reads; times come from looking where each thread is, many times a second.
    Sampled,
    /// Nothing is measured.
    Off,
}

impl Mode {
    /// The name in settings, JSON and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Adaptive => "adaptive",
            Self::Sampled => "sampled",
            Self::Off => "off",
        }
    }

    /// All of them.
    pub const ALL: [Self; 4] = [Self::Exact, Self::Adaptive, Self::Sampled, Self::Off];

    /// The mode of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }
}

/// What is measured, and what is left out.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct Measuring {
    /// Whether latencies are collected.
    pub histograms: bool,
    /// How often the publisher looks where each thread is, a second; 0 unless sampled.
    pub sampling_hz: f64,
    /// How often it has looked since the reset.
    pub samples: u64,
    /// Which sites are switched off and on again, oldest first: the last that matches a site decides.
    pub rules: Vec<Rule>,
    /// The sites that are switched off now.
    pub off_sites: Vec<SiteId>,
}

/// Switches sites off or on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Rule {
    /// Which ones; see [`Pattern`](crate::pattern::Pattern).
    pub pattern: String,
    /// Off or on.
    pub off: bool,
}

/// How far the times of a row are estimates. The errors are standard errors: the true value lies within one of them
/// two times out of three, within two of them 19 times out of 20.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Estimate {
    /// The row.
    pub node: NodeId,
    /// Calls of it that were timed; 0 in sampled mode.
    pub timed: u64,
    /// Standard error of its self time, in ticks.
    pub self_error: u64,
    /// Standard error of its total time, in ticks.
    pub total_error: u64,
}

/// What a counter has added up. How often it was executed are its row's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Count {
    /// The row.
    pub node: NodeId,
    /// What was added since the reset.
    pub sum: u64,
}

/// Why a snapshot was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum CaptureKind {
    /// The interval had passed, or somebody asked to see.
    #[default]
    Periodic,
    /// The last of its reset epoch: what it shows is what the reset took away.
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

/// When, why and how the picture was taken.
#[derive(Clone, Debug, Default, PartialEq, Encode, Decode)]
pub struct CaptureFacts {
    /// How scopes were measured in this epoch.
    pub mode: Mode,
    /// Why it was taken.
    pub kind: CaptureKind,
    /// Counts captures of the program, from 1; also counts those that no record shows.
    pub seq: u64,
    /// The program's clock at the capture, in ticks.
    pub tick: u64,
    /// The wall clock at the capture: nanoseconds since the Unix epoch.
    pub unix_ns: u64,
    /// The time between two records in force, in nanoseconds.
    pub interval_ns: u64,
    /// Counts resets; never goes back, an undo raises it as well.
    pub reset_epoch: u64,
    /// How long the counters have been running, in nanoseconds.
    pub since_reset_ns: u64,
    /// The reset epoch that goes on, because an undo took back the reset that closed it: its closing record no longer
    /// counts.
    pub withdraws: Option<u64>,
    /// Rows that were summed up in "(pruned)" rows, because the record would have been too long.
    pub pruned: u64,
    /// Calls that found no place: depth or node limit, re-entrance, a thread already torn down.
    pub dropped: u64,
    /// Guards that were leaked, closed out of order or on another thread.
    pub unbalanced: u64,
    /// What measuring costs.
    pub cost: Cost,
    /// How many viewers held a request slot.
    pub viewers: u32,
}

/// What measuring costs, as calibrated in this program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Encode, Decode)]
pub struct Cost {
    /// A scope between work that overlaps with its clock reads, in nanoseconds.
    pub lower_ns: f64,
    /// A scope in an empty loop, in nanoseconds.
    pub upper_ns: f64,
    /// The publisher's CPU time so far, in nanoseconds.
    pub publisher_cpu_ns: u64,
    /// Its share of one core, 0 to 1, over the last interval.
    pub publisher_share: f64,
}

/// Sums over everything that was ever counted, resets or not, folded threads included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Lifetime {
    /// Calls of all nodes.
    pub calls: u64,
    /// Self ticks of all nodes; time outside any scope is not in it. In adaptive mode the part of calls that were not timed
    /// is an estimate, which later calls correct: it may become less.
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
    /// Its clock stands still (`tickscope::pause`).
    Paused,
    /// Ended; all ended threads of one name share a row.
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

    /// The same for reading. Whether a thread inside a scope computes or waits is not known from its state.
    pub fn said(self) -> &'static str {
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
    /// How many threads stand in this row: 1 for a live one.
    pub count: u64,
    /// CPU time since the reset, in nanoseconds, where the system tells.
    pub cpu_ns: Option<u64>,
    /// Ticks outside any scope since the reset; no row of the tree.
    pub outside_ticks: u64,
    /// First row of its call tree.
    pub first_row: u32,
    /// Number of its rows.
    pub rows: u32,
    /// Its open scopes, outermost first.
    pub open: Vec<OpenFrame>,
}

/// A scope that has begun and not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct OpenFrame {
    /// Its row.
    pub node: NodeId,
    /// The program's clock when it began, in ticks, moved on by pauses since; 0 where that was not measured.
    pub began_tick: u64,
}

/// Clock errors seen in one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct NodeErrors {
    /// Its row.
    pub node: NodeId,
    /// Gaps not charged.
    pub count: u64,
}

/// The call trees as columns of one length, parents before children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

    /// True where there is no row.
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// Adds a row and gives its id.
    pub fn push(&mut self, parent: Option<NodeId>, site: SiteId, calls: u64, self_ticks: u64) -> NodeId {
        let id = NodeId(self.parent.len() as u32);
        self.parent.push(parent.map_or(NO_PARENT, |p| p.0));
        self.site.push(site.0);
        self.calls.push(calls);
        self.self_ticks.push(self_ticks);
        id
    }

    /// Makes room for so many more rows.
    pub fn reserve(&mut self, rows: usize) {
        self.parent.reserve(rows);
        self.site.reserve(rows);
        self.calls.reserve(rows);
        self.self_ticks.reserve(rows);
    }

    /// The parent of a row, none at the top of a thread.
    ///
    /// # Panics
    /// Where the row does not exist.
    pub fn parent_of(&self, node: NodeId) -> Option<NodeId> {
        match self.parent[node.index()] {
            NO_PARENT => None,
            row => Some(NodeId(row)),
        }
    }

    /// Sums a column of self values over subtrees: the total of each row.
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

impl Snapshot {
    /// Ticks as nanoseconds, rounded to the nearest.
    pub fn nanos(&self, ticks: u64) -> u64 {
        // Products up to 2^53 are exact in f64; beyond, the error stays far below the clock's own.
        let ns = ticks as f64 * 1e9 / self.clock.ticks_per_second;
        ns.round() as u64
    }

    /// Self time of each row in nanoseconds: each converted and rounded once. All totals in nanoseconds are
    /// sums of these.
    pub fn self_nanos(&self) -> Vec<u64> {
        self.nodes
            .self_ticks
            .iter()
            .map(|&ticks| self.nanos(ticks))
            .collect()
    }

    /// The rows of a thread.
    ///
    /// # Panics
    /// Where the thread does not exist.
    pub fn rows_of(&self, thread: ThreadId) -> std::ops::Range<usize> {
        let t = &self.threads[thread.index()];
        t.first_row as usize..(t.first_row + t.rows) as usize
    }

    /// Sum of all calls since the reset.
    pub fn calls(&self) -> u64 {
        self.nodes.calls.iter().sum()
    }

    /// Sum of all self ticks since the reset: the measured time, without what was outside any scope.
    pub fn measured_ticks(&self) -> u64 {
        self.nodes.self_ticks.iter().sum()
    }

    /// How far the times of a row are estimates; none where they are exact.
    pub fn estimate_of(&self, node: NodeId) -> Option<&Estimate> {
        let at = self
            .estimates
            .binary_search_by_key(&node, |estimate| estimate.node);
        at.ok().map(|at| &self.estimates[at])
    }

    /// What a row has added up; none where it is no counter.
    pub fn sum_of(&self, node: NodeId) -> Option<u64> {
        let at = self.counts.binary_search_by_key(&node, |count| count.node);
        at.ok().map(|at| self.counts[at].sum)
    }

    /// Sum of all calls of scopes since the reset: those that cost two looks at the clock.
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

    /// By row, what it has added up; none where it is no counter.
    pub fn sums(&self) -> Vec<Option<u64>> {
        let mut sums = vec![None; self.nodes.len()];
        for count in &self.counts {
            sums[count.node.index()] = Some(count.sum);
        }
        sums
    }

    /// The site of a row.
    ///
    /// # Panics
    /// Where the row does not exist.
    pub fn site_of(&self, node: NodeId) -> &Site {
        &self.sites[self.nodes.site[node.index()] as usize]
    }

    /// The lower and upper bound of measuring's share in the measured time, 0 to 1.
    pub fn cost_share(&self) -> (f64, f64) {
        let measured = self.nanos(self.measured_ticks()) as f64;
        if measured <= 0.0 {
            return (0.0, 0.0);
        }
        let calls = self.scope_calls() as f64;
        let share = |ns: f64| (calls * ns / measured).clamp(0.0, 1.0);
        (
            share(self.capture.cost.lower_ns),
            share(self.capture.cost.upper_ns),
        )
    }

    /// The mean of a call in nanoseconds below which it is too short to tell much: three times what measuring one
    /// costs at most.
    pub fn doubtful_below_ns(&self) -> f64 {
        3.0 * self.capture.cost.upper_ns
    }

    /// Whether so many calls that took so long together are as short as that. Where nothing is measured nothing is
    /// doubted, and where samples give the times, none says nothing of the mean.
    pub fn is_doubtful(&self, total_ns: u64, calls: u64) -> bool {
        let unknown = match self.capture.mode {
            Mode::Off => true,
            Mode::Sampled => total_ns == 0,
            Mode::Exact | Mode::Adaptive => false,
        };
        calls > 0 && !unknown && (total_ns as f64) < self.doubtful_below_ns() * calls as f64
    }
}
