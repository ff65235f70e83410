//! A clock under the test's control.

use std::sync::atomic::{AtomicU64, Ordering};

use tickscope::Clock;

static TICK: AtomicU64 = AtomicU64::new(1_000_000);

/// Returns a clock that only [`spend`] moves: a tick is a nanosecond.
pub(crate) fn by_hand() -> Clock {
    Clock::Custom(tick, 1e9)
}

/// Returns the tick of that clock.
pub(crate) fn tick() -> u64 {
    TICK.load(Ordering::Relaxed)
}

pub(crate) fn spend(ticks: u64) {
    TICK.fetch_add(ticks, Ordering::Relaxed);
}

/// Moves the clock back.
pub(crate) fn step_back(ticks: u64) {
    TICK.fetch_sub(ticks, Ordering::Relaxed);
}
