//! The calling thread: its tree while it counts, and its phase.
//!
//! Each thread has a pointer to its tree, which is set only while the thread counts. Without the pointer, events take the slow
//! path.

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
    /// The thread is being registered. A scope that it begins now is inside the collector's own work.
    Busy,
    /// The thread counts.
    Counting,
    /// The thread does not count, because it was excluded or because measuring is off.
    Excluded,
    /// The thread is ending. Its further calls are dropped.
    Gone,
}

/// The state of the calling thread, except the pointer to its tree.
#[derive(Clone, Copy)]
struct Own {
    phase: Phase,
    block: Option<&'static Block>,
}

thread_local! {
    /// Whether the thread works for the collector itself.
    static OWN_WORK: Cell<bool> = const { Cell::new(false) };
    /// Amounts counted before the thread's first scope.
    static EARLY: Cell<[u64; QUANTITIES]> = const { Cell::new([0; QUANTITIES]) };
    /// Whether the thread has left [`Phase::New`]. This is a separate word, which can be read without a function call.
    #[cfg(all(feature = "hooks", target_arch = "x86_64"))]
    static DECIDED: Cell<bool> = const { Cell::new(false) };
    static OWN: Cell<Own> = const { Cell::new(Own { phase: Phase::New, block: None }) };
}

/// Returns whether the calling thread has left [`Phase::New`].
#[cfg(all(feature = "hooks", target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn is_decided() -> bool {
    // This is inlined even without link-time optimisation, unlike `DECIDED.get()`.
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

/// Sets the phase and block of the calling thread. A signal handler that runs meanwhile may find that the thread has a tree but
/// does not count. It never finds a thread that counts without a tree.
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

/// Until the guard is dropped, the calling thread works for the collector, so its allocations do not count as the program's.
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

/// Counts amounts before the calling thread's first scope. Ignores amounts if the thread has no tree for another reason.
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

/// Returns the amounts counted before the thread's first scope, and forgets them.
pub(crate) fn take_early() -> [u64; QUANTITIES] {
    EARLY.replace([0; QUANTITIES])
}

/// Counts a call that no node can count.
pub(crate) fn drop_call() {
    match hot() {
        Some(tree) => add(&tree.dropped, 1),
        None => registry::drop_call(),
    }
}

/// Lets the calling thread count in a given tree while `body` runs. The thread must not count otherwise and must
/// receive no signals.
pub(crate) fn with_tree<T>(tree: &'static Tree, body: impl FnOnce() -> T) -> T {
    let before = hot();
    hot_tree::set(Some(tree));
    let value = body();
    hot_tree::set(before);
    value
}
