//! A clock in the test's hand.

use std::sync::atomic::{AtomicU64, Ordering};

use tickscope::Clock;

static TICK: AtomicU64 = AtomicU64::new(1_000_000);

/// A clock that stands still but for [`spend`]: a tick is a nanosecond.
pub(crate) fn by_hand() -> Clock {
    Clock::Custom(tick, 1e9)
}

/// What that clock says.
pub(crate) fn tick() -> u64 {
    TICK.load(Ordering::Relaxed)
}

pub(crate) fn spend(ticks: u64) {
    TICK.fetch_add(ticks, Ordering::Relaxed);
}

/// Has the clock go back.
pub(crate) fn step_back(ticks: u64) {
    TICK.fetch_sub(ticks, Ordering::Relaxed);
}
