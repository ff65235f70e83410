//! The blocks of all threads, each with its thread's tree, in a list that only grows. Blocks are taken and given back without a
//! lock.

use tickscope_format::snapshot::Mode;

use crate::enabled::platform::sync::{AtomicU32, AtomicU64, Ordering, fence};
use crate::enabled::record::arena::{Array, Ref, zeroed, zeros};
use crate::enabled::record::mode_switch;
use crate::enabled::record::pc_ring::PcRing;
use crate::enabled::record::tree::{Path, Tree};

zeroed! {
    #[repr(C, align(64))]
    #[derive(Debug)]
    pub(crate) struct Block {
        pub(crate) tree: Tree,
        /// The kernel's id of the thread; 0 before its tree is ready.
        pub(crate) tid: AtomicU32,
        /// The thread's code samples, if they were ever requested.
        pub(crate) pcs: Ref<PcRing>,
        /// [`FREE`], [`TAKEN`] or [`LEFT`].
        state: AtomicU32,
        /// Name and CPU time of the block's thread when the thread left.
        left_name: [AtomicU64; 2],
        left_cpu_ns: AtomicU64,
        /// The next block in the list. It does not change once the block is in the list.
        next: Ref<Block>,
    }
}

/// Number of nodes of all live threads, without roots. No other access depends on its ordering, so models use std's
/// atomic.
static NODES: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

/// Maximum number of nodes of all live threads.
static NODES_MOST: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(u32::MAX);

/// Number of calls that no tree could count: calls of ending threads, and calls inside events.
static DROPPED: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Number of threads that have begun to count.
static BEGUN: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

const FREE: u32 = 0;
const TAKEN: u32 = 1;

/// The thread has ended without the capture lock; the next thread that takes the lock merges the block.
const LEFT: u32 = 2;

/// Number of blocks that were left behind and not merged yet. If it is 0, the walk over all blocks is not needed.
static LEFT_BEHIND: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

static ALL: Ref<Block> = Ref::none();

impl Block {
    /// Returns the block's address, which stands for its thread until the block is given back.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Lets the block's thread count from now on. The tree must be open. `exact` is the path that events take in exact mode.
    pub(crate) fn begin(&self, tid: u32, exact: Path) {
        // SYNC POINT: the tree before the thread's tid (meets `living`).
        self.tid.store(tid, Ordering::Release);
        // A mode switch that did not find this tree, and so did not alarm it, was noted before this tid was stored. So the switch
        // is visible after the fence in `catch_up`.
        self.tree.begin_mode(exact);
        BEGUN.fetch_add(1, Ordering::Relaxed);
    }
}

/// Takes a block that was given back, or a new one; `None` if there is no memory.
pub(crate) fn take() -> Option<&'static Block> {
    for block in all() {
        let taken = block
            .state
            .compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed);
        if taken.is_ok() {
            return Some(block);
        }
    }
    let pages: Array<Block> = zeros();
    let block = pages.allocate(1).then(|| pages.get(0))??;
    block.state.store(TAKEN, Ordering::Relaxed);
    ALL.push(block, |next| block.next.set(next));
    Some(block)
}

/// Gives a block back. Only its thread may call this, or a thread that merges the block. If the block has begun to
/// count, the caller must hold the capture lock, so that no other thread reads the block.
pub(crate) fn give_back(block: &'static Block) {
    block.tid.store(0, Ordering::Relaxed);
    block.state.store(FREE, Ordering::Release);
}

/// Gives back a block whose thread has ended and no longer counts, together with its nodes.
pub(crate) fn forget(block: &'static Block) {
    NODES.fetch_sub(block.tree.nodes.len().saturating_sub(1), Ordering::Relaxed);
    give_back(block);
}

pub(crate) fn set_most_nodes(most: u32) {
    NODES_MOST.store(most, Ordering::Relaxed);
}

/// Counts one more node in this process. At the maximum number, returns false and counts nothing.
pub(crate) fn may_add_node() -> bool {
    let has_space = NODES.fetch_add(1, Ordering::Relaxed) < NODES_MOST.load(Ordering::Relaxed);
    if !has_space {
        NODES.fetch_sub(1, Ordering::Relaxed);
    }
    has_space
}

