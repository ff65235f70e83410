//! One thread's call tree: where it stands, and what a begin or an end at a given tick does. No clock, no I/O.
//!
//! Nodes count calls and *self* ticks. Every begin and every end charges the ticks since the last event to the
//! node that was current; totals are sums made later. So self + children = total, and no value is negative,
//! however a capture tears.
//!
//! `current` is taken out while an event works, and put back at its end. Whoever finds nothing there (a signal
//! handler, an instrumented allocator) has interrupted an event, and is dropped and counted. The same mark
//! tells a capture from another thread that what it read may be of two moments.

mod children;
mod pause;

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering, add, fence};
use crate::enabled::record::arena::{Array, Column, Ref, zeroed};
use crate::enabled::record::latency::Latencies;
use crate::enabled::record::node::{Node, Nodes};

/// What `last` holds while no time is charged. No clock ever gets there.
pub(crate) const PAUSED: u64 = 1 << 63;

/// The largest gap charged where no limit is set: what is above is a step backward.
pub(crate) const NO_LIMIT: u64 = PAUSED - 1;

/// Slots of the first child table.
const FIRST_TABLE: u32 = 512;

zeroed! {
    /// A thread's call tree. The thread writes, all others read.
    #[repr(C, align(64))]
    #[derive(Debug)]
    pub(crate) struct Tree {
        /// The innermost open node; none while an event works.
        pub(crate) current: Ref<Node>,
        /// The tick of the last event, or [`PAUSED`].
        pub(crate) last: AtomicU64,
        /// A larger gap between two events is not charged; 0 while paused.
        limit: AtomicU64,
        /// Collects the time outside any scope.
        root: Ref<Node>,
        /// Calls that found no place.
        pub(crate) dropped: AtomicU64,
        /// Guards that were leaked or closed out of order.
        pub(crate) unbalanced: AtomicU64,
        /// Gaps that were not charged.
        pub(crate) clock_errors: AtomicU64,
        /// How often `pause` is in force.
        pauses: AtomicU32,
        /// How events are handled: a [`Path`]. Others store [`Path::Alarm`] here, the thread all else.
        path: AtomicU32,
        /// All nodes, the root first.
        pub(crate) nodes: Nodes,
        /// Finds a child by (parent, site): open addressing, linear probing. The owner's alone.
        table: Array<Ref<Node>>,
        /// How long the calls of each node took.
        pub(crate) latencies: Latencies,
        /// Gaps of each node that were not charged.
        errors: Column<AtomicU64>,
        /// What `limit` is when not paused.
        limit_set: AtomicU64,
        /// Whether the thread is excluded: not 0.
        excluded: AtomicU32,
        /// Whether new nodes get a latency: not 0.
        pub(crate) wants_latencies: AtomicU32,
        /// When the pause began that is in force.
        paused_at: AtomicU64,
        /// The word of the newest switch of modes that the thread knows of.
        pub(crate) caught_up_to: AtomicU64,
        /// Chooses which calls are timed in adaptive mode.
        pub(crate) random: AtomicU64,
        /// Deepest node allowed.
        depth_max: AtomicU32,
        /// Most nodes allowed.
        nodes_max: AtomicU32,
    }
}

/// How events are handled. In this order: the last three are those whose events may be without a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Path {
    /// The mode may have been switched: the thread is to find out.
    Alarm,
    /// Exact, by the time stamp counter.
    Fast,
    /// Exact, by another clock.
    Exact,
    Off,
    /// Adaptive, by another clock.
    AdaptiveExact,
    /// Adaptive, by the time stamp counter.
    Adaptive,
    Sampled,
}

impl Tree {
    pub(crate) const fn new() -> Self {
        Self {
            current: Ref::none(),
            last: AtomicU64::new(PAUSED),
            limit: AtomicU64::new(0),
            root: Ref::none(),
            dropped: AtomicU64::new(0),
            unbalanced: AtomicU64::new(0),
            clock_errors: AtomicU64::new(0),
            pauses: AtomicU32::new(0),
            path: AtomicU32::new(Path::Alarm as u32),
            nodes: Nodes::new(),
            table: Array::empty(),
            latencies: Latencies::new(),
            errors: Column::new(),
            limit_set: AtomicU64::new(NO_LIMIT),
            excluded: AtomicU32::new(0),
            wants_latencies: AtomicU32::new(0),
            paused_at: AtomicU64::new(0),
            caught_up_to: AtomicU64::new(0),
            random: AtomicU64::new(0),
            depth_max: AtomicU32::new(0),
            nodes_max: AtomicU32::new(0),
        }
    }

