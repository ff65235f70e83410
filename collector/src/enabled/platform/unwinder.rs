//! The frames of the calling thread's stack, by the tables that compilers write for exceptions: where the return addresses of open
//! functions stand, and whether a signal handler is among them.
//!
//! The unwinder is the one that std itself is linked to (Itanium C++ ABI: Exception Handling, level I).

use std::ffi::{c_int, c_void};

/// What a callback returns to see the next frame, and to end: `_URC_NO_REASON` and `_URC_NORMAL_STOP`.
const NEXT: c_int = 0;
const STOP: c_int = 4;

type Callback = extern "C" fn(frame: *mut c_void, search: *mut c_void) -> c_int;

unsafe extern "C" {
    fn _Unwind_Backtrace(callback: Callback, search: *mut c_void) -> c_int;
    #[cfg(all(feature = "hooks", target_arch = "x86_64"))]
    fn _Unwind_GetIP(frame: *mut c_void) -> usize;
    fn _Unwind_GetIPInfo(frame: *mut c_void, is_interrupted: *mut c_int) -> usize;
    #[cfg(all(feature = "hooks", target_arch = "x86_64"))]
    fn _Unwind_GetCFA(frame: *mut c_void) -> usize;
}

/// Returns whether the calling thread is in a signal handler. A function without tables on the way hides it.
pub(crate) fn is_in_signal_handler() -> bool {
    let mut found = false;
    // SAFETY: the callback takes a place for a bool, which lives until the end of this call.
    unsafe { _Unwind_Backtrace(find_interrupted, (&raw mut found).cast()) };
    found
}

/// Ends at a frame that a signal has interrupted: the unwinder tells such frames from callers, because their address is not that of a
/// return.
extern "C" fn find_interrupted(frame: *mut c_void, found: *mut c_void) -> c_int {
    let mut is_interrupted = 0;
    // SAFETY: the unwinder calls this with a frame that is valid until it returns, and the place is valid.
    unsafe { _Unwind_GetIPInfo(frame, &mut is_interrupted) };
    if is_interrupted == 0 {
        return NEXT;
    }
    // SAFETY: `is_in_signal_handler` passes its own place, and uses it only after the call.
    unsafe { found.cast::<bool>().write(true) };
    STOP
}

/// What is looked for, and what was found.
#[cfg(all(feature = "hooks", target_arch = "x86_64"))]
#[derive(Debug)]
struct Search {
    inside: u64,
    caller: u64,
    was_inside: bool,
    place: Option<u64>,
}

/// Returns where the return address of a function of the calling thread stands, which is at `inside` and returns to `caller`; `None` if the
/// function has no table, or one around this code has none.
#[cfg(all(feature = "hooks", target_arch = "x86_64"))]
pub(crate) fn place_of_return(inside: u64, caller: u64) -> Option<u64> {
    let mut search = Search {
        inside,
        caller,
        was_inside: false,
        place: None,
    };
    // SAFETY: the callback takes a search, which lives until the end of this call.
    unsafe { _Unwind_Backtrace(look_at, (&raw mut search).cast()) };
    search.place
}

#[cfg(all(feature = "hooks", target_arch = "x86_64"))]
extern "C" fn look_at(frame: *mut c_void, search: *mut c_void) -> c_int {
    // SAFETY: `place_of_return` passes its own, and uses it only after the call.
    let search = unsafe { &mut *search.cast::<Search>() };
    // SAFETY: the unwinder calls this with a frame that is valid until it returns.
    let at = unsafe { _Unwind_GetIP(frame) } as u64;
    if search.was_inside {
        // SAFETY: as above. It is the frame's stack pointer, which a return from the function inside leaves above its return address.
        let stack = unsafe { _Unwind_GetCFA(frame) } as u64;
        search.place = (at == search.caller).then(|| stack - size_of::<usize>() as u64);
        return STOP;
    }
    search.was_inside = at == search.inside;
    NEXT
}
