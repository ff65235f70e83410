//! Sums over the watched calls of a thread, by node: separately for typical calls, for slow calls, and for the call that is being
//! added up.

use tickscope_format::snapshot::CauseKind;

use crate::enabled::platform::sync::{AtomicU64, Ordering, add};
use crate::enabled::record::arena::{Column, zeroed};

/// The number of counts in [`Sums`].
pub(crate) const COUNTS: usize = 6;

zeroed! {
    /// Counts of a node itself, without its callees. Times are in ticks.
    #[derive(Debug)]
    pub(crate) struct Sums {
        pub(crate) calls: AtomicU64,
        pub(crate) ticks: AtomicU64,
        pub(crate) waiting: AtomicU64,
        pub(crate) ready: AtomicU64,
        pub(crate) allocations: AtomicU64,
        pub(crate) allocated_bytes: AtomicU64,
    }
}

zeroed! {
    /// Slow calls of which this node is the cause, for one kind of cause.
    #[derive(Debug)]
    pub(crate) struct CauseSums {
        pub(crate) calls: AtomicU64,
        pub(crate) excess_ticks: AtomicU64,
        pub(crate) path_calls: AtomicU64,
    }
}

zeroed! {
    #[repr(C, align(64))]
    #[derive(Debug)]
    pub(crate) struct PathSums {
        pub(crate) typical: Sums,
        pub(crate) slow: Sums,
        /// Sums of the call that is being added up. The call has just ended, or has outgrown the journal.
        pub(crate) pending: Sums,
        /// Not 0 if the node is in the list of nodes with pending sums.
        pub(crate) is_touched: AtomicU64,
        /// Excess over a typical call: how many ticks longer the node and all nodes below it worked and waited. In two's
        /// complement.
        pub(crate) excess: AtomicU64,
        /// The part of `excess` in which the thread waited, in ticks and in two's complement.
        pub(crate) excess_waiting: AtomicU64,
        /// Ticks that the call worked and waited in the node and all nodes below it. Time in which the thread was ready but had
        /// no CPU is left out.
        pub(crate) whole: AtomicU64,
        /// Number of the node's path among the typical paths of all threads, plus 1; 0 if the path is not among them.
        pub(crate) path: AtomicU64,
        /// Slow calls that this node caused, by kind of cause.
        pub(crate) causes: [CauseSums; CauseKind::ALL.len()],
    }
}

zeroed! {
    /// The sums of one watch in a thread's tree, by node.
    #[derive(Debug)]
    pub(crate) struct SumsOfWatch {
        /// Number of the watch to which the sums belong; 0 if they belong to no watch or are being cleared.
        number: AtomicU64,
        pub(crate) nodes: Column<PathSums>,
    }
}

impl Sums {
    pub(crate) fn all(&self) -> [&AtomicU64; COUNTS] {
        [
            &self.calls,
            &self.ticks,
            &self.waiting,
            &self.ready,
            &self.allocations,
            &self.allocated_bytes,
        ]
    }

    pub(crate) fn read(&self) -> [u64; COUNTS] {
        self.all().map(|count| count.load(Ordering::Relaxed))
    }

    pub(crate) fn clear(&self) {
        for count in self.all() {
            count.store(0, Ordering::Relaxed);
        }
    }

    /// Moves the sums from `other` to these sums.
    pub(crate) fn take(&self, other: &Self) {
        for (to, from) in self.all().into_iter().zip(other.all()) {
            add(to, from.load(Ordering::Relaxed));
            from.store(0, Ordering::Relaxed);
        }
    }
}

impl PathSums {
    fn clear(&self) {
        for sums in [&self.typical, &self.slow, &self.pending] {
            sums.clear();
        }
        self.is_touched.store(0, Ordering::Relaxed);
        for cause in &self.causes {
            for count in [&cause.calls, &cause.excess_ticks, &cause.path_calls] {
                count.store(0, Ordering::Relaxed);
            }
        }
    }
}

impl SumsOfWatch {
    pub(crate) fn number(&self) -> u64 {
        self.number.load(Ordering::Acquire)
    }

    /// Assigns the sums to the watch with this number, and empties them if they belonged to another watch. `nodes` is the number
    /// of nodes in the tree.
    pub(crate) fn belong_to(&self, number: u64, nodes: u32) {
        if self.number.load(Ordering::Relaxed) == number {
            return;
        }
        self.forget();
        for index in 0..nodes {
            self.clear_node(index);
        }
        // SYNC POINT: the sums are emptied before the number of the watch is stored.
        self.number.store(number, Ordering::Release);
    }

    /// Assigns the sums to no watch.
    pub(crate) fn forget(&self) {
        self.number.store(0, Ordering::Release);
    }

    pub(crate) fn clear_node(&self, index: u32) {
        if let Some(sums) = self.nodes.get(index) {
            sums.clear();
        }
    }
}