    /// Begins a life: an empty tree at tick `now`. False where there is no memory.
    pub(crate) fn open(&self, now: u64, limit: u64, depth_max: u32, nodes_max: u32) -> bool {
        if !self.empty_table(FIRST_TABLE) {
            return false;
        }
        self.nodes.clear();
        self.latencies.clear();
        let Some(root) = self.nodes.add(None, None) else {
            return false;
        };
        self.root.set(Some(root));
        self.dropped.store(0, Ordering::Relaxed);
        self.unbalanced.store(0, Ordering::Relaxed);
        self.clock_errors.store(0, Ordering::Relaxed);
        self.pauses.store(0, Ordering::Relaxed);
        self.excluded.store(0, Ordering::Relaxed);
        self.limit_set.store(limit, Ordering::Relaxed);
        self.limit.store(limit, Ordering::Relaxed);
        self.depth_max.store(depth_max, Ordering::Relaxed);
        self.nodes_max.store(nodes_max, Ordering::Relaxed);
        // Any number but 0, and not the same for all threads.
        self.random.store(now | 1, Ordering::Relaxed);
        self.last.store(now, Ordering::Release);
        self.current.set_release(Some(root));
        true
    }

    /// Whether events are handled so.
    #[inline(always)]
    pub(crate) fn is(&self, path: Path) -> bool {
        self.path.load(Ordering::Relaxed) == path as u32
    }

    /// Whether events may be without a clock.
    #[inline(always)]
    pub(crate) fn may_skip_clock(&self) -> bool {
        self.path.load(Ordering::Relaxed) >= Path::AdaptiveExact as u32
    }

    /// How events are handled.
    pub(crate) fn path(&self) -> Path {
        use Path::{Adaptive, AdaptiveExact, Alarm, Exact, Fast, Off, Sampled};
        [Fast, Exact, Off, AdaptiveExact, Adaptive, Sampled]
            .into_iter()
            .find(|path| self.is(*path))
            .unwrap_or(Alarm)
    }

    /// Chooses how events are handled. Only the thread may choose anything but the alarm.
    pub(crate) fn set_path(&self, path: Path) {
        self.path.store(path as u32, Ordering::Relaxed);
    }

