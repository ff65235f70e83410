//! One thread's call tree: the thread's position in it, and the effect of a beginning or an end at a given tick. The code here
//! reads no clock and does no I/O.
//!
//! Nodes count calls and *self* ticks. Every beginning and every end charges the ticks since the last event to the node that was
//! current. Totals are summed up later. So self + children = total, and no value is negative, even if a capture reads parts of
//! two moments.
//!
//! `current` is taken out during an event and put back at its end. A signal handler or an instrumented allocator that finds
//! `current` empty has interrupted an event; its own event is dropped and counted as dropped. If a capture on another thread
//! finds `current` empty, it may have read parts of two moments.

mod async_calls;
mod children;
mod ends;
#[cfg(all(feature = "hooks", target_arch = "x86_64"))]
mod functions;
mod gaps;
mod measuring;
mod pause;
mod unseen_ends;
mod waiting;
mod watching;

use tickscope_format::snapshot::Mode;

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering, add, fence};
use crate::enabled::record::arena::{Array, Column, Ref, Tagged, zeroed};
use crate::enabled::record::deepest_nodes::DeepestNodes;
use crate::enabled::record::frames::Frames;
use crate::enabled::record::in_flight::OwnSlots;
use crate::enabled::record::latency::Latencies;
use crate::enabled::record::measures::NodeMeasures;
use crate::enabled::record::node::{Node, Nodes};
use crate::enabled::record::numbers::NumbersOfTree;
use crate::enabled::record::open_spans::OpenSpans;
use crate::enabled::record::waits::Waits;
use crate::enabled::record::watching::Watching;

/// The value of `last` while no time is charged. No clock reaches this value.
pub(crate) const PAUSED: u64 = 1 << 63;

/// The maximum gap between events if no limit is set. A larger gap is a step backward of the clock.
pub(crate) const NO_LIMIT: u64 = PAUSED - 1;

/// The number of slots in the first child table.
const FIRST_TABLE: u32 = 512;

zeroed! {
    /// A thread's call tree. The thread writes it, and other threads read it.
    #[repr(C, align(64))]
    #[derive(Debug)]
    pub(crate) struct Tree {
        /// The innermost open node; `None` during an event.
        pub(crate) current: Ref<Node>,
        /// The tick of the last event, or [`PAUSED`].
        pub(crate) last: AtomicU64,
        /// The largest gap between two events that is charged without being examined; 0 while paused.
        limit: AtomicU64,
        /// The child that is probably entered next. A wrong guess only costs time.
        guess: Ref<Node>,
        /// Among the nodes with a latency, the node whose call ended last. Its latency remembers the sibling that is entered
        /// next.
        ended: Ref<Node>,
        /// Number of calls that could not be counted in a node.
        pub(crate) dropped: AtomicU64,
        /// Number of guards that were leaked or closed out of order.
        pub(crate) unbalanced: AtomicU64,
        /// Not 0 while an event that may skip the clock is handled, so that samples can find the cost of measuring. If an event
        /// of a signal handler interrupts the event, this becomes 0 too early.
        in_event: AtomicU32,
        /// How events are handled: a [`Path`]. Other threads store only [`Path::Alarm`] here, and the thread itself stores all
        /// other paths.
        path: AtomicU32,
        /// Number of pauses that have not ended.
        pauses: AtomicU32,
        /// Number of gaps that were not charged.
        pub(crate) clock_errors: AtomicU64,
        /// The root, which collects the time outside of all scopes.
        root: Ref<Node>,
        /// All nodes, the root first.
        pub(crate) nodes: Nodes,
        /// Hash table of children by (parent, site), with open addressing and linear probing. Only the tree's thread uses it.
        table: Array<Tagged<Node>>,
        /// Durations of the calls of each node.
        pub(crate) latencies: Latencies,
        /// Durations of the calls of each node that is a future.
        pub(crate) async_latencies: Latencies,
        /// The futures that the thread polls, and its free slots for new calls.
        pub(crate) slots: OwnSlots,
        /// Number of gaps of each node that were not charged.
        errors: Column<AtomicU64>,
        /// Amounts of each node other than calls and time.
        pub(crate) measures: Column<NodeMeasures>,
        /// Numbers given to values and gauges.
        pub(crate) numbers: NumbersOfTree,
        /// State of measuring the time off the CPU.
        pub(crate) waits: Waits,
        /// The open functions that the compiler has prepared.
        pub(crate) frames: Frames,
        /// The largest gap between two events that is charged.
        gap_max: AtomicU64,
        /// The value of `limit` when not paused.
        limit_set: AtomicU64,
        /// Not 0 if the thread is excluded.
        excluded: AtomicU32,
        /// Not 0 if new nodes get a latency.
        pub(crate) wants_latencies: AtomicU32,
        /// Tick at which the present pause began.
        paused_at: AtomicU64,
        /// The word of the newest mode switch that the thread has caught up with.
        pub(crate) caught_up_to: AtomicU64,
        /// The state of the random numbers that choose which calls are timed in adaptive mode.
        pub(crate) random: AtomicU64,
        /// The maximum depth of a node.
        depth_max: AtomicU32,
        /// The maximum number of nodes.
        nodes_max: AtomicU32,
        /// Not 0 if blocks allocated in this life of the tree may be in the table of live blocks.
        has_sampled_blocks: AtomicU32,
        /// The watched call that is open, and the sums of earlier watched calls.
        pub(crate) watching: Watching,
        /// The open spans, and free places for new spans.
        pub(crate) spans: OpenSpans,
        /// Stack addresses at which the deepest nodes were made.
        deepest: DeepestNodes,
        /// Ticks that the clock has stepped backward; 0 once a step forward has made up for them.
        stepped_back: AtomicU64,
    }
}

