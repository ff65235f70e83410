//! Waiting for what other threads do, as long as they do it.

use std::time::{Duration, Instant};

use crate::enabled::platform::os;

/// The longest wait, however much progress there is.
const LONGEST: Duration = Duration::from_secs(30);

/// The time between two looks, at first and at most.
const LOOK_AGAIN: Duration = Duration::from_micros(20);
const LOOK_AGAIN_MOST: Duration = Duration::from_millis(2);

/// Waits as long as there is progress, which is CPU time of the threads that are waited for: a thread that gets no CPU makes none.
#[derive(Debug)]
pub(crate) struct Patience {
    began: Instant,
    /// The longest time without progress.
    limit: Duration,
    /// When there was progress last, and the CPU time of those threads then.
    last: (Instant, u64),
    look_again: Duration,
}

impl Patience {
    pub(crate) fn new(limit: Duration) -> Self {
        let now = Instant::now();
        Self {
            began: now,
            limit,
            last: (now, 0),
            look_again: LOOK_AGAIN,
        }
    }

    /// Waits a moment for these threads; 0 is none. Returns false if there was no progress for too long.
    pub(crate) fn wait(&mut self, threads: &[u32]) -> bool {
        let known = threads.iter().filter(|&&tid| tid != 0);
        let worked = known
            .filter_map(|&tid| os::cpu_ns_of(tid))
            .fold(0, u64::wrapping_add);
        let now = Instant::now();
        if worked != self.last.1 {
            self.last = (now, worked);
        }
        let goes_on = now - self.last.0 < self.limit && now - self.began < LONGEST;
        if goes_on {
            std::thread::sleep(self.look_again);
            self.look_again = (self.look_again * 2).min(LOOK_AGAIN_MOST);
        }
        goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_without_progress_and_not_before() {
        let mut patience = Patience::new(Duration::from_millis(20));
        let begin = Instant::now();
        // The thread that waits is the one that works, so there is progress for as long as it spends CPU time.
        while begin.elapsed() < Duration::from_millis(60) {
            assert!(patience.wait(&[0, os::thread_id()]));
        }
        let begin = Instant::now();
        while patience.wait(&[0]) {}
        assert!(begin.elapsed() >= Duration::from_millis(20));
    }
}
