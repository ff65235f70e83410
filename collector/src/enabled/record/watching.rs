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

/// Maximum number of futures that are distinguished if a poll awaits several futures at once.
const AWAITED: usize = 8;

zeroed! {
    /// The futures that were not ready in the open poll of the watched call, in the order of their polls: their nodes and calls.
    /// Futures that await one of these futures are not included.
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

    /// Adds a future. If there are too many futures, the first future is removed.
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

    /// Removes a future whose call was polled again.
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

/// Value of `ending` for a poll that ends the call.
pub(crate) const OVER: u64 = u64::MAX;

zeroed! {
    /// The name of a node in one set of names.
    #[derive(Debug)]
    pub(crate) struct NodeName {
        /// Number of the set to which the name belongs.
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
        /// The path that events took before the watched call.
        pub(crate) outside: AtomicU32,
        pub(crate) number: AtomicU64,
        /// Tick at which the open call began.
        pub(crate) began: AtomicU64,
        /// Not 0 while a call is added up, after its end.
        pub(crate) busy: AtomicU32,
        /// The [`Kind`] of the last event before the area of the journal that is being written.
        pub(crate) before: AtomicU64,
        /// Not 0 if some of the call's time is unknown.
        pub(crate) broken: AtomicU32,
        /// The carried words of earlier polls, if the call belongs to a future and has had earlier polls.
        pub(crate) carried: Ref<CarriedCall>,
        /// How the open poll ends: [`OVER`] if it ends the call, else the call's id; 0 while this is unknown.
        pub(crate) ending: AtomicU64,
        pub(crate) awaited: Awaited,
        pub(crate) journal: Journal,
        /// Maps the index of a node in a call's words to the node's name. While a call is replayed, the words may contain indices
        /// of another thread's tree.
        pub(crate) names: Column<NodeName>,
        /// Number of the newest set of names.
        pub(crate) names_number: AtomicU64,
        /// The nodes with pending sums, and their number.
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

    /// Empties the sums of an earlier node with this index.
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
