//! The publisher that the environment starts, on its way.

use std::sync::atomic::{AtomicU32, Ordering};

/// The publisher that the environment starts, until it looks at `SHARED`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Live {
    /// There is none, or it has looked.
    None,
    /// Its thread is being made.
    Tried,
    /// It has a thread.
    Coming,
}

/// What became of the publisher that the environment starts, as a [`Live`].
static LIVE: AtomicU32 = AtomicU32::new(Live::None as u32);

impl Live {
    /// Whether this is what became of it.
    pub(super) fn is(self) -> bool {
        LIVE.load(Ordering::Relaxed) == self as u32
    }

    pub(super) fn set(self) {
        LIVE.store(self as u32, Ordering::Relaxed);
    }

    /// The same where its thread has not looked already.
    pub(super) fn set_unless_over(self) {
        let tried = Self::Tried as u32;
        _ = LIVE.compare_exchange(tried, self as u32, Ordering::Relaxed, Ordering::Relaxed);
    }
}
