//! What a profiler must do to stand in the comparison.

use std::cell::Cell;

use tickscope_bench::{Plain, Probe};

/// A profiler: how its scopes open, and what surrounds them.
pub(crate) trait Peer: Probe + Sized {
    /// Starts it as its documents tell a program to.
    fn start() -> Self;

    /// Does some work as one frame, request or pass, for those that want to be told of them.
    fn pass(work: impl FnOnce()) {
        work();
    }

    /// Ends it as a program would. Gives back how many scopes it has by its own count, if it can say.
    fn finish(self) -> Option<u64>;
}

/// Counts scopes and nothing else: what the others should have recorded.
#[derive(Debug)]
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
