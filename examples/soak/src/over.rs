//! The end of a run: by its time, or by ctrl-C.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::TERM_SIGNALS;

/// So long a sleeper takes at most to find that it is over.
const NAP: Duration = Duration::from_millis(20);

/// Whether it is over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Over(Arc<AtomicBool>);

impl Over {
    /// Also set by the signals that end programs.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn by_signal() -> io::Result<Self> {
        let over = Self::default();
        for &signal in TERM_SIGNALS {
            // The second one ends us as if we were not here.
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

    /// Sleeps so long, or until it is over; true where it is.
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
