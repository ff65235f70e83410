//! Waits for other threads for as long as they make progress.

use std::time::{Duration, Instant};

use crate::enabled::platform::{os, threads};

/// Maximum wait, even if there is progress.
const LONGEST: Duration = Duration::from_secs(30);

/// Time between two checks: [`LOOK_AGAIN`] at first, then doubling up to [`LOOK_AGAIN_MOST`].
const LOOK_AGAIN: Duration = Duration::from_micros(20);
const LOOK_AGAIN_MOST: Duration = Duration::from_millis(2);

/// Waits for threads for as long as they make progress. Progress means that they use CPU time, so a thread that gets no
/// CPU makes none.
pub(crate) struct Patience {
    began: Instant,
    /// How long to wait without any progress.
    limit: Duration,
    /// Time of the last progress.
    last: Instant,
    /// The threads at the last check, with their CPU times in nanoseconds.
    seen: [(u32, u64); 2],
    look_again: Duration,
}

impl Patience {
    pub(crate) fn new(limit: Duration) -> Self {
        let now = Instant::now();
        Self {
            began: now,
            limit,
            last: now,
            seen: [(0, 0); 2],
            look_again: LOOK_AGAIN,
        }
    }

    pub(crate) fn idle(&self) -> Duration {
        self.last.elapsed()
    }

    /// Sleeps for a moment while waiting for the threads with these ids. Ignores the id 0 and the id of the calling
    /// thread. Returns false if there has been no progress for `limit`, or if the whole wait has reached [`LONGEST`].
    pub(crate) fn wait(&mut self, threads: [u32; 2]) -> bool {
        let own = threads::thread_id();
        let is_waited_for = |tid: u32| tid != 0 && tid != own;
        let look = |tid: u32| {
            (
                tid,
                os::cpu_ns_of(tid).filter(|_| is_waited_for(tid)).unwrap_or(0),
            )
        };
        let now = threads.map(look);
        // The first check of a thread has no earlier CPU time to compare with.
        let has_worked = |(before, now): (&(u32, u64), &(u32, u64))| before.0 == now.0 && before.1 < now.1;
        if self.seen.iter().zip(&now).any(has_worked) {
            self.last = Instant::now();
        }
        self.seen = now;
        let goes_on = self.idle() < self.limit && self.began.elapsed() < LONGEST;
        if goes_on {
            std::thread::sleep(self.look_again);
            self.look_again = (self.look_again * 2).min(LOOK_AGAIN_MOST);
        }
        goes_on
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use super::*;

    #[test]
    fn waiting_ends_without_progress_of_another_thread_and_not_before() {
        let (tid, over) = (AtomicU32::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                tid.store(threads::thread_id(), Ordering::Relaxed);
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let mut patience = Patience::new(Duration::from_secs(3));
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_millis(60) {
                assert!(patience.wait([0, tid.load(Ordering::Relaxed)]));
            }
            over.store(true, Ordering::Relaxed);
        });
        let mut patience = Patience::new(Duration::from_millis(20));
        let begin = Instant::now();
        while patience.wait([0, threads::thread_id()]) {}
        assert!(begin.elapsed() >= Duration::from_millis(20));
    }
}
