//! The watched call that is open on a thread, and the sums of earlier watched calls.

use tickscope_format::snapshot::WATCHES_MAX;

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering};
use crate::enabled::record::arena::{Column, Ref, zeroed};
use crate::enabled::record::carried_calls::CarriedCall;
use crate::enabled::record::in_flight::CallId;
use crate::enabled::record::journal::Journal;
use crate::enabled::record::node::Node;
use crate::enabled::record::path_sums::SumsOfWatch;
use crate::enabled::record::watch::{self, Watch};

/// Maximum number of futures that are told apart when one poll awaits several of them.
const AWAITED: usize = 8;

zeroed! {
    /// The futures that were not ready when they were polled inside the open poll of the watched call, with their nodes and
    /// calls, in the order in which they were polled. A future that awaits one of these is not included.
    #[derive(Debug)]
    pub(crate) struct Awaited {
        nodes: [Ref<Node>; AWAITED],
        calls: [AtomicU64; AWAITED],
        count: AtomicU32,
    }
}

impl Awaited {
    pub(crate) fn clear(&self) {
        self.count.store(0, Ordering::Relaxed);
    }

    /// Returns the node of the future that was polled last.
    pub(crate) fn last(&self) -> Option<&'static Node> {
        let count = self.count.load(Ordering::Relaxed) as usize;
        self.nodes.get(count.checked_sub(1)?)?.get()
    }

    /// Adds a future. If there is no space for it, the oldest entry is removed.
    pub(crate) fn add(&self, node: &'static Node, call: CallId) {
        if self.count.load(Ordering::Relaxed) as usize == AWAITED {
            self.remove(0);
        }
        let at = self.count.load(Ordering::Relaxed);
        if let Some((to_node, to_call)) = self.nodes.get(at as usize).zip(self.calls.get(at as usize)) {
            to_node.set(Some(node));
            to_call.store(call, Ordering::Relaxed);
            self.count.store(at + 1, Ordering::Relaxed);
        }
    }

    /// Removes the future of this call, because it has been polled again.
    pub(crate) fn forget(&self, call: CallId) {
        let count = self.count.load(Ordering::Relaxed) as usize;
        let is_it = |at: &AtomicU64| at.load(Ordering::Relaxed) == call;
        if let Some(at) = self.calls.iter().take(count).position(is_it) {
            self.remove(at);
        }
    }

    fn remove(&self, at: usize) {
        let count = self.count.load(Ordering::Relaxed);
        for pair in self.nodes.windows(2).take(count as usize - 1).skip(at) {
            pair[0].set(pair[1].get());
        }
        for pair in self.calls.windows(2).take(count as usize - 1).skip(at) {
            pair[0].store(pair[1].load(Ordering::Relaxed), Ordering::Relaxed);
        }
        self.count.store(count - 1, Ordering::Relaxed);
    }
}

/// Value of `ending` if the open poll is the last one of the call.
pub(crate) const OVER: u64 = u64::MAX;

zeroed! {
    /// An entry in a set of node names, which says which node of this thread an index stands for.
    #[derive(Debug)]
    pub(crate) struct NodeName {
        /// Number of the set that this entry belongs to.
        pub(crate) set: AtomicU64,
        /// Index of the node in this thread's tree.
        pub(crate) index: AtomicU32,
    }
}

zeroed! {
    /// The watched call of a thread, and the sums of earlier watched calls.
    #[derive(Debug)]
    pub(crate) struct Watching {
        /// The node of the open call; `None` if no watched call is open.
        pub(crate) root: Ref<Node>,
        /// The slot of the open call's watch. `number` is the number of the watch when the call began.
        pub(crate) slot: AtomicU32,
        /// The `Path` that events took before the watched call.
        pub(crate) outside: AtomicU32,
        pub(crate) number: AtomicU64,
        /// Tick at which the open call began.
        pub(crate) began: AtomicU64,
        /// Not 0 while a call is being summed up after it has ended.
        pub(crate) busy: AtomicU32,
        /// The [`Kind`] of the event just before the journal's current area.
        pub(crate) before: AtomicU64,
        /// Not 0 if some of the open call's time is unknown.
        pub(crate) broken: AtomicU32,
        /// The words from earlier polls, if the call belongs to a future that has been polled before.
        pub(crate) carried: Ref<CarriedCall>,
        /// How the open poll ends: [`OVER`] if the call ends with it, otherwise the id of the call; 0 while this is unknown.
        pub(crate) ending: AtomicU64,
        pub(crate) awaited: Awaited,
        pub(crate) journal: Journal,
        /// Maps node indices in a call's words to nodes of this thread. While a call is replayed, its words may contain node
        /// indices from another thread's tree.
        pub(crate) names: Column<NodeName>,
        /// Number of the newest set of names.
        pub(crate) names_number: AtomicU64,
        /// The indices of the nodes that have pending sums, and how many there are.
        pub(crate) touched: Column<AtomicU32>,
        pub(crate) touched_count: AtomicU32,
        pub(crate) sums: [SumsOfWatch; WATCHES_MAX],
    }
}

impl Watching {
    /// Forgets all state, before the tree is used again.
    pub(crate) fn clear(&self) {
        self.root.set(None);
        self.carried.set(None);
        self.busy.store(0, Ordering::Relaxed);
        self.touched_count.store(0, Ordering::Relaxed);
        self.sums.iter().for_each(SumsOfWatch::forget);
    }

    /// Clears the sums that an earlier node with this index has left behind.
    pub(crate) fn clear_node(&self, index: u32) {
        for sums in &self.sums {
            sums.clear_node(index);
        }
    }

    /// Returns whether a watched call is open.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.root.get().is_some()
    }

    pub(crate) fn of_slot(&self) -> Option<(&'static Watch, &SumsOfWatch)> {
        let slot = self.slot.load(Ordering::Relaxed);
        watch::get(slot).zip(self.sums.get(slot as usize))
    }
}
