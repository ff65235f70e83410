//! The watched functions, as the program's threads see them, with the threshold for slow calls and the slow calls that are kept
//! in full. The publisher starts watches and sets thresholds under the capture lock; threads read them without a lock.

use tickscope_format::snapshot::{LostCalls, WATCHES_MAX};

use crate::enabled::platform::sync::{AtomicU64, Ordering};
use crate::enabled::record::arena::{zeroed, zeros};
use crate::enabled::record::kept_calls::KeptCalls;

zeroed! {
    /// A watched function.
    #[derive(Debug)]
    pub(crate) struct Watch {
        /// Number of the watch; 0 while nothing is watched. Whenever the watch restarts its counts from zero, it gets a new
        /// number.
        number: AtomicU64,
        /// Shortest duration of a slow call, in ticks. As long as this is 0, the threshold is unknown, and no call is watched.
        threshold: AtomicU64,
        /// How many calls were lost, indexed by [`Lost`].
        lost: [AtomicU64; 3],
        /// Number of slow calls so far, which is needed to keep a random sample of them.
        pub(crate) slow_calls: AtomicU64,
        pub(crate) kept: KeptCalls,
    }
}

/// Reason why a watched call is missing from the sums or from the kept calls: see [`LostCalls`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lost {
    Discarded,
    Missed,
    NotKept,
}

static WATCHES: [Watch; WATCHES_MAX] = zeros();

/// Returns the watch in a slot.
pub(crate) fn get(slot: u32) -> Option<&'static Watch> {
    WATCHES.get(slot as usize)
}

impl Watch {
    /// Returns the number of the watch; 0 if nothing is watched.
    pub(crate) fn number(&self) -> u64 {
        self.number.load(Ordering::Acquire)
    }

    /// Starts counting from zero under a new watch number. Number 0 ends the watch. The caller must hold the capture lock.
    pub(crate) fn begin(&self, number: u64) {
        for counter in self.lost.iter().chain([&self.slow_calls]) {
            counter.store(0, Ordering::Relaxed);
        }
        if number == 0 {
            self.threshold.store(0, Ordering::Relaxed);
        }
        self.number.store(number, Ordering::Release);
    }

    /// Returns the shortest duration of a slow call, in ticks; 0 if it is unknown.
    #[inline]
    pub(crate) fn threshold(&self) -> u64 {
        self.threshold.load(Ordering::Relaxed)
    }

    pub(crate) fn set_threshold(&self, ticks: u64) {
        self.threshold.store(ticks, Ordering::Relaxed);
    }

    /// Counts a watched call that is missing from the sums or from the kept calls.
    #[cold]
    pub(crate) fn lose(&self, why: Lost) {
        self.lost[why as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn lost(&self) -> LostCalls {
        let [discarded, missed, not_kept] = self.lost.each_ref().map(|count| count.load(Ordering::Relaxed));
        LostCalls {
            discarded,
            missed,
            not_kept,
        }
    }
}
