//! A manual clock, which only the test moves.

use std::sync::atomic::{AtomicU64, Ordering};

use tickscope::Clock;

static TICK: AtomicU64 = AtomicU64::new(1_000_000);

/// Returns the manual clock, for use in a session. One tick is one nanosecond.
pub(crate) fn by_hand() -> Clock {
    Clock::Custom(tick, 1e9)
}

/// Returns the current tick of the manual clock.
pub(crate) fn tick() -> u64 {
    TICK.load(Ordering::Relaxed)
}

pub(crate) fn spend(ticks: u64) {
    TICK.fetch_add(ticks, Ordering::Relaxed);
}

/// Moves the manual clock back.
pub(crate) fn step_back(ticks: u64) {
    TICK.fetch_sub(ticks, Ordering::Relaxed);
}
