//! A probe that only counts.

use std::cell::Cell;

use tickscope_demo::Probe;

/// Counts the scopes that a workload opens; [`Counted::scopes_in`] returns their number.
#[derive(Clone, Copy, Debug)]
pub struct Counted;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

impl Counted {
    /// Runs a workload that uses this probe, and returns the number of scopes that it opens on this thread.
    pub fn scopes_in(workload: impl FnOnce()) -> u64 {
        COUNT.set(0);
        workload();
        COUNT.get()
    }
}

impl Probe for Counted {
    type Guard = ();

    fn begin(_: &'static str, _: impl FnOnce() -> tickscope::Scope) {
        COUNT.set(COUNT.get() + 1);
    }
}
