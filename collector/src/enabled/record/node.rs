//! Nodes: each is one function at one position in a thread's call tree. A node and its latency refer to each other, so both types
//! are defined here. The functions of a latency are in `latency.rs`.

use tickscope_format::latency::{OCTAVES, PER_OCTAVE};

use crate::enabled::platform::sync::{AtomicU16, AtomicU32, AtomicU64, Ordering, add};
use crate::enabled::record::arena::{Column, PLACES, Ref, zeroed, zeros};
use crate::enabled::record::site::{OVER_THE_LIMIT, Site, SiteKind};

zeroed! {
    /// One function at one position in a thread's call tree. A node fills one cache line.
    #[repr(C, align(64))]
    #[derive(Debug)]
    pub(crate) struct Node {
        /// Number of calls begun. Only the tree's thread writes this field and those below.
        pub(crate) calls: AtomicU64,
        /// Ticks spent in the node itself, without its children.
        pub(crate) self_ticks: AtomicU64,
        /// Tick at which the latest call began. Counters, values and gauges are never open, so their nodes keep something else
        /// here: gauges the level ([`Self::level`]), and the other two the sum ([`Self::sum`]).
        pub(crate) began: AtomicU64,
        /// The call site; `None` for the root. It does not change once the node is published.
        pub(crate) site: Ref<Site>,
        /// The parent; `None` for the root. It does not change once the node is published.
        pub(crate) parent: Ref<Node>,
        /// The child that will probably be entered next, at first [`NO_CHILD`]. This is the child entered last or, in exact mode
        /// with latencies, the first child of the last call that entered any child. A wrong guess only costs time.
        pub(crate) recent: Ref<Node>,
        /// Durations of the calls; `None` if they are not collected.
        pub(crate) latency: Ref<Latency>,
        /// Two numbers in one word: the index in the thread's arena in the low [`INDEX_BITS`] bits, and the depth minus one above
        /// them. Neither changes once the node is published.
        place: AtomicU32,
        /// In adaptive mode: number of calls to skip before the next timed call. Only calls inside timed calls of the parent
        /// count. Values and gauges are never timed, so their nodes keep the index of their numbers here, plus 1
        /// ([`Self::numbers`]).
        pub(crate) skip: AtomicU32,
    }
}

/// Number of durations that a latency buffers. One call in 17 finds its slot taken and flushes the buffer. With 8 slots, it would
/// be one call in nine, and each flush waits for the cache lines of the counters. With 32 slots, it would be one call in 33, but
/// a flush would take 75 ns longer.
pub(super) const BUFFERED: usize = 16;

/// The first octave in [`Octaves::octaves`]. The pointers to this octave and to the five above it, which cover 16 to 1023 ticks,
/// are in the second cache line of a latency, and those for up to 262143 ticks in the third.
pub(super) const FIRST_OCTAVE: usize = 4;

zeroed! {
    /// The latencies of one node. Only its thread writes them. The end of a call uses only the first cache line, unless it
    /// flushes the buffer.
    #[repr(C, align(64))]
    #[derive(Debug)]
    pub(crate) struct Latency {
        /// Durations that are not in a bucket yet. The number of the call selects the slot; 0 marks a free slot.
        pub(super) buffered: [AtomicU16; BUFFERED],
        /// In adaptive mode: number of timed calls.
        pub(crate) timed: AtomicU64,
        /// In adaptive mode: ticks of the timed calls, including the calls inside them.
        pub(crate) timed_ticks: AtomicU64,
        /// In adaptive mode: the rate; one in 2^rate calls is timed.
        pub(crate) rate: AtomicU64,
        /// The sibling that will probably be entered after a call of this node. A wrong guess only costs time.
        pub(super) next: Ref<Node>,
        /// The longest call, in ticks.
        pub(super) max: AtomicU64,
        /// Odd while the buffer is being flushed.
        pub(super) flushing: AtomicU64,
        pub(super) octaves: Octaves,
        /// The life of the tree in which the latency was made. A life is the use of the tree by one thread.
        pub(super) life: AtomicU64,
        /// Counts how often the latency has been made. Each time, it starts empty.
        pub(super) made: AtomicU64,
    }
}

zeroed! {
    /// The buckets of a histogram.
    #[repr(C)]
    #[derive(Debug)]
    pub(crate) struct Octaves {
        /// The buckets of each octave; `None` until the octave's first hit. The array begins with [`FIRST_OCTAVE`] and wraps
        /// around to octave 0 after the last octave.
        pub(super) octaves: [Ref<Octave>; OCTAVES],
        /// A bit for each octave that exists.
        pub(super) present: AtomicU64,
    }
}

