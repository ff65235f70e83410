//! Timers that send a signal to a thread each time the thread has used a given amount of CPU time. The signal handler
//! reports the thread's program counter.
//!
//! The kernel checks these timers at each of its clock ticks, usually 250 or 1000 times a second, so they cannot fire
//! more often. A thread that is waiting uses no CPU time and is not interrupted. Timers are not inherited across
//! `fork`, and `exec` deletes them.
//!
//! `perf_event_open` could fire more often, but needs a descriptor for each thread. A program may close descriptors
//! that it does not know, and then open its own files under the same numbers. A timer has no descriptor.

use std::ffi::{c_int, c_long, c_void};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::enabled::platform::{os, signals};

/// Whether [`program_counter`] can find the program counter in a signal's context on this platform.
pub(crate) const SUPPORTED: bool = cfg!(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
));

/// A timer for one thread. Dropping it deletes the timer.
#[derive(Debug)]
pub(crate) struct CpuTimer {
    id: c_int,
}

/// Function that the signal handler calls with the timer's value and the program counter. It must be async-signal-safe.
pub(crate) type OnSample = fn(usize, usize);

/// Address of the function that was passed to [`take_signal`]; 0 before its first call.
static ON_SAMPLE: AtomicUsize = AtomicUsize::new(0);

/// The kernel's `struct sigevent`, in the form that names a thread to notify.
#[repr(C)]
struct Event {
    value: usize,
    signal: c_int,
    notify: c_int,
    tid: c_int,
    padding: [c_int; PADDING],
}

/// Number of unused words at the end of the kernel's structure, which is 64 bytes long.
const PADDING: usize = (64 - size_of::<usize>()) / size_of::<c_int>() - 3;

/// The part of `siginfo_t` that the kernel fills in for a timer.
#[repr(C)]
struct TimerInfo {
    signal: c_int,
    errno: c_int,
    code: c_int,
    padding: c_int,
    timer: c_int,
    overrun: c_int,
    value: usize,
}

const _: () = assert!(size_of::<Event>() == 64 && size_of::<TimerInfo>() <= size_of::<libc::siginfo_t>());

/// Linux's real-time signals, except for those that C libraries reserve for themselves.
const FOR_REAL_TIME: std::ops::RangeInclusive<c_int> = 35..=64;

/// `SIGEV_THREAD_ID`: the signal goes to one thread.
const TO_THREAD: c_int = 4;

/// `SI_TIMER`: the signal comes from a timer.
const FROM_TIMER: c_int = -2;

/// Installs the handler for a signal that the program does not use: `SIGPROF`, or else a real-time signal. The handler
/// stays installed, because a signal may still be pending when the last timer has been deleted. Returns `None` if the
/// program uses all of these signals.
pub(crate) fn take_signal(on_sample: OnSample) -> Option<c_int> {
    ON_SAMPLE.store(on_sample as usize, Ordering::Relaxed);
    let signals = || std::iter::once(libc::SIGPROF).chain(FOR_REAL_TIME.rev());
    signals().find(|&signal| is_taken(signal)).or_else(|| {
        let is_free = |signal: &c_int| signals::handler_of(*signal) == Some(libc::SIG_DFL);
        signals().find(|signal| is_free(signal) && install(*signal))
    })
}

/// Returns whether [`on_signal`] is still the handler for a signal. The program may have installed another handler.
pub(crate) fn is_taken(signal: c_int) -> bool {
    signals::handler_of(signal) == Some(on_signal as *const () as usize)
}

fn install(signal: c_int) -> bool {
    // SAFETY: the handler has the signature that `SA_SIGINFO` requires, and is async-signal-safe.
    unsafe { signals::set_handler(signal, on_signal as *const () as usize, libc::SA_SIGINFO) }
}

/// Handles the signal. Ignores signals that were not sent by a timer.
extern "C" fn on_signal(_: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid description of the signal.
    let info = unsafe { info.cast::<TimerInfo>().as_ref() };
    let Some(info) = info.filter(|info| info.code == FROM_TIMER) else {
        return;
    };
    let on_sample = ON_SAMPLE.load(Ordering::Relaxed);
    if on_sample == 0 {
        return;
    }
    // SAFETY: only addresses of `OnSample` functions are stored in `ON_SAMPLE`.
    let on_sample = unsafe { std::mem::transmute::<usize, OnSample>(on_sample) };
    if let Some(pc) = program_counter(context) {
        os::keeping_errno(|| on_sample(info.value, pc));
    }
}

/// Returns the program counter at which the thread was interrupted.
fn program_counter(context: *mut c_void) -> Option<usize> {
    // SAFETY: the kernel passes a valid context.
    let context = unsafe { context.cast::<libc::ucontext_t>().as_ref() }?;
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    return context
        .uc_mcontext
        .gregs
        .get(libc::REG_RIP as usize)
        .map(|pc| pc.cast_unsigned() as usize);
    #[cfg(all(target_os = "linux", target_arch = "aarch64"))]
    return Some(context.uc_mcontext.pc as usize);
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    {
        let _ = context;
        None
    }
}

impl CpuTimer {
    /// Starts a timer that interrupts a thread of this process each time the thread has used `period` of CPU time.
    /// `value` is passed to the handler.
    ///
    /// # Errors
    /// Returns the system's error, for example if there is no such thread or there are too many timers.
    pub(crate) fn start(tid: u32, signal: c_int, value: usize, period: Duration) -> io::Result<Self> {
        let event = Event {
            value,
            signal,
            notify: TO_THREAD,
            tid: tid.cast_signed(),
            padding: [0; PADDING],
        };
        let mut id: c_int = 0;
        let clock = c_long::from(os::cpu_clock_of(tid));
        // A direct system call, because the oldest supported version of the crate `libc` lacks `timer_create`.
        // SAFETY: `event` and `id` are valid and have the kernel's layout.
        let made = unsafe { libc::syscall(libc::SYS_timer_create, clock, &raw const event, &raw mut id) };
        if made != 0 {
            return Err(io::Error::last_os_error());
        }
        let timer = Self { id };
        let period = libc::timespec {
            tv_sec: period.as_secs().try_into().unwrap_or_default(),
            tv_nsec: c_long::from(period.subsec_nanos().cast_signed()),
        };
        let times = libc::itimerspec {
            it_interval: period,
            it_value: period,
        };
        let none = std::ptr::null_mut::<libc::itimerspec>();
        // SAFETY: `times` is valid, and with a null pointer the previous setting is not returned.
        let set = unsafe {
            libc::syscall(
                libc::SYS_timer_settime,
                c_long::from(id),
                0,
                &raw const times,
                none,
            )
        };
        match set {
            0 => Ok(timer),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for CpuTimer {
    fn drop(&mut self) {
        // SAFETY: the call takes only a number, and this value owns the timer. A forked child publishes nothing, so it
        // never drops a timer.
        unsafe { libc::syscall(libc::SYS_timer_delete, c_long::from(self.id)) };
    }
}
