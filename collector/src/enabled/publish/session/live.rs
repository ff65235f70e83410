//! The publisher that the environment starts, until it runs.

use std::sync::atomic::{AtomicU32, Ordering};

/// How far the publisher that the environment starts has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Live {
    /// There is none, or it has begun its work.
    None,
    /// Its thread is being made.
    Tried,
    /// Its thread exists.
    Coming,
}

/// The present state, as a [`Live`].
static LIVE: AtomicU32 = AtomicU32::new(Live::None as u32);

impl Live {
    /// Returns whether this is the present state.
    pub(super) fn is(self) -> bool {
        LIVE.load(Ordering::Relaxed) == self as u32
    }

    pub(super) fn set(self) {
        LIVE.store(self as u32, Ordering::Relaxed);
    }

    /// Sets the state, unless the thread has already begun its work.
    pub(super) fn set_unless_over(self) {
        let tried = Self::Tried as u32;
        _ = LIVE.compare_exchange(tried, self as u32, Ordering::Relaxed, Ordering::Relaxed);
    }
}
