//! One thread's call tree: the thread's position in it, and what happens when a call begins or ends at a given tick. The code
//! here reads no clock and does no I/O.
//!
//! Nodes count calls and *self* ticks. Whenever a call begins or ends, the ticks since the last event are charged to the node
//! that was current. Totals are summed up later. So self + children = total, and no value is negative, even if a capture reads
//! some nodes before an event and others after it.
//!
//! `current` is taken out during an event and put back at its end. A signal handler or an instrumented allocator that finds
//! `current` empty has interrupted an event; its own event is dropped and counted as dropped. If a capture on another thread
//! finds `current` empty, it may have read some values from before the event and others from after it.

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

/// The maximum gap between events if no limit is set. A gap that seems larger means that the clock stepped backward and the
/// subtraction wrapped around.
pub(crate) const NO_LIMIT: u64 = PAUSED - 1;

/// The number of slots in the first child table.
const FIRST_TABLE: u32 = 512;

zeroed! {
    /// A thread's call tree. Its thread writes it, and other threads read it. Most events use only the first two cache lines.
    #[repr(C, align(64))]
    #[derive(Debug)]
    pub(crate) struct Tree {
        /// The innermost open node; `None` during an event.
        pub(crate) current: Ref<Node>,
        /// The tick of the last event, or [`PAUSED`].
        pub(crate) last: AtomicU64,
        /// The largest gap between two events that is charged without further examination; 0 while paused.
        limit: AtomicU64,
        /// The child that will probably be entered next. A wrong guess only costs time.
        guess: Ref<Node>,
        /// The node with a latency whose call ended last. Its latency remembers the sibling that is entered next.
        ended: Ref<Node>,
        /// Number of calls that could not be counted in a node.
        pub(crate) dropped: AtomicU64,
        /// Number of guards that were leaked or closed out of order.
        pub(crate) unbalanced: AtomicU64,
        /// Not 0 while an event that may skip the clock is being handled, so that samples taken then count as the cost of
        /// measuring. If a signal handler interrupts the event with an event of its own, this becomes 0 too early.
        in_event: AtomicU32,
        /// How events are handled: a [`Path`]. Other threads store only [`Path::Alarm`] here, and the thread itself stores all
        /// other paths.
        path: AtomicU32,
        /// The largest gap between two events that is charged.
        gap_max: AtomicU64,
        /// The value that `limit` has while the thread is not paused.
        limit_set: AtomicU64,
        /// How many ticks the clock has stepped backward; 0 once a step forward has made up for this.
        stepped_back: AtomicU64,
        /// State of the random number generator that chooses which calls are timed in adaptive mode.
        pub(crate) random: AtomicU64,
        /// The open calls of functions that the compiler has instrumented.
        pub(crate) frames: Frames,
        /// Number of pauses that have begun and not ended yet.
        pauses: AtomicU32,
        /// Number of gaps that were not charged.
        pub(crate) clock_errors: AtomicU64,
        /// The root, which is charged with the time outside all scopes.
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
        /// Number of gaps that were not charged, by node.
        errors: Column<AtomicU64>,
        /// What each node counts apart from calls and time.
        pub(crate) measures: Column<NodeMeasures>,
        /// Numbers given to values and gauges.
        pub(crate) numbers: NumbersOfTree,
        /// State for measuring the time that the thread is off its CPU.
        pub(crate) waits: Waits,
        /// Not 0 if the thread is excluded.
        excluded: AtomicU32,
        /// Not 0 if new nodes get a latency.
        pub(crate) wants_latencies: AtomicU32,
        /// Tick at which the current pause began.
        paused_at: AtomicU64,
        /// The word of the newest mode switch that the thread has caught up with.
        pub(crate) caught_up_to: AtomicU64,
        /// The maximum depth of a node.
        depth_max: AtomicU32,
        /// The maximum number of nodes.
        nodes_max: AtomicU32,
        /// Not 0 if blocks that this thread has allocated may be in the table of live blocks.
        has_sampled_blocks: AtomicU32,
        /// The watched call that is open, and the sums of earlier watched calls.
        pub(crate) watching: Watching,
        /// The open spans, and free slots for new spans.
        pub(crate) spans: OpenSpans,
        /// Stack addresses at which the deepest nodes were made, to recognize leaked guards.
        deepest: DeepestNodes,
    }
}

/// How events are handled. The order of the paths matters: on the last three, events may skip the clock, and from [`Self::Fast`]
/// on, amounts are added without further checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Path {
    /// The mode may have been switched, and the thread has to catch up.
    Alarm,
    /// A watched call is open, in exact or adaptive mode, with the time stamp counter as the clock.
    Watched,
    /// A watched call is open, in exact or adaptive mode, with another clock.
    WatchedExact,
    Off,
    /// Exact mode, with the time stamp counter as the clock.
    Fast,
    /// Exact mode, with another clock.
    Exact,
    /// Adaptive mode, with another clock.
    AdaptiveExact,
    /// Adaptive mode, with the time stamp counter as the clock.
    Adaptive,
    Sampled,
}

impl Path {
    /// Returns the path that events take in a mode. `exact` is the path that they take in exact mode in this process.
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

    /// Returns the path to take instead of this one while a watched call is open; `None` if calls cannot be watched on this path.
    fn when_watched(self) -> Option<Self> {
        match self {
            Self::Fast | Self::Adaptive => Some(Self::Watched),
            Self::Exact | Self::AdaptiveExact => Some(Self::WatchedExact),
            Self::Alarm | Self::Watched | Self::WatchedExact | Self::Off | Self::Sampled => None,
        }
    }
}

impl Tree {
    /// Opens the tree for a new thread at tick `now`, with no node but the root. Returns false if there is no memory.
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
        // The guess must not be a node that an earlier thread has left, which may have the same site and the same parent.
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
        // Any seed but 0 works, as long as it differs between threads.
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

    /// Takes `current` out, which marks that an event is in progress. Returns `None` if an event is already in progress.
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
        // SYNC POINT: the mark is stored before the counters (pairs with the fence in `capture/tree_reader.rs`). On x86 this is
        // only a compiler barrier.
        fence(Ordering::Release);
    }

    /// Sets whether the thread is handling an event that does not take `current` out.
    #[inline(always)]
    pub(crate) fn set_in_event(&self, is: bool) {
        self.in_event.store(is.into(), Ordering::Relaxed);
    }

    /// Returns the innermost open node; `None` while an event is being handled.
    pub(crate) fn outside_events(&self) -> Option<&'static Node> {
        if self.in_event.load(Ordering::Relaxed) != 0 {
            return None;
        }
        self.current.get_acquire()
    }

    /// Puts `current` back, which ends the event.
    #[inline(always)]
    pub(crate) fn put(&self, current: &'static Node) {
        // SYNC POINT: the counters are stored before `current`.
        self.current.set_release(Some(current));
    }

    /// Begins `calls` calls of `child` at tick `now`. Must be called while `current` is taken out. Returns `child`, so that
    /// callers need not save it across this call.
    #[inline(always)]
    pub(crate) fn begin(
        &self,
        current: &'static Node,
        child: &'static Node,
        now: u64,
        calls: u64,
    ) -> &'static Node {
        // Each branch ends with at most one function call, so the common branch need not save registers.
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