zeroed! {
    /// The counters of an octave's buckets, which fill one cache line.
    #[repr(C, align(64))]
    #[derive(Debug)]
    pub(crate) struct Octave {
        pub(super) counts: [AtomicU64; PER_OCTAVE],
    }
}

// The struct is smaller on 32-bit targets.
const _: () =
    assert!(size_of::<Octave>() == 64 && (size_of::<Latency>() == 640 || cfg!(target_pointer_width = "32")));

/// Value of [`Node::began`] if the call is not timed.
pub(crate) const UNTIMED: u64 = 0;

/// Value of [`Node::began`] if the call is timed but its beginning is unknown. No clock reaches this value, so the duration
/// computed from it wraps around and is longer than any call.
pub(crate) const UNKNOWN: u64 = 1 << 63;

const _: () = assert!(size_of::<Node>() == 64);

/// A node without a site. A node's `recent` points to it until the node has a child.
pub(crate) static NO_CHILD: Node = zeros();

zeroed! {
    /// A thread's nodes, parents before children. Only the thread adds nodes; other threads may read the nodes at indices below
    /// `len`.
    #[derive(Debug)]
    pub(crate) struct Nodes {
        column: Column<Node>,
        /// The number of complete nodes. It is stored, with Release, after the fixed fields of a new node.
        length: AtomicU32,
    }
}

/// Maximum number of nodes in a thread.
pub(crate) const NODES_MAX: u32 = PLACES;

/// The number of low bits of [`Node::place`] that hold the index.
const INDEX_BITS: u32 = NODES_MAX.ilog2();

/// The largest depth that fits into [`Node::place`]: 4096.
pub(crate) const DEPTH_MAX: u32 = 1 << (32 - INDEX_BITS);

impl Node {
    /// Returns the index in the thread's arena.
    #[inline(always)]
    pub(crate) fn index(&self) -> u32 {
        self.place.load(Ordering::Relaxed) & (NODES_MAX - 1)
    }

    /// In adaptive mode: returns whether a call of this node inside a call of `parent` skips the clock. If the call of `parent`
    /// is timed, this counts down [`Self::skip`]. If it is untimed, calls inside it are untimed as well, and do not count down.
    #[inline(always)]
    pub(crate) fn is_skipped(&self, parent: &Self) -> bool {
        if !parent.is_timed() {
            return true;
        }
        let skip = self.skip.load(Ordering::Relaxed);
        if skip > 0 {
            self.skip.store(skip - 1, Ordering::Relaxed);
        }
        skip > 0
    }

    #[inline(always)]
    pub(crate) fn is_timed(&self) -> bool {
        self.began.load(Ordering::Relaxed) != UNTIMED
    }

    /// Corrects the beginning of a call that has just begun: a clock that the program supplies may start at 0, which means
    /// [`UNTIMED`] here.
    pub(crate) fn mend_beginning(&self) {
        if self.began.load(Ordering::Relaxed) == UNTIMED {
            self.began.store(UNTIMED + 1, Ordering::Relaxed);
        }
    }

    /// Marks the beginning of the open call as unknown, so that no latency is recorded when the call ends.
    pub(crate) fn forget_beginning(&self) {
        if self.is_timed() {
            self.began.store(UNKNOWN, Ordering::Relaxed);
        }
    }

    /// Records one execution of a counter. The sum wraps around beyond 64 bits.
    #[inline(always)]
    pub(crate) fn count(&self, amount: u64) {
        add(&self.began, amount);
        add(&self.calls, 1);
    }

    pub(crate) fn sum(&self) -> u64 {
        self.began.load(Ordering::Relaxed)
    }

    /// Records one execution of a value with this number. The value's histogram and extremes must already include the number.
    #[inline(always)]
    pub(crate) fn count_number(&self, number: u64) {
        add(&self.began, number);
        self.count_noted();
    }

    /// Records one execution of a gauge with this level. The gauge's extremes must already include the level.
    #[inline(always)]
    pub(crate) fn set_level(&self, level: i64) {
        self.began.store(level.cast_unsigned(), Ordering::Relaxed);
        self.count_noted();
    }

    #[inline(always)]
    fn count_noted(&self) {
        // SYNC POINT: the numbers are stored before `calls` counts them.
        let calls = self.calls.load(Ordering::Relaxed).wrapping_add(1);
        self.calls.store(calls, Ordering::Release);
    }

    pub(crate) fn level(&self) -> i64 {
        self.began.load(Ordering::Relaxed).cast_signed()
    }

    /// Returns the index of the node's entry in `NumbersOfTree`; `None` if the node has no numbers.
    #[inline(always)]
    pub(crate) fn numbers(&self) -> Option<u32> {
        self.skip.load(Ordering::Acquire).checked_sub(1)
    }

