//! All threads' trees: a list that only grows, its blocks taken and given back without a lock.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::arena::{Array, Ref, zeroed};
use crate::tree::Tree;

zeroed! {
    /// A thread's block.
    #[repr(C, align(64))]
    #[derive(Debug)]
    pub(crate) struct Block {
        /// The call tree.
        pub(crate) tree: Tree,
        /// The kernel's id of the thread; 0 before its tree is ready.
        pub(crate) tid: AtomicU32,
        /// [`FREE`] or [`TAKEN`].
        state: AtomicU32,
        /// The next one in the list. Fixed once the block is in it.
        next: Ref<Block>,
    }
}

const FREE: u32 = 0;
const TAKEN: u32 = 1;

static ALL: Ref<Block> = Ref::none();

/// Takes a block: one that a thread gave back, else a new one; none where there is no memory.
pub(crate) fn take() -> Option<&'static Block> {
    for block in all() {
        let taken = block
            .state
            .compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed);
        if taken.is_ok() {
            return Some(block);
        }
    }
    let pages: Array<Block> = Array::empty();
    let block = pages.allocate(1).then(|| pages.get(0))??;
    block.state.store(TAKEN, Ordering::Relaxed);
    ALL.push(block, |next| block.next.set(next));
    Some(block)
}

/// Gives a block back. Only by its thread, and where it has begun to count under the capture lock, so that nobody
/// reads it meanwhile.
pub(crate) fn give_back(block: &'static Block) {
    block.tid.store(0, Ordering::Relaxed);
    block.state.store(FREE, Ordering::Release);
}

/// Every block there ever was, the newest first.
pub(crate) fn all() -> impl Iterator<Item = &'static Block> {
    std::iter::successors(ALL.get_acquire(), |block| block.next.get_acquire())
}

/// The blocks of living threads that have begun to count.
pub(crate) fn living() -> impl Iterator<Item = &'static Block> {
    all().filter(|block| {
        block.state.load(Ordering::Acquire) == TAKEN && block.tid.load(Ordering::Acquire) != 0
    })
}
