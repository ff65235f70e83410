//! One thread's call tree: the thread's place in it, and the effect of a begin or an end at a given tick. The code here
//! reads no clock and does no I/O.
//!
//! Nodes count calls and *self* ticks. Every begin and every end charges the ticks since the last event to the node that was
//! current. Totals are summed up later. So self + children = total, and no value is negative, even if a capture reads parts of
//! two moments.
//!
//! `current` is taken out during an event and put back at its end. A signal handler or an instrumented allocator that finds no
//! node there has interrupted an event; its own event is dropped and counted as dropped. A capture on another thread learns from
//! the same mark that it may have read parts of two moments.

mod async_calls;
mod children;
#[cfg(all(feature = "hooks", target_arch = "x86_64"))]
mod functions;
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
use crate::enabled::record::journal::Kind;
use crate::enabled::record::latency::Latencies;
use crate::enabled::record::measures::NodeMeasures;
use crate::enabled::record::node::{Node, Nodes};
use crate::enabled::record::numbers::NumbersOfTree;
use crate::enabled::record::open_spans::OpenSpans;
use crate::enabled::record::waits::Waits;
use crate::enabled::record::watching::Watching;

/// The value of `last` while no time is charged. No clock reaches it.
pub(crate) const PAUSED: u64 = 1 << 63;

/// The largest gap that is charged without a limit. A larger one is a step backward.
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
        /// The largest gap between two events that is charged without a closer look; 0 while paused.
        limit: AtomicU64,
        /// The child that is probably entered next. A wrong guess only costs time.
        guess: Ref<Node>,
        /// The node with a latency whose call ended last. It learns the node that is entered after it.
        ended: Ref<Node>,
        /// Calls that could not be counted in a node.
        pub(crate) dropped: AtomicU64,
        /// Guards that were leaked or closed out of order.
        pub(crate) unbalanced: AtomicU64,
        /// Not 0 while an event that may skip the clock is handled, so that samples know the cost of measuring. A signal
        /// handler's event makes it 0 too early.
        in_event: AtomicU32,
        /// How events are handled: a [`Path`]. Other threads store only [`Path::Alarm`] here, and the thread itself stores all
        /// other paths.
        path: AtomicU32,
        /// Number of pauses that have not ended.
        pauses: AtomicU32,
        /// Gaps that were not charged.
        pub(crate) clock_errors: AtomicU64,
        /// The root, which collects the time outside of all scopes.
        root: Ref<Node>,
        /// All nodes, the root first.
        pub(crate) nodes: Nodes,
        /// Finds a child by (parent, site), with open addressing and linear probing. Only the owner uses it.
        table: Array<Tagged<Node>>,
        /// Durations of the calls of each node.
        pub(crate) latencies: Latencies,
        /// Durations of the calls of each node that is a future.
        pub(crate) async_latencies: Latencies,
        /// The futures that the thread polls, and its free slots for more.
        pub(crate) slots: OwnSlots,
        /// Gaps of each node that were not charged.
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
        /// The depth of the deepest node allowed.
        depth_max: AtomicU32,
        /// The largest number of nodes allowed.
        nodes_max: AtomicU32,
        /// Not 0 if blocks of this life may be in the table of live blocks.
        has_sampled_blocks: AtomicU32,
        /// The watched call that is open, and the sums of earlier watched calls.
        pub(crate) watching: Watching,
        /// The spans that are open, and places for more.
        pub(crate) spans: OpenSpans,
        /// Places on the stack where the deepest nodes were made.
        deepest: DeepestNodes,
        /// Ticks by which the clock has gone back and has not gone forward again.
        stepped_back: AtomicU64,
    }
}

/// How events are handled. The order matters: events of the last three may skip the clock, and from [`Self::Fast`] on
/// amounts are added without a closer look.
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
}

