//! The threads that wait for a lock, and the sum of their waiting times.
//!
//! When a thread starts to wait, it adds the current time to a word in the lock. When it stops waiting, it subtracts the time at
//! that moment. From this word, the total waiting time so far can be computed at any moment and for any number of waiters. The
//! thread that releases the lock takes the waiting time that has accumulated since the lock was last released. No thread writes
//! into another thread's memory, and a lock holds no data about individual threads, because they may end.

use crate::enabled::platform::sync::{AtomicU64, Ordering};

/// Number of low bits in the word that count the waiting threads.
const COUNT_BITS: u32 = 16;

const COUNT: u64 = (1 << COUNT_BITS) - 1;

/// Number of bits for a point in time or a sum of times. Both wrap around.
const TIME_BITS: u32 = u64::BITS - COUNT_BITS;

const TIME: u64 = (1 << TIME_BITS) - 1;

/// The threads waiting for a lock. All times come from the same clock, in any unit.
#[derive(Debug)]
pub(crate) struct Waiters {
    /// The low bits are the number of waiting threads. The high bits are the sum of the times at which threads started to wait,
    /// minus the sum of the times at which they stopped.
    word: AtomicU64,
    /// How much of the total waiting time of all threads has been taken so far.
    taken: AtomicU64,
}

impl Waiters {
    pub(crate) const fn new() -> Self {
        Self {
            word: AtomicU64::new(0),
            taken: AtomicU64::new(0),
        }
    }

    /// Returns whether any thread is waiting.
    #[inline(always)]
    pub(crate) fn any(&self) -> bool {
        self.word.load(Ordering::Relaxed) & COUNT != 0
    }

    /// Begins a wait.
    pub(crate) fn join(&self, now: u64) {
        let one = begun(now);
        let before = self.word.fetch_add(one, Ordering::Relaxed);
        if before & COUNT == 0 {
            // No thread was waiting until now, so no holder is charged for earlier time.
            self.take_until(waited(before.wrapping_add(one), now));
        }
    }

    /// Ends a wait, whether or not the thread got the lock.
    pub(crate) fn leave(&self, now: u64) {
        self.word.fetch_add(begun(now).wrapping_neg(), Ordering::Relaxed);
    }

    /// Takes and returns the waiting time that all threads together have accumulated since the last call.
    pub(crate) fn take(&self, now: u64) -> u64 {
        self.take_until(waited(self.word.load(Ordering::Relaxed), now))
    }

    /// Takes waiting time until the total taken is `all`, and returns how much this was. Returns 0 if another thread has already
    /// taken more.
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

/// Returns what a wait that starts at `now` adds to the word.
fn begun(now: u64) -> u64 {
    (now << COUNT_BITS).wrapping_add(1)
}

/// Computes the total waiting time of all threads until `now` from the word.
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
        /// The time that is taken agrees with a simple model, and so does whether any thread is waiting.
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
