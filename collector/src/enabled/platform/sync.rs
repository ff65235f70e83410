//! The atomics and the pages of trees, blocks, sites and switches: std's. In the tests of this crate they are std's as well, but inside
//! a model they are loom's, so that models run the code that programs run.

pub(crate) use std::sync::atomic::Ordering;

#[cfg(not(test))]
pub(crate) use crate::enabled::platform::os::map_zeroed;
#[cfg(not(test))]
pub(crate) use std::hint::spin_loop;
#[cfg(not(test))]
pub(crate) use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, fence};

#[cfg(test)]
pub(crate) mod modelled;

#[cfg(test)]
pub(crate) use modelled::{AtomicPtr, AtomicU32, AtomicU64, fence, map_zeroed, spin_loop};

/// Whether an addition is one instruction, so that no signal handler comes in between. Where it is not, `current` is taken
/// out meanwhile: what a handler does then is dropped and counted as that, and not lost.
pub(crate) const ADDS_IN_ONE: bool = cfg!(all(target_arch = "x86_64", not(debug_assertions)));

/// Adds to a counter that has one writer.
#[inline(always)]
#[cfg_attr(test, track_caller)]
pub(crate) fn add(counter: &AtomicU64, value: u64) {
    counter.store(
        counter.load(Ordering::Relaxed).wrapping_add(value),
        Ordering::Relaxed,
    );
}
