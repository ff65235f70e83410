//! Timers that interrupt a thread after so much of its own CPU time, by a signal, and tell where it was in its code.
//!
//! The kernel looks at such timers when its clock ticks, mostly 250 or 1000 times a second: it fires no more often than that. A
//! thread that waits uses no CPU time and is not interrupted. Timers end with a `fork` and an `exec`.
//!
//! `perf_event_open` would fire more often. It needs a descriptor for each thread, in a program that may close all descriptors that it
//! does not know, and then has files of its own under these numbers. A timer has no number that the program could take.

use std::ffi::{c_int, c_long, c_void};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::enabled::platform::os;

/// Whether the place of the program counter in a signal's context is known here.
pub(crate) const SUPPORTED: bool = cfg!(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
));

/// A timer for one thread. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct CpuTimer {
    id: c_int,
}

/// What the handler calls: with the number that was given to the timer, and the program counter. It is called in a signal handler,
/// and may do only what a signal handler may.
pub(crate) type OnSample = fn(usize, usize);

/// The function as an address; 0 before there is one.
static ON_SAMPLE: AtomicUsize = AtomicUsize::new(0);

/// The kernel's `struct sigevent`, with a thread to notify.
#[repr(C)]
struct Event {
    value: usize,
    signal: c_int,
    notify: c_int,
    tid: c_int,
    padding: [c_int; PADDING],
}

/// What the kernel leaves for other kinds of notice, in a structure of 64 bytes.
const PADDING: usize = (64 - size_of::<usize>()) / size_of::<c_int>() - 3;

/// The part of `siginfo_t` that a timer fills in.
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

/// Linux' signals for real time, without those that C libraries keep for themselves.
const FOR_REAL_TIME: std::ops::RangeInclusive<c_int> = 35..=64;

/// `SIGEV_THREAD_ID`: the signal goes to one thread.
const TO_THREAD: c_int = 4;

/// `SI_TIMER`: the signal comes from a timer.
const FROM_TIMER: c_int = -2;

/// Takes a signal that the program does not use: `SIGPROF`, or else one of those for real time. It stays taken, as one may still be
/// on its way when the last timer has ended. Returns none if all are in use.
pub(crate) fn take_signal(on_sample: OnSample) -> Option<c_int> {
    ON_SAMPLE.store(on_sample as usize, Ordering::Relaxed);
    let signals = || std::iter::once(libc::SIGPROF).chain(FOR_REAL_TIME.rev());
    signals().find(|&signal| is_taken(signal)).or_else(|| {
        let is_free = |signal: &c_int| os::handler_of(*signal) == Some(libc::SIG_DFL);
        signals().find(|signal| is_free(signal) && install(*signal))
    })
}

/// Whether the signal still comes here. The program may have taken it since.
pub(crate) fn is_taken(signal: c_int) -> bool {
    os::handler_of(signal) == Some(on_signal as *const () as usize)
}

fn install(signal: c_int) -> bool {
    // SAFETY: the handler has the signature that `SA_SIGINFO` asks for, and does only what a handler may.
    unsafe { os::set_handler(signal, on_signal as *const () as usize, libc::SA_SIGINFO) }
}

/// The handler. It does nothing with signals that come from elsewhere.
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
    // SAFETY: only addresses of such functions are stored there.
    let on_sample = unsafe { std::mem::transmute::<usize, OnSample>(on_sample) };
    if let Some(pc) = program_counter(context) {
        os::keeping_errno(|| on_sample(info.value, pc));
    }
}

/// Returns where the thread was interrupted.
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
    /// Interrupts a thread of this process again and again, each time after so much of its CPU time. `value` is for the handler.
    ///
    /// # Errors
    /// The system's: there is no such thread, or there are too many timers.
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
        // The kernel's own call: glibc's is newer than the oldest version of the crate libc that will do.
        // SAFETY: both places are valid and have the kernel's layout.
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
        // SAFETY: the times are valid, and the times before are not asked for.
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
        // SAFETY: takes a number; the timer is this one's. A forked child publishes nothing, so it ends none of its own timers here.
        unsafe { libc::syscall(libc::SYS_timer_delete, c_long::from(self.id)) };
    }
}
