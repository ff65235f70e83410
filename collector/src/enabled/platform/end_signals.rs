//! Handles the signals that end the program, SIGTERM and SIGINT. The handler only wakes a thread of the collector. That
//! thread finishes its work, and then ends the program by sending it the signal again.

use std::ffi::c_int;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::enabled::platform::{os, signals, threads};

const SIGNALS: [c_int; 2] = [libc::SIGTERM, libc::SIGINT];

/// The first signal that was received; 0 until then.
static CAME: AtomicU32 = AtomicU32::new(0);

/// Interval at which to check whether the program still has other threads.
static LOOK: libc::timespec = libc::timespec {
    tv_sec: 1,
    tv_nsec: 0,
};

/// Id of the process in which a thread waits for the signals; 0 if there is none. A forked child inherits the handlers,
/// but not the waiting thread.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Starts the thread that waits for the signals, unless this process has one. Then installs the handler for each of the
/// [`SIGNALS`] that still has its default action.
///
/// # Errors
/// The thread cannot be started, so no handler is installed.
pub(crate) fn install(waiting_thread: fn()) -> io::Result<()> {
    if OWNER.load(Ordering::Relaxed) != std::process::id() {
        CAME.store(0, Ordering::Relaxed);
        OWNER.store(std::process::id(), Ordering::Relaxed);
        threads::spawn(waiting_thread).inspect_err(|_| OWNER.store(0, Ordering::Relaxed))?;
    }
    for signal in SIGNALS {
        if signals::handler_of(signal) == Some(libc::SIG_DFL) {
            // SAFETY: the handler takes a number, and is async-signal-safe.
            unsafe { signals::set_handler(signal, on_signal as *const () as usize, 0) };
        }
    }
    Ok(())
}

/// Waits for one of the signals and returns it. Returns `None` once only the collector's threads are left.
pub(crate) fn wait() -> Option<c_int> {
    loop {
        match CAME.load(Ordering::Acquire) {
            0 if !threads::has_other_threads() => return None,
            0 => futex(libc::FUTEX_WAIT, 0),
            signal => return Some(signal.cast_signed()),
        }
    }
}

/// Sends a signal to the process. If [`on_signal`] is its handler, the default action is restored first, so that the
/// signal ends the process.
pub(crate) fn end_by(signal: c_int) {
    if signals::handler_of(signal) == Some(on_signal as *const () as usize) {
        // SAFETY: `SIG_DFL` is the default action.
        unsafe { signals::set_handler(signal, libc::SIG_DFL, 0) };
    }
    // SAFETY: `getpid` has no preconditions.
    let pid = unsafe { libc::getpid() };
    // SAFETY: the call takes numbers. The signal goes to the process instead of the calling thread, which may block it.
    unsafe { libc::kill(pid, signal) };
}

extern "C" fn on_signal(signal: c_int) {
    // If the program has installed its own handler since, that handler may call this one, which must then do nothing.
    if signals::handler_of(signal) != Some(on_signal as *const () as usize) {
        return;
    }
    // SAFETY: `getpid` has no preconditions.
    let pid = unsafe { libc::getpid() }.cast_unsigned();
    let is_first = || {
        CAME.compare_exchange(0, signal.cast_unsigned(), Ordering::Release, Ordering::Relaxed)
            .is_ok()
    };
    if pid == OWNER.load(Ordering::Relaxed) && is_first() {
        futex(libc::FUTEX_WAKE, 1);
    } else {
        end_by(signal);
    }
}

/// With `FUTEX_WAIT`, waits for a signal for up to a second. With `FUTEX_WAKE`, wakes the waiting thread.
fn futex(operation: c_int, value: u32) {
    let operation = operation | libc::FUTEX_PRIVATE_FLAG;
    let limit = &raw const LOOK;
    // SAFETY: the word and the time limit are statics. The call changes `errno`, which is restored because the handler
    // may have interrupted the program.
    os::keeping_errno(|| unsafe { libc::syscall(libc::SYS_futex, CAME.as_ptr(), operation, value, limit) });
}
