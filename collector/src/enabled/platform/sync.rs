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
