//! The calling thread: its phase, and its tree if it is counting.
//!
//! Each thread has a pointer to its tree, which is set only while the thread is counting. While it is not set, events take the
//! slow path.

use std::cell::Cell;
use std::sync::atomic::{Ordering, compiler_fence};

use crate::enabled::platform::sync::add;
use crate::enabled::record::hot_tree;
pub(crate) use crate::enabled::record::hot_tree::get as hot;
use crate::enabled::record::measures::{Amounts, QUANTITIES};
use crate::enabled::record::registry::{self, Block};
use crate::enabled::record::tree::Tree;

/// The phase of the calling thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The thread has not begun a scope yet.
    New,
    /// The thread is being registered. If it starts a scope now, that scope is part of the collector's own work.
    Busy,
    /// The thread counts.
    Counting,
    /// The thread does not count, because it was excluded or because measuring is off.
    Excluded,
    /// The thread is ending. Any calls from now on are dropped.
    Gone,
}

/// The state of the calling thread, except the pointer to its tree.
#[derive(Clone, Copy)]
struct Own {
    phase: Phase,
    block: Option<&'static Block>,
}

thread_local! {
    /// Whether the thread is doing the collector's own work.
    static OWN_WORK: Cell<bool> = const { Cell::new(false) };
    /// Quantities that were measured before the thread's first scope.
    static EARLY: Cell<[u64; QUANTITIES]> = const { Cell::new([0; QUANTITIES]) };
    /// Whether the thread has left [`Phase::New`]. This is a separate variable, so that reading it needs no function call.
    #[cfg(all(feature = "hooks", target_arch = "x86_64"))]
    static DECIDED: Cell<bool> = const { Cell::new(false) };
    static OWN: Cell<Own> = const { Cell::new(Own { phase: Phase::New, block: None }) };
}

/// Returns whether the calling thread has left [`Phase::New`].
#[cfg(all(feature = "hooks", target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn is_decided() -> bool {
    // Unlike `DECIDED.get()`, this is inlined even without link-time optimisation.
    DECIDED.try_with(Cell::get).unwrap_or_default()
}

pub(crate) fn phase() -> Phase {
    OWN.get().phase
}

/// Returns the tree of the calling thread, even while the thread does not count.
pub(crate) fn own() -> Option<&'static Tree> {
    let own = OWN.get();
    own.block
        .filter(|_| own.phase != Phase::Gone)
        .map(|block| &block.tree)
}

pub(crate) fn block() -> Option<&'static Block> {
    OWN.get().block
}

/// Sets the phase and block of the calling thread. A signal handler that interrupts this function may see a thread that has a
/// tree but is not counting. It never sees a thread that is counting without a tree.
pub(crate) fn set(phase: Phase, block: Option<&'static Block>) {
    let counts = phase == Phase::Counting;
    let tree = block.filter(|_| counts).map(|block| &block.tree);
    if counts {
        hot_tree::set(tree);
        compiler_fence(Ordering::SeqCst);
    }
    OWN.set(Own { phase, block });
    #[cfg(all(feature = "hooks", target_arch = "x86_64"))]
    DECIDED.set(true);
    compiler_fence(Ordering::SeqCst);
    hot_tree::set(tree);
}

/// Marks the calling thread as doing the collector's own work until the returned guard is dropped. Meanwhile its allocations are
/// not counted as the program's.
#[must_use = "the work ends with this guard"]
pub(crate) fn own_work() -> OwnWork {
    OwnWork {
        before: OWN_WORK.replace(true),
    }
}

#[derive(Debug)]
pub(crate) struct OwnWork {
    before: bool,
}

impl Drop for OwnWork {
    fn drop(&mut self) {
        OWN_WORK.set(self.before);
    }
}

#[inline(always)]
pub(crate) fn is_own_work() -> bool {
    OWN_WORK.get()
}

/// Counts amounts that are measured before the calling thread's first scope. Ignores amounts if the thread has no tree for some
/// other reason.
#[cold]
#[inline(never)]
pub(crate) fn measure_early<const N: usize>(amounts: Amounts<N>) {
    if phase() != Phase::New || is_own_work() {
        return;
    }
    let mut early = EARLY.get();
    for (quantity, amount) in amounts {
        let value = &mut early[quantity.code() as usize];
        *value = value.wrapping_add(amount);
    }
    EARLY.set(early);
}

/// Returns the quantities that were measured before the thread's first scope, and resets them.
pub(crate) fn take_early() -> [u64; QUANTITIES] {
    EARLY.replace([0; QUANTITIES])
}

/// Counts a call as dropped because there is no node for it.
pub(crate) fn drop_call() {
    match hot() {
        Some(tree) => add(&tree.dropped, 1),
        None => registry::drop_call(),
    }
}

/// Makes the calling thread count into `tree` while `body` runs. The thread must be one that does not count otherwise, and that
/// receives no signals.
pub(crate) fn with_tree<T>(tree: &'static Tree, body: impl FnOnce() -> T) -> T {
    let before = hot();
    hot_tree::set(Some(tree));
    let value = body();
    hot_tree::set(before);
    value
}
