//! The threads that wait for a lock, and the sum of their waiting times.
//!
//! Each waiter adds to one word the moment at which its wait begins, and later subtracts the moment at which its wait ends. So
//! the word gives the sum of all waits so far, at any moment and for any number of waiters. The thread that gives the lock back
//! takes the time that was added since the lock was last given back. No thread writes into another thread's memory, and a lock
//! keeps no data of threads, which may end.

use crate::enabled::platform::sync::{AtomicU64, Ordering};

/// The low bits of the word count the threads that wait.
const COUNT_BITS: u32 = 16;

const COUNT: u64 = (1 << COUNT_BITS) - 1;

/// The number of bits of a moment or of a sum of time. Both wrap around.
const TIME_BITS: u32 = u64::BITS - COUNT_BITS;

const TIME: u64 = (1 << TIME_BITS) - 1;

/// The threads that wait for a lock. Moments come from one clock, in any unit.
#[derive(Debug)]
pub(crate) struct Waiters {
    /// Number of waiting threads. The higher bits are the sum of the moments at which threads began to wait, minus the sum of the
    /// moments at which they ceased to wait.
    word: AtomicU64,
    /// Part of the waiting time of all threads that has been taken.
    taken: AtomicU64,
}

impl Waiters {
    pub(crate) const fn new() -> Self {
        Self {
            word: AtomicU64::new(0),
            taken: AtomicU64::new(0),
        }
    }

    /// Returns whether any thread waits.
    #[inline(always)]
    pub(crate) fn any(&self) -> bool {
        self.word.load(Ordering::Relaxed) & COUNT != 0
    }

    /// Begins a wait.
    pub(crate) fn join(&self, now: u64) {
        let one = begun(now);
        let before = self.word.fetch_add(one, Ordering::Relaxed);
        if before & COUNT == 0 {
            // No thread waited until now, so earlier time is charged to no holder.
            self.take_until(waited(before.wrapping_add(one), now));
        }
    }

    /// Ends a wait, whether or not the thread now has the lock.
    pub(crate) fn leave(&self, now: u64) {
        self.word.fetch_add(begun(now).wrapping_neg(), Ordering::Relaxed);
    }

    /// Takes the waiting time of all threads together since the last call.
    pub(crate) fn take(&self, now: u64) -> u64 {
        self.take_until(waited(self.word.load(Ordering::Relaxed), now))
    }

    /// Takes the waiting time of all threads up to the sum `all`. Another thread may have taken more already.
    fn take_until(&self, all: u64) -> u64 {
        let mut taken = self.taken.load(Ordering::Relaxed);
        loop {
            let more = all.wrapping_sub(taken) & TIME;
            if more == 0 || more > TIME / 2 {
                return 0;
            }
            match self
                .taken
                .compare_exchange(taken, all, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return more,
                Err(now) => taken = now,
            }
        }
    }
}

/// Returns the amount that one wait beginning now adds to the word.
fn begun(now: u64) -> u64 {
    (now << COUNT_BITS).wrapping_add(1)
}

/// Returns the waiting time of all threads together until now, computed from a word.
fn waited(word: u64, now: u64) -> u64 {
    let count = word & COUNT;
    count.wrapping_mul(now).wrapping_sub(word >> COUNT_BITS) & TIME
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_clock_near_its_end_and_one_that_goes_back_charge_nothing_wrong() {
        let waiters = Waiters::new();
        waiters.join(u64::MAX - 5);
        assert_eq!(waiters.take(4), 10);
        assert_eq!(waiters.take(2), 0);
        assert_eq!(waiters.take(5), 1);
    }

    proptest! {
        /// The taken time equals the waiting time that a simple model computes, and the number of waiters returns to 0.
        #[test]
        fn all_waits_are_taken(
            steps in proptest::collection::vec((0u8..3, 0u64..1_000_000), 1..200),
        ) {
            let waiters = Waiters::new();
            let (mut now, mut count, mut owed) = (1u64 << 50, 0u64, 0u64);
            for (what, passed) in steps {
                now += passed;
                owed += count * passed;
                match what {
                    0 => {
                        if count == 0 {
                            owed = 0;
                        }
                        waiters.join(now);
                        count += 1;
                    }
                    1 if count > 0 => {
                        waiters.leave(now);
                        count -= 1;
                    }
                    _ => prop_assert_eq!(waiters.take(now), std::mem::take(&mut owed)),
                }
                prop_assert_eq!(waiters.any(), count > 0);
            }
        }
    }
}