/// How events are handled. The order matters: events of the last three paths may skip the clock, and from [`Self::Fast`] on,
/// amounts are added without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Path {
    /// The mode may have been switched, and the thread has to catch up.
    Alarm,
    /// A watched call is open, in the exact or the adaptive mode with the time stamp counter.
    Watched,
    /// A watched call is open, with another clock.
    WatchedExact,
    Off,
    /// The exact mode with the time stamp counter.
    Fast,
    /// The exact mode with another clock.
    Exact,
    /// The adaptive mode with another clock.
    AdaptiveExact,
    /// The adaptive mode with the time stamp counter.
    Adaptive,
    Sampled,
}

impl Path {
    /// Returns the path of a mode, in a process whose exact mode takes the path `exact`.
    pub(crate) fn of(mode: Mode, exact: Self) -> Self {
        match mode {
            Mode::Adaptive if exact == Self::Fast => Self::Adaptive,
            Mode::Adaptive => Self::AdaptiveExact,
            Mode::Sampled => Self::Sampled,
            Mode::Off => Self::Off,
            Mode::Exact | _ => exact,
        }
    }

    fn numbered(number: u32) -> Self {
        use Path::{Adaptive, AdaptiveExact, Alarm, Exact, Fast, Off, Sampled, Watched, WatchedExact};
        [
            Watched,
            WatchedExact,
            Off,
            Fast,
            Exact,
            AdaptiveExact,
            Adaptive,
            Sampled,
        ]
        .into_iter()
        .find(|path| *path as u32 == number)
        .unwrap_or(Alarm)
    }

    /// Returns the path that replaces this path while a watched call is open, if calls can be watched on this path.
    fn when_watched(self) -> Option<Self> {
        match self {
            Self::Fast | Self::Adaptive => Some(Self::Watched),
            Self::Exact | Self::AdaptiveExact => Some(Self::WatchedExact),
            Self::Alarm | Self::Watched | Self::WatchedExact | Self::Off | Self::Sampled => None,
        }
    }
}

