//! State that all threads of a run share: whether it is over, its directory, and its results so far.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::checks::Tally;
use crate::process::Place;

/// Maximum time that a sleeping thread needs to notice that [`Over`] was set.
const NAP: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct Soak {
    pub(crate) place: Place,
    pub(crate) over: Over,
    pub(crate) tally: Tally,
}

/// Tells whether the run, or a part of it, is over. A run is over when its time is up, or after Ctrl-C.
#[derive(Clone, Debug, Default)]
pub(crate) struct Over(pub(crate) Arc<AtomicBool>);

impl Over {
    pub(crate) fn set(&self) {
        self.0.store(true, Relaxed);
    }

    /// Sleeps for `ms` milliseconds, or until this is set. Returns whether it is set.
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