impl Tree {
    pub(crate) const fn new() -> Self {
        Self {
            current: Ref::none(),
            last: AtomicU64::new(PAUSED),
            limit: AtomicU64::new(0),
            guess: Ref::none(),
            ended: Ref::none(),
            dropped: AtomicU64::new(0),
            unbalanced: AtomicU64::new(0),
            in_event: AtomicU32::new(0),
            path: AtomicU32::new(Path::Alarm as u32),
            pauses: AtomicU32::new(0),
            clock_errors: AtomicU64::new(0),
            root: Ref::none(),
            nodes: Nodes::new(),
            table: Array::empty(),
            latencies: Latencies::new(),
            async_latencies: Latencies::new(),
            slots: OwnSlots::new(),
            errors: Column::new(),
            measures: Column::new(),
            numbers: NumbersOfTree::new(),
            waits: Waits::new(),
            frames: Frames::new(),
            gap_max: AtomicU64::new(NO_LIMIT),
            limit_set: AtomicU64::new(NO_LIMIT),
            excluded: AtomicU32::new(0),
            wants_latencies: AtomicU32::new(0),
            paused_at: AtomicU64::new(0),
            caught_up_to: AtomicU64::new(0),
            random: AtomicU64::new(0),
            depth_max: AtomicU32::new(0),
            nodes_max: AtomicU32::new(0),
            has_sampled_blocks: AtomicU32::new(0),
            watching: Watching::new(),
            spans: OpenSpans::new(),
            deepest: DeepestNodes::new(),
            stepped_back: AtomicU64::new(0),
        }
    }

    /// Begins a life of the tree: empty, at tick `now`. Returns false if there is no memory.
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
        // A node of an earlier life may have the same site and the same parent.
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

    /// Returns the path of events.
    pub(crate) fn path(&self) -> Path {
        use Path::{Adaptive, AdaptiveExact, Alarm, Exact, Fast, Off, Sampled, Watched, WatchedExact};
        [
            Fast,
            Exact,
            Watched,
            WatchedExact,
            Off,
            AdaptiveExact,
            Adaptive,
            Sampled,
        ]
        .into_iter()
        .find(|path| self.is(*path))
        .unwrap_or(Alarm)
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
        // SYNC POINT: mark before counters (meets the fence in `capture`). A compiler barrier on x86.
        fence(Ordering::Release);
    }

    /// Sets whether an event is handled that does not take `current` out.
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

    /// Puts `current` in, which ends the event.
    #[inline(always)]
    pub(crate) fn put(&self, current: &'static Node) {
        // SYNC POINT: counters before current.
        self.current.set_release(Some(current));
    }

    /// Charges the time since the last event to `node`. Returns the tick from which on time counts again: `now`, or a later tick
    /// if looking at the gap took time. The beginnings of the open calls have moved forward by that time. Returns `None` if the
    /// time could not be charged.
    #[inline(always)]
    pub(crate) fn charge(&self, node: &'static Node, now: u64) -> Option<u64> {
        let gap = now.wrapping_sub(self.last.load(Ordering::Relaxed));
        let is_usual = gap <= self.limit.load(Ordering::Relaxed);
        if is_usual {
            self.charge_gap(node, gap, now);
            return Some(now);
        }
        self.charge_unusual_gap(node, now)
    }

    /// Charges the time until a tick in the past, at which the mode was switched.
    pub(crate) fn charge_past(&self, node: &'static Node, then: u64) {
        let gap = then.wrapping_sub(self.last.load(Ordering::Relaxed));
        if gap > self.gap_max.load(Ordering::Relaxed) {
            self.refuse_gap(node, then);
            return;
        }
        let gap = self.take_step_out(gap);
        self.place_past_wait(node, gap, then);
        self.charge_gap(node, gap, then);
    }