    /// Sets the index of the node's entry in `NumbersOfTree`. The node must belong to a value or a gauge.
    pub(crate) fn set_numbers(&self, place: u32) {
        // SYNC POINT: the numbers are emptied before their index is stored.
        self.skip.store(place + 1, Ordering::Release);
    }

    /// Returns the kind of the node's site; the root is a scope.
    pub(crate) fn kind(&self) -> SiteKind {
        self.site.get().map_or(SiteKind::Scope, |site| site.kind)
    }

    /// Returns whether the node belongs to a counter, a value or a gauge. Such a node has no children, and no time is
    /// charged to it.
    pub(crate) fn is_counter(&self) -> bool {
        self.kind().is_counter()
    }

    /// Returns whether this node counts the calls in its parent that exceed the node limit. Such a node has no children.
    pub(crate) fn is_over_the_limit(&self) -> bool {
        OVER_THE_LIMIT.iter().any(|site| self.site.is(site))
    }

    /// Returns the tick at which the open call began, if this tick is known.
    #[inline(always)]
    pub(crate) fn known_beginning(&self) -> Option<u64> {
        Some(self.began.load(Ordering::Relaxed)).filter(|&began| began != UNTIMED && began != UNKNOWN)
    }

    /// Returns how long the open call has lasted at tick `now`; `None` if its beginning is unknown or later than `now`.
    #[inline(always)]
    pub(crate) fn lasted(&self, now: u64) -> Option<u64> {
        self.known_beginning()
            .filter(|&began| began <= now)
            .map(|began| now - began)
    }

    /// Returns the node, its parent, and so on up to the root.
    pub(crate) fn up(&'static self) -> impl Iterator<Item = &'static Self> {
        std::iter::successors(Some(self), |node| node.parent.get())
    }

    /// Returns the depth, which is 0 for the root.
    pub(crate) fn depth(&self) -> u32 {
        match self.parent.get() {
            None => 0,
            Some(_) => (self.place.load(Ordering::Relaxed) >> INDEX_BITS) + 1,
        }
    }
}

impl Nodes {
    /// Returns the number of complete nodes, which other threads may read.
    pub(crate) fn len(&self) -> u32 {
        // SYNC POINT: the node is stored before the length (pairs with `add`).
        self.length.load(Ordering::Acquire)
    }

    pub(crate) fn get(&self, index: u32) -> Option<&'static Node> {
        self.column.get(index)
    }

    /// Makes space for one more node. Returns false if there is no memory or the thread has too many nodes.
    pub(crate) fn make_space(&self) -> bool {
        self.column.make(self.length.load(Ordering::Relaxed)).is_some()
    }

    /// Adds a node, reusing the memory of an earlier node if possible. Returns `None` if there is no memory or no space. Only the
    /// thread that owns the tree may call this.
    pub(crate) fn add(
        &self,
        site: Option<&'static Site>,
        parent: Option<&'static Node>,
    ) -> Option<&'static Node> {
        let index = self.length.load(Ordering::Relaxed);
        let node = self.column.make(index)?;
        node.calls.store(0, Ordering::Relaxed);
        node.self_ticks.store(0, Ordering::Relaxed);
        let is_counter = site.is_some_and(Site::is_counter);
        let began = if is_counter { 0 } else { UNKNOWN };
        node.began.store(began, Ordering::Relaxed);
        node.site.set(site);
        node.parent.set(parent);
        node.recent.set(Some(&NO_CHILD));
        node.latency.set(None);
        let above = parent.map_or(0, Node::depth);
        node.place.store(index | above << INDEX_BITS, Ordering::Relaxed);
        node.skip.store(0, Ordering::Relaxed);
        // SYNC POINT: the node is stored before the length (pairs with `len`).
        self.length.store(index + 1, Ordering::Release);
        Some(node)
    }

    /// Forgets all nodes, so that their memory can be reused. No other thread may access the tree at this time, so the tree must
    /// not belong to a thread that has begun to count.
    pub(crate) fn clear(&self) {
        self.length.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_keep_their_place_and_are_used_again() {
        let nodes: Nodes = zeros();
        let first = nodes.add(None, None).unwrap();
        for index in 1..5000 {
            let node = nodes.add(None, Some(first)).unwrap();
            assert_eq!((node.index(), node.depth()), (index, 1));
            assert!(std::ptr::eq(nodes.get(index).unwrap(), node));
        }
        nodes.clear();
        assert!(std::ptr::eq(nodes.add(None, None).unwrap(), first));
    }

    #[test]
    fn the_deepest_node_knows_its_depth() {
        let nodes: Nodes = zeros();
        let mut node = nodes.add(None, None).unwrap();
        for depth in 1..=DEPTH_MAX {
            node = nodes.add(None, Some(node)).unwrap();
            assert_eq!((node.index(), node.depth()), (depth, depth));
        }
    }
}
