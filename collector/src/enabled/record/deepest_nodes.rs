//! Stack addresses at which the deepest nodes were created. They tell leaked guards from recursion.
//!
//! A guard that is leaked in a loop leaves one more call open in each iteration, until the depth limit is reached.
//! Recursion reaches the limit too, but each recursive call is further down the stack than its caller. So the stack
//! addresses of the deepest nodes are recorded. If they are all the same, the guards were leaked in a single function.

use std::hint::black_box;

use crate::enabled::platform::sync::{AtomicU64, Ordering};
use crate::enabled::record::arena::zeroed;
use crate::enabled::record::node::Node;

/// Number of the deepest nodes whose stack addresses are recorded. If all of these nodes were created at the same
/// address, guards were leaked.
pub(crate) const LEAKED: usize = 32;

zeroed! {
    /// Stack addresses at which the deepest nodes were created, indexed by the depth modulo [`LEAKED`].
    #[derive(Debug)]
    pub(crate) struct DeepestNodes {
        stack: [AtomicU64; LEAKED],
    }
}

impl DeepestNodes {
    pub(crate) fn clear(&self) {
        for stack in &self.stack {
            stack.store(0, Ordering::Relaxed);
        }
    }

    /// Records the stack address at which a node is being created, if it is one of the deepest.
    #[inline(never)]
    pub(crate) fn note(&self, node: &Node, depth_max: u32) {
        if node.depth() + LEAKED as u32 > depth_max
            && let Some(stack) = self.stack.get(node.depth() as usize % LEAKED)
        {
            let here = 0_u8;
            let here = std::ptr::from_ref(black_box(&here)).addr();
            stack.store(here as u64, Ordering::Relaxed);
        }
    }

    /// Returns whether all recorded nodes were created at the same stack address.
    pub(crate) fn are_at_one_place(&self) -> bool {
        let [first, others @ ..] = &self.stack;
        let first = first.load(Ordering::Relaxed);
        first != 0 && others.iter().all(|stack| stack.load(Ordering::Relaxed) == first)
    }
}