    /// Lowers the limit of gaps that are charged without a closer look.
    pub(crate) fn lower_limit(&self, limit: u64) {
        let limit = limit.min(self.gap_max.load(Ordering::Relaxed));
        self.limit_set.store(limit, Ordering::Relaxed);
        if self.last.load(Ordering::Relaxed) != PAUSED {
            self.limit.store(limit, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    fn charge_gap(&self, node: &'static Node, gap: u64, now: u64) {
        add(&node.self_ticks, gap);
        // SYNC POINT: counters before last.
        self.last.store(now, Ordering::Release);
    }

    /// Handles a gap in which the thread may have been off its CPU, and a gap that is not charged, because the thread
    /// is paused, or the clock went backward or too far forward. Returns the same as [`Self::charge`].
    #[cold]
    #[inline(never)]
    fn charge_unusual_gap(&self, node: &'static Node, now: u64) -> Option<u64> {
        let gap = now.wrapping_sub(self.last.load(Ordering::Relaxed));
        if gap > self.gap_max.load(Ordering::Relaxed) {
            self.refuse_gap(node, now);
            return None;
        }
        let gap = self.take_step_out(gap);
        let looked = self.place_wait(node, gap, now);
        self.charge_gap(node, gap, now);
        if looked > 0 {
            self.leave_out(node, now, looked);
        }
        Some(now + looked)
    }

    /// Excludes the `ticks` since tick `then`, which belong to no scope, from the call of `innermost` and the calls
    /// around it. No call inside `innermost` may have a known beginning.
    pub(crate) fn leave_out(&self, innermost: &'static Node, then: u64, ticks: u64) {
        let mut at = Some(innermost);
        while let Some(node) = at {
            if let Some(began) = node.known_beginning() {
                node.began.store(began + ticks, Ordering::Relaxed);
            }
            at = node.parent.get();
        }
        self.last.store(then + ticks, Ordering::Release);
    }

    fn refuse_gap(&self, node: &'static Node, now: u64) {
        let last = self.last.load(Ordering::Relaxed);
        if last == PAUSED {
            return;
        }
        self.lose_gap(node);
        if let Some(back) = last.checked_sub(now) {
            let step = self.stepped_back.load(Ordering::Relaxed).saturating_add(back);
            self.stepped_back.store(step, Ordering::Relaxed);
            // The lower limit makes the step forward get a closer look, also if it is a usual gap.
            let limit = self.limit_set.load(Ordering::Relaxed);
            self.limit.store(limit.min(step - 1), Ordering::Relaxed);
        }
        self.last.store(now, Ordering::Release);
    }

    /// Returns a gap without the step forward by which the clock has made up for a step backward. Otherwise the time
    /// before the step backward would be charged again.
    pub(crate) fn without_step(&self, gap: u64) -> u64 {
        let step = self.stepped_back.load(Ordering::Relaxed);
        gap.checked_sub(step).unwrap_or(gap)
    }

    fn take_step_out(&self, gap: u64) -> u64 {
        let without = self.without_step(gap);
        if without != gap {
            self.forget_step();
        }
        without
    }

    fn forget_step(&self) {
        self.stepped_back.store(0, Ordering::Relaxed);
        self.limit
            .store(self.limit_set.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Counts a gap of `node` that is unknown or not charged.
    #[cold]
    pub(crate) fn lose_gap(&self, node: &'static Node) {
        if let Some(errors) = self.errors.make(node.index()) {
            add(errors, 1);
        }
        add(&self.clock_errors, 1);
    }

    /// Begins `child` at tick `now`, and counts `calls` calls. Must be called with `current` taken out. Returns the
    /// child, so that callers need not keep it.
    #[inline(always)]
    pub(crate) fn begin(
        &self,
        current: &'static Node,
        child: &'static Node,
        now: u64,
        calls: u64,
    ) -> &'static Node {
        // Each branch ends in one call or in no call, so the common branch saves no registers.
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

    /// Returns the node to which time is charged: the innermost node whose call is timed.
    pub(crate) fn charged(node: &'static Node) -> &'static Node {
        let mut at = node;
        while !at.is_timed()
            && let Some(parent) = at.parent.get()
        {
            at = parent;
        }
        at
    }

    /// Returns the number of gaps of a node that were not charged.
    pub(crate) fn errors_of(&self, index: u32) -> u64 {
        self.errors
            .get(index)
            .map_or(0, |errors| errors.load(Ordering::Relaxed))
    }

    /// Ends the innermost call at the tick that `now` reads, if all calls are timed. Returns true if the call belongs to `node`;
    /// otherwise does nothing and returns false.
    #[inline(always)]
    pub(crate) fn end_innermost(&self, node: &'static Node, now: impl FnOnce() -> u64) -> bool {
        self.end_innermost_numbered(node, || node.calls.load(Ordering::Relaxed), now)
    }

    /// Ends a call like `end_innermost`, with its number. Successive numbers have different places in the buffer of
    /// durations.
    #[inline(always)]
    pub(crate) fn end_innermost_numbered(
        &self,
        node: &'static Node,
        number: impl FnOnce() -> u64,
        now: impl FnOnce() -> u64,
    ) -> bool {
        if !self.current.is(node) {
            return false;
        }
        let Some(parent) = node.parent.get() else {
            return false;
        };
        self.mark();
        let now = now();
        // Each branch ends in one call or in no call, so the common branch saves no registers.
        let gap = now.wrapping_sub(self.last.load(Ordering::Relaxed));
        if gap > self.limit.load(Ordering::Relaxed) {
            self.end_oddly(node, parent, now);
            return true;
        }
        self.charge_gap(node, gap, now);
        if let Some(latency) = node.latency.get() {
            self.ended.set(Some(node));
            self.guess.copy(&latency.next);
            // If the beginning is unknown, `ticks` is far too large and is not buffered.
            let ticks = now.wrapping_sub(node.began.load(Ordering::Relaxed));
            if !latency.buffer(number(), ticks) {
                self.end_flushing(node, parent, now);
                return true;
            }
        } else {
            self.guess.copy(&parent.recent);
        }
        self.put(parent);
        true
    }

    #[cold]
    #[inline(never)]
    fn end_oddly(&self, node: &'static Node, parent: &'static Node, now: u64) {
        if let Some(now) = self.charge_unusual_gap(node, now)
            && let Some(latency) = node.latency.get()
        {
            let ticks = now.wrapping_sub(node.began.load(Ordering::Relaxed));
            if !latency.buffer(node.calls.load(Ordering::Relaxed), ticks) {
                latency.flush(node.lasted(now), &self.latencies);
            }
        }
        self.put(parent);
    }

    /// Ends a call whose duration cannot be buffered because its place is taken or it does not fit.
    #[inline(never)]
    fn end_flushing(&self, node: &'static Node, parent: &'static Node, now: u64) {
        if let Some(latency) = node.latency.get() {
            latency.flush(node.lasted(now), &self.latencies);
        }
        self.put(parent);
    }

    /// Ends a call that is not the innermost one, at the tick that `now` reads. All calls inside it are closed as well. If the
    /// call is not open at all, nothing is closed. Both cases are counted as unbalanced.
    #[cold]
    pub(crate) fn end_out_of_order(&self, node: &'static Node, clock: impl Fn() -> u64) {
        let Some(current) = self.take() else {
            add(&self.dropped, 1);
            return;
        };
        let now = clock();
        let mut leaked = 0_u64;
        let mut at = Some(current);
        while let Some(open) = at.filter(|open| !std::ptr::eq(*open, node)) {
            leaked += 1;
            at = open.parent.get();
        }
        match at.and_then(|node| node.parent.get()) {
            Some(parent) => {
                // A function inside the call that has no end yet was unwound.
                let unwound = self.frames.close_inside(node);
                add(&self.unbalanced, leaked.saturating_sub(unwound));
                if self.watching.is_open() {
                    let charged = self.charge_noted(current, Kind::Exit, now);
                    if self.is_watched_inside(current, node) {
                        // The watched call's guard was leaked, or is dropped later.
                        self.discard_watched();
                    }
                    return self.finish_watched(node, parent, now, charged, clock);
                }
                // Only the call of this guard has a known duration; the durations of the calls inside it are unknown.
                if let Some(now) = self.charge(Self::charged(current), now)
                    && let Some(latency) = node.latency.get()
                    && let Some(ticks) = node.lasted(now)
                {
                    latency.flush(Some(ticks), &self.latencies);
                }
                self.put(parent);
            }
            None => {
                add(&self.unbalanced, 1);
                self.put(current);
            }
        }
    }

    /// Ends all open calls at the tick that `now` returns, because the thread has ended or is no longer measured.
    pub(crate) fn end_all(&self, now: impl FnOnce() -> u64) {
        let (Some(current), Some(root)) = (self.take(), self.root.get()) else {
            return;
        };
        self.discard_watched();
        self.charge(Self::charged(current), now());
        self.frames.close_all();
        self.spans.clear();
        self.put(root);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::site::Site;

    static A: Site = Site::named("a", "m", "f.rs", 1);
    static B: Site = Site::named("b", "m", "f.rs", 2);

    struct Walk {
        tree: Box<Tree>,
        now: u64,
    }

    impl Walk {
        fn new(limit: u64, depth: u32, nodes: u32) -> Self {
            let tree = Box::new(Tree::new());
            assert!(tree.open(0, limit, depth, nodes));
            Self { tree, now: 0 }
        }

        /// Enters like a scope in exact mode, and counts wrong guesses.
        fn enter_by_guess(&mut self, site: &'static Site, wrong: &mut u32) -> &'static Node {
            let tree = &self.tree;
            let current = tree.current.get().unwrap();
            let child = tree.guessed_child(current, site).unwrap_or_else(|| {
                *wrong += 1;
                let likely = tree.likely_child(current, site);
                let known = likely.filter(|child| child.site.is(site) && child.parent.is(current));
                let child = known.or_else(|| tree.add_child(current, site, || true)).unwrap();
                tree.learn(current, child);
                child
            });
            self.now += 100;
            tree.mark();
            tree.begin(current, child, self.now, 1)
        }

        fn exit_innermost(&mut self, node: &'static Node) {
            self.now += 100;
            let now = self.now;
            assert!(self.tree.end_innermost(node, || now));
        }

        /// Enters `after` ticks from the last event. Returns the node, or `None` if the call was dropped.
        fn enter(&mut self, after: u64, site: &'static Site) -> Option<&'static Node> {
            self.now += after;
            let current = self.tree.take().unwrap();
            let child = self.tree.known_child(current, site);
            match child.or_else(|| self.tree.add_child(current, site, || true)) {
                Some(child) => {
                    self.tree.begin(current, child, self.now, 1);
                    Some(child)
                }
                None => {
                    self.tree.put(current);
                    add(&self.tree.dropped, 1);
                    None
                }
            }
        }

        fn exit(&mut self, after: u64, node: Option<&'static Node>) {
            self.now += after;
            if let Some(node) = node
                && !self.tree.end_innermost(node, || self.now)
            {
                self.tree.end_out_of_order(node, || self.now);
            }
        }

        /// Prints every node as "indent name calls self".
        fn text(&self) -> String {
            let mut text = String::new();
            for index in 0..self.tree.nodes.len() {
                let node = self.tree.nodes.get(index).unwrap();
                let depth = node.depth() as usize;
                let name = node
                    .site
                    .get()
                    .map_or("(root)".into(), |site| site.describe().name);
                let (calls, ticks) = (
                    node.calls.load(Ordering::Relaxed),
                    node.self_ticks.load(Ordering::Relaxed),
                );
                text += &format!("{}{name} {calls} {ticks}\n", "  ".repeat(depth));
            }
            text
        }
    }

    #[test]
    fn time_goes_to_the_innermost_open_node() {
        let mut walk = Walk::new(NO_LIMIT, 10, 100);
        for _ in 0..2 {
            let a = walk.enter(5, &A);
            let b = walk.enter(10, &B);
            walk.exit(100, b);
            walk.exit(1, a);
        }
        assert_eq!(walk.text(), "(root) 0 10\n  a 2 22\n    b 2 200\n");
    }

    #[test]
    fn a_leaked_guard_is_closed_with_its_parent() {
        let mut walk = Walk::new(NO_LIMIT, 10, 100);
        let a = walk.enter(1, &A);
        let _leaked = walk.enter(1, &B);
        walk.exit(7, a);
        let again = walk.enter(3, &A);
        walk.exit(1, again);
        assert_eq!(walk.text(), "(root) 0 4\n  a 2 2\n    b 1 7\n");
        assert_eq!(walk.tree.unbalanced.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn guards_dropped_out_of_order_leave_the_tree_intact() {
        let mut walk = Walk::new(NO_LIMIT, 10, 100);
        let a = walk.enter(1, &A);
        let b = walk.enter(1, &B);
        walk.exit(5, a);
        walk.exit(5, b);
        let a = walk.enter(1, &A);
        walk.exit(1, a);
        // The second exit finds no open call, so its ticks stay with the root.
        assert_eq!(walk.text(), "(root) 0 7\n  a 2 2\n    b 1 5\n");
        assert_eq!(walk.tree.unbalanced.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_backward_clock_charges_nothing_and_is_counted() {
        let mut walk = Walk::new(NO_LIMIT, 10, 100);
        let a = walk.enter(100, &A);
        walk.now = 50;
        walk.exit(0, a);
        assert_eq!(walk.text(), "(root) 0 100\n  a 1 0\n");
        assert_eq!(walk.tree.clock_errors.load(Ordering::Relaxed), 1);
        assert_eq!(walk.tree.errors_of(a.unwrap().index()), 1);
    }

    #[test]
    fn a_gap_beyond_the_limit_is_not_charged() {
        let mut walk = Walk::new(1000, 10, 100);
        let a = walk.enter(1000, &A);
        walk.exit(1001, a);
        assert_eq!(walk.text(), "(root) 0 1000\n  a 1 0\n");
    }

    #[test]
    fn a_pause_is_charged_to_no_node_and_nests() {
        let mut walk = Walk::new(NO_LIMIT, 10, 100);
        let a = walk.enter(1, &A);
        walk.now += 10;
        walk.tree.pause(|| walk.now);
        walk.now += 1000;
        walk.tree.pause(|| walk.now);
        let b = walk.enter(1000, &B);
        walk.exit(1000, b);
        walk.tree.resume(walk.now);
        walk.now += 1000;
        walk.tree.resume(walk.now);
        walk.exit(5, a);
        assert_eq!(walk.text(), "(root) 0 1\n  a 1 15\n    b 1 0\n");
        assert_eq!(walk.tree.clock_errors.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn time_that_is_left_out_is_in_no_call() {
        let mut walk = Walk::new(NO_LIMIT, 10, 100);
        let a = walk.enter(1, &A);
        let b = walk.enter(10, &B);
        walk.tree.leave_out(b.unwrap(), walk.now, 1000);
        walk.now += 1000;
        walk.exit(5, b);
        assert_eq!(b.unwrap().lasted(walk.now), Some(5));
        walk.exit(2, a);
        assert_eq!(a.unwrap().lasted(walk.now), Some(17));
        assert_eq!(walk.text(), "(root) 0 1\n  a 1 12\n    b 1 5\n");
    }

    #[test]
    fn beyond_the_depth_limit_time_belongs_to_the_frame_at_the_limit() {
        let mut walk = Walk::new(NO_LIMIT, 2, 100);
        let guards: Vec<_> = (0..5).map(|_| walk.enter(1, &A)).collect();
        for guard in guards.into_iter().rev() {
            walk.exit(1, guard);
        }
        assert_eq!(walk.text(), "(root) 0 1\n  a 1 2\n    a 1 7\n");
        assert_eq!(walk.tree.dropped.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn beyond_the_node_limit_calls_are_counted_as_dropped() {
        let mut walk = Walk::new(NO_LIMIT, 10, 2);
        let a = walk.enter(1, &A);
        let none = walk.enter(1, &B);
        walk.exit(1, none);
        walk.exit(1, a);
        assert_eq!(walk.text(), "(root) 0 1\n  a 1 3\n");
        assert_eq!(walk.tree.dropped.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn children_that_take_turns_are_guessed() {
        for histograms in [true, false] {
            let mut walk = Walk::new(NO_LIMIT, 10, 100);
            walk.tree
                .wants_latencies
                .store(histograms.into(), Ordering::Relaxed);
            let mut wrong = 0;
            for _ in 0..10 {
                wrong = 0;
                let a = walk.enter_by_guess(&A, &mut wrong);
                for site in [&B, &A, &B] {
                    let child = walk.enter_by_guess(site, &mut wrong);
                    walk.exit_innermost(child);
                }
                walk.exit_innermost(a);
                let b = walk.enter_by_guess(&B, &mut wrong);
                walk.exit_innermost(b);
            }
            // Without histograms, the guess is always the child entered last.
            assert_eq!(wrong, if histograms { 0 } else { 4 }, "histograms {histograms}");
            let counts = [10, 20, 10, 10];
            let calls = [1, 2, 3, 4].map(|index| walk.tree.nodes.get(index).unwrap());
            assert_eq!(calls.map(|node| node.calls.load(Ordering::Relaxed)), counts);
        }
    }

    #[test]
    fn a_guess_from_an_earlier_life_is_no_child() {
        let mut walk = Walk::new(NO_LIMIT, 10, 100);
        let mut wrong = 0;
        for life in 1..=3 {
            walk.tree.wants_latencies.store(1, Ordering::Relaxed);
            for site in [&A, &B, &A] {
                let child = walk.enter_by_guess(site, &mut wrong);
                assert!(child.index() < walk.tree.nodes.len(), "the node is in this life");
                walk.exit_innermost(child);
            }
            assert_eq!((wrong, walk.tree.nodes.len()), (3 * life, 3));
            assert!(walk.tree.open(walk.now, NO_LIMIT, 10, 100));
        }
    }

    #[test]
    fn a_guess_from_another_place_is_no_child() {
        let mut walk = Walk::new(NO_LIMIT, 10, 100);
        let a = walk.enter(1, &A);
        let inner = walk.enter(1, &B);
        walk.exit(1, inner);
        walk.exit(1, a);
        let root = walk.tree.current.get().unwrap();
        walk.tree.guess.set(inner);
        assert!(walk.tree.guessed_child(root, &B).is_none());
        assert!(walk.tree.guessed_child(a.unwrap(), &B).is_some());
        assert!(walk.tree.guessed_child(a.unwrap(), &A).is_none());
    }

    #[test]
    fn counters_do_not_take_the_place_of_the_scope_looked_at_first() {
        static COUNTERS: [Site; 2] = [
            Site::named("one", "m", "f.rs", 3).counting(),
            Site::named("other", "m", "f.rs", 4).counting(),
        ];
        let mut walk = Walk::new(NO_LIMIT, 10, 100);
        let root = walk.tree.current.get().unwrap();
        let count = |tree: &Tree, site: &'static Site| {
            let known = tree.known_counter(root, site);
            let counter = known.or_else(|| tree.add_child(root, site, || true)).unwrap();
            counter.count(5);
            counter
        };
        for site in &COUNTERS {
            count(&walk.tree, site);
        }
        assert!(
            Tree::recent_child(root, &COUNTERS[0]).is_some(),
            "while there is no scope"
        );
        let a = walk.enter(1, &A);
        walk.exit(1, a);
        for site in &COUNTERS {
            let counter = count(&walk.tree, site);
            assert_eq!((counter.calls.load(Ordering::Relaxed), counter.sum()), (2, 10));
            assert_eq!(counter.self_ticks.load(Ordering::Relaxed), 0);
            assert!(Tree::recent_child(root, &A).is_some());
        }
    }

    #[test]
    fn a_tree_that_was_large_serves_again() {
        let sites: Vec<&'static Site> = (0..3000)
            .map(|_| &*Box::leak(Box::new(Site::named("s", "m", "f.rs", 1))))
            .collect();
        let mut walk = Walk::new(NO_LIMIT, 10, 10_000);
        for life in 0..3 {
            assert_eq!(walk.tree.table.len(), FIRST_TABLE);
            for _ in 0..2 {
                for site in &sites[life * 10..] {
                    let node = walk.enter(1, site);
                    walk.exit(1, node);
                }
            }
            assert_eq!(walk.tree.nodes.len() as usize, 3001 - life * 10);
            let calls = |index| walk.tree.nodes.get(index).unwrap().calls.load(Ordering::Relaxed);
            assert!((1..walk.tree.nodes.len()).all(|index| calls(index) == 2));
            assert!(walk.tree.open(walk.now, NO_LIMIT, 10, 10_000));
        }
    }

    #[test]
    fn an_event_inside_an_event_finds_nothing() {
        let walk = Walk::new(NO_LIMIT, 10, 100);
        let current = walk.tree.take().unwrap();
        assert!(walk.tree.take().is_none());
        walk.tree.put(current);
        assert!(walk.tree.take().is_some());
    }
}
