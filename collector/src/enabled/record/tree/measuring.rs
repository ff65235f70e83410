//! Counts amounts other than calls and time for the thread's innermost open node.

use tickscope_format::snapshot::Quantity;

use super::{Path, Tree};
use crate::enabled::platform::sync::{ADDS_IN_ONE, Ordering};
use crate::enabled::record::measures::{Amounts, NodeMeasures, QUANTITIES};
use crate::enabled::record::node::Node;

impl Tree {
    /// Adds amounts to the innermost open call or, if no call is open, to the root. A signal handler that has interrupted an
    /// event does not know the innermost call, so its amounts are added to the root as well. `exact` returns the path of exact
    /// mode in this process. Returns the innermost node's amounts so far, except in the cases that `measure_rarely` handles.
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

    /// Handles mode switches, a node's first amounts, and signal handlers. Mode switches are handled here because a thread whose
    /// sites are all disabled has no other event at which it could catch up.
    #[cold]
    #[inline(never)]
    fn measure_rarely<const N: usize>(&self, amounts: Amounts<N>, exact: fn() -> Path) {
        self.catch_up_if_alarmed(exact());
        if self.is(Path::Off) {
            return;
        }
        // `current` is taken out while memory is being mapped, so that a signal handler does not map the same memory.
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

    /// Adds amounts to the root, if it already has memory for them.
    pub(crate) fn measure_outside<const N: usize>(&self, amounts: Amounts<N>) {
        if let Some(measures) = self.measures.get(0) {
            measures.add(amounts);
        }
    }

    /// Prepares for sampling a block: returns the index of the node to which the block is charged, and notes that the tree has
    /// sampled blocks. The node is the innermost open node, or the root during an event. Returns `None` if the thread counts
    /// nothing.
    pub(crate) fn place_of_block(&self) -> Option<u32> {
        if self.is(Path::Off) {
            return None;
        }
        self.has_sampled_blocks.store(1, Ordering::Relaxed);
        Some(self.current.get().map_or(0, Node::index))
    }

    /// Returns whether blocks that the tree's thread has allocated may be in the table of live blocks.
    pub(crate) fn has_sampled_blocks(&self) -> bool {
        self.has_sampled_blocks.load(Ordering::Relaxed) != 0
    }

    /// Clears the amounts that an earlier thread has left at this index, before a node is added there.
    pub(crate) fn clear_measures(&self, index: u32) {
        if let Some(measures) = self.measures.get(index) {
            measures.clear();
        }
    }
}
