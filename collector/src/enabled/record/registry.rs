//! The blocks of all threads, each containing the thread's tree, in a list that only grows. Threads take blocks and give them
//! back without a lock.

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
        /// The kernel's id for the thread; 0 until the tree is ready.
        pub(crate) tid: AtomicU32,
        /// The thread's code samples, if they were ever requested.
        pub(crate) pcs: Ref<PcRing>,
        /// Whether a thread has the block: [`FREE`], [`TAKEN`] or [`LEFT`].
        state: AtomicU32,
        /// The thread's name when it left the block behind.
        left_name: [AtomicU64; 2],
        /// The thread's CPU time when it left the block behind, in ns.
        left_cpu_ns: AtomicU64,
        /// The next block in the list. It does not change once the block is in the list.
        next: Ref<Block>,
    }
}

/// Number of nodes of all live threads, without roots. No other access depends on the ordering of this atomic, so even loom
/// models use std's atomic for it.
static NODES: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

/// Maximum number of nodes of all live threads.
static NODES_MOST: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(u32::MAX);

/// Number of calls that no tree could count, because their thread was ending or was handling an event.
static DROPPED: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Number of threads that have begun to count.
static BEGUN: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

const FREE: u32 = 0;
const TAKEN: u32 = 1;

/// The thread has ended and could not take the capture lock. The next thread that takes the lock merges the block.
const LEFT: u32 = 2;

/// Number of blocks that were left behind and are not merged yet. While it is 0, no thread needs to search the list for them.
static LEFT_BEHIND: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

static ALL: Ref<Block> = Ref::none();

impl Block {
    /// Returns the block's address, which identifies the thread until the block is given back.
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Lets the block's thread count from now on. The tree must have been opened. `exact` is the path that events take in exact
    /// mode.
    pub(crate) fn begin(&self, tid: u32, exact: Path) {
        // SYNC POINT: the tree is ready before the tid is stored (pairs with `living`).
        self.tid.store(tid, Ordering::Release);
        // A concurrent mode switch may miss this tid and then does not alarm the tree. In that case, the switch is visible after
        // the fence in `catch_up`, which `begin_mode` calls.
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

/// Gives a block back. Only the block's thread, or a thread that merges the block, may call this. If the block's thread has begun
/// to count, the caller must hold the capture lock, so that no other thread reads the block.
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

/// Counts one more node in this process. If the maximum is reached, returns false and counts nothing.
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

/// Leaves a block behind, with the kernel's name for the thread and the thread's CPU time. This is the last thing that the thread
/// does with the block.
pub(crate) fn leave(block: &'static Block, name: [u8; 16], cpu_ns: u64) {
    for (word, bytes) in block.left_name.iter().zip(name.as_chunks().0) {
        word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
    }
    block.left_cpu_ns.store(cpu_ns, Ordering::Relaxed);
    // SYNC POINT: all writes of the thread come before its block becomes `LEFT` (pairs with `left`).
    block.state.store(LEFT, Ordering::Release);
    LEFT_BEHIND.fetch_add(1, Ordering::Release);
}

/// Returns the blocks that were left behind, each with its thread's name and CPU time. The caller must hold the capture lock, and
/// must merge all of these blocks.
pub(crate) fn left() -> impl Iterator<Item = (&'static Block, [u8; 16], u64)> {
    let any = LEFT_BEHIND.load(Ordering::Acquire) > 0;
    let blocks = any.then(all).into_iter().flatten();
    // SYNC POINT: all writes of the thread come before its block becomes `LEFT` (pairs with `leave`).
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

/// Returns the blocks whose threads have begun to count. This includes threads that have ended but are not merged yet.
pub(crate) fn living() -> impl Iterator<Item = &'static Block> {
    all().filter(|block| is_living(block))
}

/// Returns the same blocks as [`living`], but begins with the block after `at`, wraps around at the end of the list, and ends
/// with `at` itself.
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

/// Records a mode switch made at `tick`, and alarms every tree. The caller must hold the capture lock.
pub(crate) fn switch_to(mode: Mode, histograms: bool, tick: u64) {
    mode_switch::note(mode, histograms, tick);
    // SYNC POINT: the switch is recorded before the alarm is set (pairs with the fence in `catch_up`). A thread can miss the
    // alarm, because it is not found here or because it overwrites the alarm without catching up. Such a thread sees the switch
    // itself.
    fence(Ordering::SeqCst);
    for block in living() {
        block.tree.set_path(Path::Alarm);
    }
}

/// Removes all blocks, so that a loom model can begin without any.
#[cfg(test)]
pub(crate) fn forget_all() {
    ALL.set(None);
}
