//! Signals that end the program, SIGTERM and SIGINT: a handler that only wakes a thread of ours, which then ends the program by the
//! signal after what is left to do.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::enabled::platform::os;

/// The signals.
const SIGNALS: [c_int; 2] = [libc::SIGTERM, libc::SIGINT];

/// The signal that came; 0 before.
static CAME: AtomicU32 = AtomicU32::new(0);

/// The time between two looks whether the program has other threads.
static LOOK: libc::timespec = libc::timespec {
    tv_sec: 1,
    tv_nsec: 0,
};

/// The process that has the handlers; a forked child inherits them, but not the thread.
static OWNER: AtomicU32 = AtomicU32::new(0);

/// Installs the handler for those signals that have their default action.
pub(crate) fn install() {
    OWNER.store(std::process::id(), Ordering::Relaxed);
    for signal in SIGNALS {
        if os::handler_of(signal) == Some(libc::SIG_DFL) {
            // SAFETY: it takes a number, and does only what a handler may.
            unsafe { os::set_handler(signal, on_signal as *const () as usize, 0) };
        }
    }
}

/// Waits for one of the signals and returns it; `None` if the program has no thread any more that is not ours.
pub(crate) fn wait() -> Option<c_int> {
    loop {
        match CAME.load(Ordering::Acquire) {
            0 if !os::has_other_threads() => return None,
            0 => futex(libc::FUTEX_WAIT, 0),
            signal => return Some(signal.cast_signed()),
        }
    }
}

/// Ends the process by a signal whose handler is [`on_signal`]. Another handler gets the signal.
pub(crate) fn end_by(signal: c_int) {
    if os::handler_of(signal) == Some(on_signal as *const () as usize) {
        // SAFETY: this is the default.
        unsafe { os::set_handler(signal, libc::SIG_DFL, 0) };
    }
    // SAFETY: the call takes no arguments.
    let pid = unsafe { libc::getpid() };
    // SAFETY: the call takes numbers. The signal goes to the process, because the calling thread may block it.
    unsafe { libc::kill(pid, signal) };
}

extern "C" fn on_signal(signal: c_int) {
    // A library that has installed its handler since may call this one.
    if os::handler_of(signal) != Some(on_signal as *const () as usize) {
        return;
    }
    // SAFETY: the call takes no arguments.
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

/// Waits while no signal came, for a second at most, or wakes who waits.
fn futex(operation: c_int, value: u32) {
    let operation = operation | libc::FUTEX_PRIVATE_FLAG;
    let limit = &raw const LOOK;
    // SAFETY: word and time are statics. It changes `errno`, which belongs to the program in its handler, so that is restored.
    os::keeping_errno(|| unsafe { libc::syscall(libc::SYS_futex, CAME.as_ptr(), operation, value, limit) });
}
