//! The end by a signal: a thread waits for it, sees to the last record, and ends the program by the signal.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::enabled::capture::thread_lifecycle;
use crate::enabled::platform::{end_signals, os};
use crate::enabled::publish::session_state::shared;

use super::ending;

/// Whether the thread exists.
static HAS_THREAD: AtomicBool = AtomicBool::new(false);

/// Has SIGTERM and SIGINT write the last record. Returns a warning if that is not possible.
pub(super) fn end_on_signals() -> Option<String> {
    if !HAS_THREAD.swap(true, Ordering::Relaxed)
        && let Err(error) = os::spawn(wait)
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
    os::name_this_thread(c"tickscope-end");
    let Some(signal) = end_signals::wait() else { return };
    if shared().ask_to_finish() {
        ending::last_record();
    }
    end_signals::end_by(signal);
}
