//! The watched call that is open on a thread, and the sums of those before it.

use tickscope_format::snapshot::WATCHES_MAX;

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering};
use crate::enabled::record::arena::{Column, Ref, zeroed};
use crate::enabled::record::journal::Journal;
use crate::enabled::record::node::Node;
use crate::enabled::record::path_sums::SumsOfWatch;
use crate::enabled::record::watch::{self, Watch};

zeroed! {
    /// The watched call of a thread, and the sums of those before it.
    #[derive(Debug)]
    pub(crate) struct Watching {
        /// The node of the open call; `None` if there is none.
        pub(crate) root: Ref<Node>,
        /// The place of its watch, and the watch's number when it began.
        pub(crate) slot: AtomicU32,
        /// The path before it.
        pub(crate) outside: AtomicU32,
        pub(crate) number: AtomicU64,
        /// When it began, in ticks.
        pub(crate) began: AtomicU64,
        /// Not 0 while a call is added up, after its end.
        pub(crate) busy: AtomicU32,
        /// The [`Kind`] of the event before the area of the journal that is being written.
        pub(crate) before: AtomicU64,
        /// Not 0 if not all of the call's time is known.
        pub(crate) broken: AtomicU32,
        pub(crate) journal: Journal,
        /// The nodes with something pending, and how many they are.
        pub(crate) touched: Column<AtomicU32>,
        pub(crate) touched_count: AtomicU32,
        pub(crate) sums: [SumsOfWatch; WATCHES_MAX],
    }
}

impl Watching {
    pub(crate) const fn new() -> Self {
        Self {
            root: Ref::none(),
            slot: AtomicU32::new(0),
            outside: AtomicU32::new(0),
            number: AtomicU64::new(0),
            began: AtomicU64::new(0),
            busy: AtomicU32::new(0),
            before: AtomicU64::new(0),
            broken: AtomicU32::new(0),
            journal: Journal::new(),
            touched: Column::new(),
            touched_count: AtomicU32::new(0),
            sums: [const { SumsOfWatch::new() }; WATCHES_MAX],
        }
    }

    /// Forgets all, for another life of the tree.
    pub(crate) fn clear(&self) {
        self.root.set(None);
        self.busy.store(0, Ordering::Relaxed);
        self.touched_count.store(0, Ordering::Relaxed);
        self.sums.iter().for_each(SumsOfWatch::forget);
    }

    /// Empties what an earlier life of a node has counted.
    pub(crate) fn clear_node(&self, node: &Node) {
        for sums in &self.sums {
            sums.clear_node(node.index());
        }
    }

    /// Returns the sums of a watch, for the publisher.
    pub(crate) fn sums_of(&self, slot: usize) -> Option<&SumsOfWatch> {
        self.sums.get(slot)
    }

    /// Returns whether a watched call is open.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.root.get().is_some()
    }

    /// Returns whether the open watched call is of this node.
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    #[inline(always)]
    pub(crate) fn is_of(&self, node: &'static Node) -> bool {
        self.root.is(node)
    }

    pub(crate) fn of_slot(&self) -> Option<(&'static Watch, &SumsOfWatch)> {
        let slot = self.slot.load(Ordering::Relaxed);
        watch::get(slot).zip(self.sums.get(slot as usize))
    }
}
