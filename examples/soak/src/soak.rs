//! State that all threads of a run share: whether it is over, its directory, and its results so far.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::checks::Tally;
use crate::process::Place;

/// Longest time after which a sleeper notices the end.
const NAP: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct Soak {
    pub(crate) place: Place,
    pub(crate) over: Over,
    pub(crate) tally: Tally,
}

/// Whether something is over: the run, by its time or by Ctrl-C, or a part of the run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Over(pub(crate) Arc<AtomicBool>);

impl Over {
    pub(crate) fn set(&self) {
        self.0.store(true, Relaxed);
    }

    /// Sleeps for this many milliseconds, or until the end. Returns whether the end has come.
    pub(crate) fn sleep(&self, ms: u64) -> bool {
        let end = Instant::now() + Duration::from_millis(ms);
        while !self.0.load(Relaxed) && Instant::now() < end {
            thread::sleep(NAP.min(end.saturating_duration_since(Instant::now())));
        }
        self.0.load(Relaxed)
    }
}

/// Returns true in one of `times` calls on average.
pub(crate) fn one_in(times: u32) -> bool {
    fastrand::u32(..times) == 0
}
