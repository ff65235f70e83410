//! The interface that each compared profiler implements.

use std::cell::Cell;

use tickscope_bench::{Plain, Probe};

/// A compared profiler: its scopes, and how it starts and finishes.
pub(crate) trait Peer: Probe + Sized {
    /// Starts the profiler as its documentation recommends.
    fn start() -> Self;

    /// Runs `work` as one frame, request or pass, for peers that need such units.
    fn pass(work: impl FnOnce()) {
        work();
    }

    /// Shuts the profiler down as a program would. Returns how many scopes the profiler recorded, if it keeps a count.
    fn finish(self) -> Option<u64>;
}

/// Only counts scopes, to find the number that the other peers should record.
pub(crate) struct Counted;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

impl Peer for Plain {
    fn start() -> Self {
        Self
    }

    fn finish(self) -> Option<u64> {
        None
    }
}

impl Probe for Counted {
    type Guard = ();

    fn begin(_: &'static str, _: impl FnOnce() -> tickscope::Scope) {
        COUNT.set(COUNT.get() + 1);
    }
}

impl Peer for Counted {
    fn start() -> Self {
        COUNT.set(0);
        Self
    }

    fn finish(self) -> Option<u64> {
        Some(COUNT.get())
    }
}
