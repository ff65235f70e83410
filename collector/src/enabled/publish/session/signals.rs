//! Handles the end by a signal: a thread waits for the signal, waits for the last record, and ends the program by the signal.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::enabled::capture::thread_lifecycle;
use crate::enabled::platform::patience::Patience;
use crate::enabled::platform::{end_signals, threads};

use super::ending;

/// Time for which the thread waits for the session's lock without progress.
const LAST: Duration = Duration::from_secs(1);

/// Whether the thread that waits for signals exists.
static HAS_THREAD: AtomicBool = AtomicBool::new(false);

/// Makes SIGTERM and SIGINT write the last record. Returns a warning if that is not possible.
pub(super) fn end_on_signals() -> Option<String> {
    if !HAS_THREAD.swap(true, Ordering::Relaxed)
        && let Err(error) = threads::spawn(wait)
    {
        HAS_THREAD.store(false, Ordering::Relaxed);
        return Some(format!(
            "signals end the program without a last record: no thread: {error}"
        ));
    }
    end_signals::install();
    None
}

fn wait() {
    thread_lifecycle::exclude();
    threads::name_this_thread(c"tickscope-end");
    let Some(signal) = end_signals::wait() else { return };
    // The signal ends the program also if the lock or the record is not available in time.
    if ending::locked(&mut Patience::new(LAST)).is_some_and(|mut shared| shared.ask_to_finish()) {
        ending::last_record(Some(Duration::ZERO));
    }
    end_signals::end_by(signal);
}
