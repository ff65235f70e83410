//! The end of a run: after its time, or by Ctrl-C.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::TERM_SIGNALS;

/// The longest time that a sleeper needs to notice the end.
const NAP: Duration = Duration::from_millis(20);

/// Whether the run is over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Over(Arc<AtomicBool>);

impl Over {
    /// Makes a flag that the signals that end programs set as well.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn by_signal() -> io::Result<Self> {
        let over = Self::default();
        for &signal in TERM_SIGNALS {
            // The second signal ends the process as if there were no handler.
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&over.0))?;
            signal_hook::flag::register(signal, Arc::clone(&over.0))?;
        }
        Ok(over)
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Sleeps for so long, or until the run is over. Returns whether it is over.
    pub(crate) fn sleep(&self, time: Duration) -> bool {
        let begin = Instant::now();
        while !self.is_set() {
            let left = time.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return false;
            }
            thread::sleep(left.min(NAP));
        }
        true
    }
}
