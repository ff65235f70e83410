//! Signals: their handlers, and code that runs with signals blocked.

use std::marker::PhantomData;

/// Runs `body` while the calling thread blocks all signals.
pub(crate) fn without_signals<T>(body: impl FnOnce() -> T) -> T {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = all;
    // SAFETY: `all` may be written.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: the call above has filled `all`, and `before` may be written.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr()) };
    let value = body();
    // SAFETY: `pthread_sigmask` has filled `before`.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    value
}

/// Returns the handler of a signal as an address, or `SIG_DFL` or `SIG_IGN`.
pub(crate) fn handler_of(signal: libc::c_int) -> Option<usize> {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a null action changes nothing, and `action` may be written.
    let found = unsafe { libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: zeros are valid, and the call writes only valid values.
    (found == 0).then(|| unsafe { action.assume_init() }.sa_sigaction)
}

/// Sets the handler of a signal, and returns whether that succeeded. System calls that the signal interrupts are
/// restarted. The handler runs on the thread's signal stack if there is one, because stacks of coroutines are small.
///
/// # Safety
/// The handler must have the signature that the flags require, and must be async-signal-safe.
pub(crate) unsafe fn set_handler(signal: libc::c_int, handler: usize, flags: libc::c_int) -> bool {
    // SAFETY: zeros are valid: no flags, and no further signals blocked.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK | flags;
    // SAFETY: the action is valid, and the caller promises a valid handler.
    unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) == 0 }
}

/// The signals that the kernel sends to a thread whose write has failed. By default, each of them ends the program.
const OF_WRITES: [libc::c_int; 2] = [libc::SIGPIPE, libc::SIGXFSZ];

/// While this guard lives, a failed write on the calling thread only returns an error. Without the guard, the write
/// could also raise a signal that ends the program.
#[must_use]
pub(crate) struct Unsignalled {
    /// The thread's signal mask before the guard was made.
    mask: libc::sigset_t,
    /// Which of [`OF_WRITES`] were already pending when the guard was made. These signals are meant for the program, so
    /// the guard leaves them pending.
    waited: [bool; OF_WRITES.len()],
    /// Not `Send`, because it holds this thread's mask.
    _of_this_thread: PhantomData<*mut ()>,
}

impl Unsignalled {
    pub(crate) fn new() -> Self {
        let mut mask = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
        let signals = set_of(&OF_WRITES);
        // SAFETY: `signals` is a valid set, and `mask` may be written.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &signals, mask.as_mut_ptr()) };
        Self {
            // SAFETY: the call above has set `mask`, or it is zeroed, which is a valid mask.
            mask: unsafe { mask.assume_init() },
            waited: OF_WRITES.map(is_pending),
            _of_this_thread: PhantomData,
        }
    }
}

impl Drop for Unsignalled {
    fn drop(&mut self) {
        let at_once = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        for (signal, waited) in OF_WRITES.into_iter().zip(self.waited) {
            if !waited && is_pending(signal) {
                // SAFETY: the set and the timeout are valid, and the pointer for information about the signal may be
                // null. This call discards the pending signal.
                unsafe { libc::sigtimedwait(&set_of(&[signal]), std::ptr::null_mut(), &at_once) };
            }
        }
        // SAFETY: `self.mask` is a valid mask, and the pointer for the previous mask may be null.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.mask, std::ptr::null_mut()) };
    }
}

fn set_of(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: `set` may be written.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    for &signal in signals {
        // SAFETY: the set was emptied above.
        unsafe { libc::sigaddset(set.as_mut_ptr(), signal) };
    }
    // SAFETY: the set was filled in above.
    unsafe { set.assume_init() }
}

fn is_pending(signal: libc::c_int) -> bool {
    let mut pending = std::mem::MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: `pending` may be written.
    unsafe { libc::sigpending(pending.as_mut_ptr()) };
    // SAFETY: all zeros are an empty set, so `pending` is valid even if the call failed.
    unsafe { libc::sigismember(pending.as_ptr(), signal) == 1 }
}
