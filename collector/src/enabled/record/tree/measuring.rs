//! Amounts of nodes other than calls and time, counted in the thread's innermost open node.

use tickscope_format::snapshot::Quantity;

use super::{Path, Tree};
use crate::enabled::platform::sync::{ADDS_IN_ONE, Ordering};
use crate::enabled::record::measures::{Amounts, NodeMeasures, QUANTITIES};
use crate::enabled::record::node::Node;

impl Tree {
    /// Adds amounts to the innermost open call, or outside any scope if no call is open. A signal handler that has interrupted an
    /// event does not know its thread's node, so its amounts are counted outside as well. `exact` is the path of the exact mode
    /// in this process. Returns the innermost node's amounts so far, except in rare cases.
    #[inline]
    pub(crate) fn measure<const N: usize>(
        &self,
        amounts: Amounts<N>,
        exact: fn() -> Path,
    ) -> Option<&'static NodeMeasures> {
        if let Some(current) = self.current.get()
            && let Some(measures) = self.measures.get(current.index())
            && self.path.load(Ordering::Relaxed) >= Path::Fast as u32
        {
            if !ADDS_IN_ONE {
                self.mark();
            }
            measures.add(amounts);
            if !ADDS_IN_ONE {
                self.put(current);
            }
            Some(measures)
        } else {
            self.measure_rarely(amounts, exact);
            None
        }
    }

    /// Handles mode switches, the first amounts of a node, and signal handlers. A thread whose sites are all disabled has
    /// no other event that could catch up with a switch.
    #[cold]
    #[inline(never)]
    fn measure_rarely<const N: usize>(&self, amounts: Amounts<N>, exact: fn() -> Path) {
        self.catch_up_if_alarmed(exact());
        if self.is(Path::Off) {
            return;
        }
        // `current` is taken out while memory is mapped, so that a signal handler does not map the same memory.
        match self.take() {
            Some(current) => {
                self.measure_at(current, amounts);
                self.put(current);
            }
            None => self.measure_outside(amounts),
        }
    }

    pub(crate) fn measure_at<const N: usize>(&self, node: &'static Node, amounts: Amounts<N>) {
        if let Some(measures) = self.measures.make(node.index()) {
            measures.add(amounts);
        }
        self.note_amounts(node, amounts);
    }

    /// Adds to the root the amounts that the thread counted before its first scope, if there are any.
    pub(crate) fn begin_measures(&self, early: [u64; QUANTITIES]) {
        if early != [0; QUANTITIES]
            && let Some(measures) = self.measures.make(0)
        {
            for (quantity, amount) in Quantity::ALL.into_iter().zip(early) {
                measures.add([(quantity, amount)]);
            }
        }
    }

    /// Adds amounts outside any scope, if the root already has memory for them.
    pub(crate) fn measure_outside<const N: usize>(&self, amounts: Amounts<N>) {
        if let Some(measures) = self.measures.get(0) {
            measures.add(amounts);
        }
    }

    /// Returns the index of the node to which a block is charged if it is sampled now: the innermost open node, or the root.
    /// Returns `None` if the thread counts nothing.
    pub(crate) fn place_of_block(&self) -> Option<u32> {
        if self.is(Path::Off) {
            return None;
        }
        self.has_sampled_blocks.store(1, Ordering::Relaxed);
        Some(self.current.get().map_or(0, Node::index))
    }

    /// Returns whether blocks of this life of the tree may be in the table of live blocks.
    pub(crate) fn has_sampled_blocks(&self) -> bool {
        self.has_sampled_blocks.load(Ordering::Relaxed) != 0
    }

    /// Forgets the amounts of an earlier life, before the node with this index is added.
    pub(crate) fn clear_measures(&self, index: u32) {
        if let Some(measures) = self.measures.get(index) {
            measures.clear();
        }
    }
}