impl Tree {
    /// Begins a life of the tree at tick `now`, without nodes but the root. Returns false if there is no memory.
    pub(crate) fn open(&self, now: u64, limit: u64, depth_max: u32, nodes_max: u32) -> bool {
        if !self.empty_table(FIRST_TABLE) {
            return false;
        }
        self.nodes.clear();
        self.latencies.clear();
        self.numbers.clear();
        self.async_latencies.clear();
        self.slots.clear();
        self.frames.clear();
        self.watching.clear();
        self.spans.clear();
        self.deepest.clear();
        self.stepped_back.store(0, Ordering::Relaxed);
        self.clear_measures(0);
        let Some(root) = self.nodes.add(None, None) else {
            return false;
        };
        // The guess must not be a node of an earlier life, which may have the same site and the same parent.
        self.guess.set(None);
        self.ended.set(None);
        self.root.set(Some(root));
        self.dropped.store(0, Ordering::Relaxed);
        self.unbalanced.store(0, Ordering::Relaxed);
        self.clock_errors.store(0, Ordering::Relaxed);
        self.in_event.store(0, Ordering::Relaxed);
        self.pauses.store(0, Ordering::Relaxed);
        self.excluded.store(0, Ordering::Relaxed);
        self.gap_max.store(limit, Ordering::Relaxed);
        self.limit_set.store(limit, Ordering::Relaxed);
        self.limit.store(limit, Ordering::Relaxed);
        self.depth_max.store(depth_max, Ordering::Relaxed);
        self.nodes_max.store(nodes_max, Ordering::Relaxed);
        self.has_sampled_blocks.store(0, Ordering::Relaxed);
        // Any number but 0 works, if it differs between threads.
        self.random.store(now | 1, Ordering::Relaxed);
        self.last.store(now, Ordering::Release);
        self.current.set_release(Some(root));
        true
    }

    /// Returns whether events take this path.
    #[inline(always)]
    pub(crate) fn is(&self, path: Path) -> bool {
        self.path.load(Ordering::Relaxed) == path as u32
    }

    /// Returns whether events may skip the clock.
    #[inline(always)]
    pub(crate) fn may_skip_clock(&self) -> bool {
        self.path.load(Ordering::Relaxed) >= Path::AdaptiveExact as u32
    }

    pub(crate) fn path(&self) -> Path {
        Path::numbered(self.path.load(Ordering::Relaxed))
    }

    /// Sets the path of events. Other threads may set only the alarm.
    pub(crate) fn set_path(&self, path: Path) {
        self.path.store(path as u32, Ordering::Relaxed);
    }

    /// Takes `current` out, which marks an event in progress. Returns `None` if an event is in progress already.
    #[inline(always)]
    pub(crate) fn take(&self) -> Option<&'static Node> {
        let current = self.current.get()?;
        self.mark();
        Some(current)
    }

    /// Takes `current` out. No event may be in progress.
    #[inline(always)]
    pub(crate) fn mark(&self) {
        self.current.set(None);
        // SYNC POINT: the mark before the counters (meets the fence in `capture`). On x86 this is only a compiler barrier.
        fence(Ordering::Release);
    }

    /// Sets whether an event that does not take `current` out is being handled.
    #[inline(always)]
    pub(crate) fn set_in_event(&self, is: bool) {
        self.in_event.store(is.into(), Ordering::Relaxed);
    }

    /// Returns the innermost open node; `None` while an event is handled.
    pub(crate) fn outside_events(&self) -> Option<&'static Node> {
        if self.in_event.load(Ordering::Relaxed) != 0 {
            return None;
        }
        self.current.get_acquire()
    }

    /// Puts `current` back, which ends the event.
    #[inline(always)]
    pub(crate) fn put(&self, current: &'static Node) {
        // SYNC POINT: the counters before `current`.
        self.current.set_release(Some(current));
    }

    /// Begins `child` at tick `now`, and counts `calls` calls. Must be called while `current` is taken out. Returns `child`, so
    /// that callers need not keep it across the call.
    #[inline(always)]
    pub(crate) fn begin(
        &self,
        current: &'static Node,
        child: &'static Node,
        now: u64,
        calls: u64,
    ) -> &'static Node {
        // Each branch ends with at most one function call, so the common branch saves no registers.
        let gap = now.wrapping_sub(self.last.load(Ordering::Relaxed));
        if gap > self.limit.load(Ordering::Relaxed) {
            return self.begin_oddly(current, child, now, calls);
        }
        self.charge_gap(current, gap, now);
        child.began.store(now, Ordering::Relaxed);
        add(&child.calls, calls);
        self.guess.copy(&child.recent);
        self.put(child);
        child
    }

    #[cold]
    #[inline(never)]
    fn begin_oddly(
        &self,
        current: &'static Node,
        child: &'static Node,
        now: u64,
        calls: u64,
    ) -> &'static Node {
        let now = self.charge_unusual_gap(current, now).unwrap_or(now);
        child.began.store(now, Ordering::Relaxed);
        add(&child.calls, calls);
        self.put(child);
        child
    }
}

#[cfg(test)]
pub(crate) mod tests;