/// Counts one more node in this process, without a limit.
pub(crate) fn add_node() {
    NODES.fetch_add(1, Ordering::Relaxed);
}

pub(crate) fn begun() -> u64 {
    BEGUN.load(Ordering::Relaxed)
}

/// Counts a call that no tree can count.
pub(crate) fn drop_call() {
    DROPPED.fetch_add(1, Ordering::Relaxed);
}

pub(crate) fn dropped_calls() -> u64 {
    DROPPED.load(Ordering::Relaxed)
}

/// Leaves a block behind, with the kernel's name of the thread and its CPU time. The thread calls this at its very end.
pub(crate) fn leave(block: &'static Block, name: [u8; 16], cpu_ns: u64) {
    for (word, bytes) in block.left_name.iter().zip(name.as_chunks().0) {
        word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
    }
    block.left_cpu_ns.store(cpu_ns, Ordering::Relaxed);
    // SYNC POINT: all work of the thread before its block is `LEFT` (meets `left`).
    block.state.store(LEFT, Ordering::Release);
    LEFT_BEHIND.fetch_add(1, Ordering::Release);
}

/// Returns the blocks that were left behind, each with its thread's name and CPU time. The caller holds the capture lock, and
/// merges all of them.
pub(crate) fn left() -> impl Iterator<Item = (&'static Block, [u8; 16], u64)> {
    let any = LEFT_BEHIND.load(Ordering::Acquire) > 0;
    let blocks = any.then(all).into_iter().flatten();
    // SYNC POINT: all work of the thread before its block is `LEFT` (meets `leave`).
    let left = blocks.filter(|block| block.state.load(Ordering::Acquire) == LEFT);
    left.map(|block| {
        LEFT_BEHIND.fetch_sub(1, Ordering::Relaxed);
        let mut name = [0; 16];
        for (bytes, word) in name.as_chunks_mut().0.iter_mut().zip(&block.left_name) {
            *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
        }
        (block, name, block.left_cpu_ns.load(Ordering::Relaxed))
    })
}

/// Returns all blocks, the newest first.
pub(crate) fn all() -> impl Iterator<Item = &'static Block> {
    std::iter::successors(ALL.get_acquire(), |block| block.next.get_acquire())
}

/// Returns the blocks of threads that have begun to count, including ended threads that are not merged yet.
pub(crate) fn living() -> impl Iterator<Item = &'static Block> {
    all().filter(|block| is_living(block))
}

/// Returns the blocks of [`living`], from the block after `at` in the list around to `at` itself.
pub(crate) fn living_after(at: Option<&'static Block>) -> impl Iterator<Item = &'static Block> {
    let behind = at
        .into_iter()
        .flat_map(|at| std::iter::successors(at.next.get_acquire(), |block| block.next.get_acquire()));
    let is_last = move |block: &&'static Block| at.is_some_and(|at| std::ptr::eq(*block, at));
    let mut at_end = false;
    let before = all().take_while(move |block| !std::mem::replace(&mut at_end, is_last(block)));
    behind.chain(before).filter(|block| is_living(block))
}

fn is_living(block: &Block) -> bool {
    block.state.load(Ordering::Acquire) != FREE && block.tid.load(Ordering::Acquire) != 0
}

/// Notes a switch of modes at a tick, and alarms every tree. The caller holds the capture lock.
pub(crate) fn switch_to(mode: Mode, histograms: bool, tick: u64) {
    mode_switch::note(mode, histograms, tick);
    // SYNC POINT: the switch before the alarm (meets the fence in `catch_up`). A thread that is not found here, or that
    // overwrites the alarm without catching up, sees the switch.
    fence(Ordering::SeqCst);
    for block in living() {
        block.tree.set_path(Path::Alarm);
    }
}

/// Removes all blocks, for the beginning of a model.
#[cfg(test)]
pub(crate) fn forget_all() {
    ALL.set(None);
}
