//! The calling thread: its tree while it counts, and what it is to the collector.
//!
//! Each thread has a pointer to its tree. It is a `const` thread-local without a destructor, so reading it is one
//! instruction and is allowed at any time of a thread's life. It is set only while the thread counts. All else goes
//! the slow way, which looks at the rest.

use std::cell::Cell;
use std::sync::atomic::{Ordering, compiler_fence};

use crate::enabled::platform::sync::add;
use crate::enabled::record::registry::{self, Block};
use crate::enabled::record::tree::Tree;

/// What the calling thread is to the collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It has not met a scope yet.
    New,
    /// It is being registered: a scope met now stands inside our own work.
    Busy,
    /// It counts.
    Counting,
    /// It is left out: by choice, or because measuring is off.
    Excluded,
    /// It has ended for us: what comes now is dropped.
    Gone,
}

/// The calling thread's state, beside the hot pointer.
#[derive(Clone, Copy)]
struct Own {
    phase: Phase,
    block: Option<&'static Block>,
}

thread_local! {
    static HOT: Cell<Option<&'static Tree>> = const { Cell::new(None) };
    static OWN: Cell<Own> = const { Cell::new(Own { phase: Phase::New, block: None }) };
}

/// The tree of the calling thread, while it counts.
#[inline(always)]
pub(crate) fn hot() -> Option<&'static Tree> {
    HOT.get()
}

/// The calling thread's phase.
pub(crate) fn phase() -> Phase {
    OWN.get().phase
}

/// The tree of the calling thread, if it has one, whether it counts now or not.
pub(crate) fn own() -> Option<&'static Tree> {
    let own = OWN.get();
    own.block
        .filter(|_| own.phase != Phase::Gone)
        .map(|block| &block.tree)
}

/// The block of the calling thread, if it has one.
pub(crate) fn block() -> Option<&'static Block> {
    OWN.get().block
}

/// Makes the calling thread what it is from now on. A signal handler in between finds a thread that has a tree and may not count, never one that counts without a tree.
pub(crate) fn set(phase: Phase, block: Option<&'static Block>) {
    let counts = phase == Phase::Counting;
    let tree = block.filter(|_| counts).map(|block| &block.tree);
    if counts {
        HOT.set(tree);
        compiler_fence(Ordering::SeqCst);
    }
    OWN.set(Own { phase, block });
    compiler_fence(Ordering::SeqCst);
    HOT.set(tree);
}

/// Counts a call that no node can count.
pub(crate) fn drop_call() {
    match hot() {
        Some(tree) => add(&tree.dropped, 1),
        None => registry::drop_call(),
    }
}

/// Lets the calling thread, which does not count and gets no signals, count in a tree of its own while `body` runs.
pub(crate) fn with_tree<T>(tree: &'static Tree, body: impl FnOnce() -> T) -> T {
    let before = HOT.replace(Some(tree));
    let value = body();
    HOT.set(before);
    value
}