    /// Takes `current` out: the mark that an event works. None where one works already.
    #[inline(always)]
    pub(crate) fn take(&self) -> Option<&'static Node> {
        let current = self.current.get()?;
        self.mark();
        Some(current)
    }

    /// Takes `current` out, which is known to be there.
    #[inline(always)]
    pub(crate) fn mark(&self) {
        self.current.set(None);
        // SYNC POINT: mark before counters (meets the fence in `capture`). A compiler barrier on x86.
        fence(Ordering::Release);
    }

    /// Puts `current` (back) in: the event is over.
    #[inline(always)]
    pub(crate) fn put(&self, current: &'static Node) {
        // SYNC POINT: counters before current.
        self.current.set_release(Some(current));
    }

    /// Charges the time since the last event to `node`; false where none could be.
    #[inline(always)]
    pub(crate) fn charge(&self, node: &'static Node, now: u64) -> bool {
        let gap = now.wrapping_sub(self.last.load(Ordering::Relaxed));
        let in_order = gap <= self.limit.load(Ordering::Relaxed);
        if in_order {
            self.charge_gap(node, gap, now);
        } else {
            self.odd_gap(node, now);
        }
        in_order
    }

    #[inline(always)]
    fn charge_gap(&self, node: &'static Node, gap: u64, now: u64) {
        add(&node.self_ticks, gap);
        // SYNC POINT: counters before last.
        self.last.store(now, Ordering::Release);
    }

    /// Paused, or the clock went back or too far: nothing is charged.
    #[cold]
    #[inline(never)]
    fn odd_gap(&self, node: &'static Node, now: u64) {
        if self.last.load(Ordering::Relaxed) == PAUSED {
            return;
        }
        self.lose_gap(node);
        self.last.store(now, Ordering::Release);
    }

    /// Counts a gap that is not charged to `node`, or not known.
    #[cold]
    pub(crate) fn lose_gap(&self, node: &'static Node) {
        if let Some(errors) = self.errors.make(node.index()) {
            add(errors, 1);
        }
        add(&self.clock_errors, 1);
    }

    /// Begins `child` at tick `now`, which counts as that many calls; `current` is taken out.
    #[inline(always)]
    pub(crate) fn begin(&self, current: &'static Node, child: &'static Node, now: u64, calls: u64) {
        self.charge(current, now);
        child.began.store(now, Ordering::Relaxed);
        add(&child.calls, calls);
        self.put(child);
    }

    /// The node that time is charged to: the innermost whose call is timed.
    pub(crate) fn charged(node: &'static Node) -> &'static Node {
        let mut at = node;
        while !at.is_timed()
            && let Some(parent) = at.parent.get()
        {
            at = parent;
        }
        at
    }

    /// Gaps of a node that were not charged.
    pub(crate) fn errors_of(&self, index: u32) -> u64 {
        self.errors
            .get(index)
            .map_or(0, |errors| errors.load(Ordering::Relaxed))
    }

    /// Ends the innermost call, at the tick that `now` reads, all calls being timed. True where that is `node`;
    /// false where nothing was done.
    #[inline(always)]
    pub(crate) fn end_innermost(&self, node: &'static Node, now: impl FnOnce() -> u64) -> bool {
        if !self.current.is(node) {
            return false;
        }
        let Some(parent) = node.parent.get() else {
            return false;
        };
        self.mark();
        let now = now();
        // Each way ends in a call or in none, so that the usual one saves no registers.
        let gap = now.wrapping_sub(self.last.load(Ordering::Relaxed));
        if gap > self.limit.load(Ordering::Relaxed) {
            self.end_oddly(node, parent, now);
            return true;
        }
        self.charge_gap(node, gap, now);
        if let Some(latency) = node.latency.get() {
            // Where the beginning is not known this comes out far too long, and is not buffered.
            let ticks = now.wrapping_sub(node.began.load(Ordering::Relaxed));
            if !latency.buffer(node.calls.load(Ordering::Relaxed), ticks) {
                self.end_settling(node, parent, now);
                return true;
            }
        }
        self.put(parent);
        true
    }

    #[cold]
    #[inline(never)]
    fn end_oddly(&self, node: &'static Node, parent: &'static Node, now: u64) {
        self.odd_gap(node, now);
        self.put(parent);
    }

    /// The end of a call whose duration finds its place taken, or is none to buffer.
    #[inline(never)]
    fn end_settling(&self, node: &'static Node, parent: &'static Node, now: u64) {
        if let Some(latency) = node.latency.get() {
            latency.flush(node.lasted(now), &self.latencies);
        }
        self.put(parent);
    }

    /// Ends a call that is not the innermost, at the tick that `now` reads: closes all that are open in it, or ignores it
    /// where it is not open at all. Counts either.
    #[cold]
    pub(crate) fn end_out_of_order(&self, node: &'static Node, now: impl FnOnce() -> u64) {
        let Some(current) = self.take() else {
            add(&self.dropped, 1);
            return;
        };
        let now = now();
        let mut leaked = 0;
        let mut at = Some(current);
        while let Some(open) = at.filter(|open| !std::ptr::eq(*open, node)) {
            leaked += 1;
            at = open.parent.get();
        }
        match at.and_then(|node| node.parent.get()) {
            Some(parent) => {
                add(&self.unbalanced, leaked);
                // Its own guard ends it, so how long it took is known; of those in it nobody knows.
                if self.charge(Self::charged(current), now)
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

    /// Ends all calls, at the tick that `now` reads: the thread leaves.
    pub(crate) fn end_all(&self, now: impl FnOnce() -> u64) {
        let (Some(current), Some(root)) = (self.take(), self.root.get()) else {
            return;
        };
        self.charge(Self::charged(current), now());
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

        /// Enters at `after` ticks from the last event; the node, or nobody.
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

        /// Every node as "indent name calls self".
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
        // The second exit finds nothing open: its ticks stay with the root.
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
    fn a_pause_is_charged_to_nobody_and_nests() {
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
    fn many_children_are_found_again() {
        let sites: Vec<&'static Site> = (0..3000)
            .map(|_| &*Box::leak(Box::new(Site::named("s", "m", "f.rs", 1))))
            .collect();
        let mut walk = Walk::new(NO_LIMIT, 10, 10_000);
        for _ in 0..3 {
            for site in &sites {
                let node = walk.enter(1, site);
                walk.exit(1, node);
            }
        }
        assert_eq!(walk.tree.nodes.len(), 3001);
        for index in 1..3001 {
            assert_eq!(
                walk.tree.nodes.get(index).unwrap().calls.load(Ordering::Relaxed),
                3
            );
        }
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
