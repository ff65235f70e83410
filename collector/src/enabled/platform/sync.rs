//! Atomics and pages for trees, blocks, sites and switches. They are std's atomics, except in tests that run a loom
//! model. There they are loom's, so that models run the same code as programs.

pub(crate) use std::sync::atomic::Ordering;

#[cfg(not(test))]
pub(crate) use crate::enabled::platform::os::map_zeroed;
#[cfg(not(test))]
pub(crate) use std::hint::spin_loop;
#[cfg(not(test))]
pub(crate) use std::sync::atomic::{AtomicPtr, AtomicU16, AtomicU32, AtomicU64, fence};

#[cfg(test)]
pub(crate) mod modelled;

#[cfg(test)]
pub(crate) use modelled::{AtomicPtr, AtomicU16, AtomicU32, AtomicU64, fence, map_zeroed, spin_loop};

/// Whether adding to a counter takes a single instruction, which a signal handler cannot interrupt. If it takes more,
/// `current` is taken out of the tree during the addition, so that an event in a signal handler is counted as dropped
/// instead of being lost silently.
pub(crate) const ADDS_IN_ONE: bool = cfg!(all(target_arch = "x86_64", not(debug_assertions)));

/// Adds to a counter that has a single writer.
#[inline(always)]
#[cfg_attr(test, track_caller)]
pub(crate) fn add(counter: &AtomicU64, value: u64) {
    counter.store(
        counter.load(Ordering::Relaxed).wrapping_add(value),
        Ordering::Relaxed,
    );
}
