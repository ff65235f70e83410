//! Handles SIGTERM and SIGINT: a thread waits for the signal, then for the last record, and finally lets the signal end
//! the program.

use std::time::Duration;

use crate::enabled::capture::thread_lifecycle;
use crate::enabled::platform::patience::Patience;
use crate::enabled::platform::{end_signals, threads};

use super::ending;

/// The thread stops waiting for the session's lock after this long without progress.
const LAST: Duration = Duration::from_secs(1);

/// Makes sure that the last record is written when SIGTERM or SIGINT ends the program. Returns a warning if this is not
/// possible.
pub(super) fn end_on_signals() -> Option<String> {
    let error = end_signals::install(wait).err()?;
    Some(format!(
        "signals end the program without a last record: no thread: {error}"
    ))
}

fn wait() {
    thread_lifecycle::exclude();
    threads::name_this_thread(c"tickscope-end");
    let Some(signal) = end_signals::wait() else { return };
    // The signal ends the program even if the lock or the record is not available in time.
    if ending::locked(&mut Patience::new(LAST)).is_some_and(|mut shared| shared.ask_to_finish()) {
        ending::last_record(Some(Duration::ZERO));
    }
    end_signals::end_by(signal);
}
