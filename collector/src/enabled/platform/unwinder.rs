//! Walks the calling thread's stack with the unwind tables that compilers generate for exceptions. Finds where on the
//! stack a return address is stored, and whether the thread is in a signal handler.
//!
//! This is the unwinder that std links to (Itanium C++ ABI: Exception Handling, level I).

use std::ffi::{c_int, c_void};

/// Results of a callback: continue with the next frame (`_URC_NO_REASON`), or stop (`_URC_NORMAL_STOP`).
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

/// Returns whether the calling thread is in a signal handler. Misses the handler if a function between the handler and
/// this function has no unwind table.
pub(crate) fn is_in_signal_handler() -> bool {
    let mut found = false;
    // SAFETY: the callback takes a pointer to a bool, which lives until the end of this call.
    unsafe { _Unwind_Backtrace(find_interrupted, (&raw mut found).cast()) };
    found
}

/// Stops at a frame that a signal has interrupted. The unwinder marks such frames, because their addresses are not
/// return addresses.
extern "C" fn find_interrupted(frame: *mut c_void, found: *mut c_void) -> c_int {
    let mut is_interrupted = 0;
    // SAFETY: the unwinder passes a frame that is valid until this callback returns, and `is_interrupted` may be
    // written.
    unsafe { _Unwind_GetIPInfo(frame, &mut is_interrupted) };
    if is_interrupted == 0 {
        return NEXT;
    }
    // SAFETY: `is_in_signal_handler` passes a pointer to its own bool, and uses it only after the call.
    unsafe { found.cast::<bool>().write(true) };
    STOP
}

/// A search for the place on the stack where a return address is stored, and its result.
#[cfg(all(feature = "hooks", target_arch = "x86_64"))]
struct Search {
    inside: u64,
    caller: u64,
    was_inside: bool,
    place: Option<u64>,
}

/// Returns the address on the calling thread's stack where a function's return address is stored. `inside` is the
/// address at which the function is executing, and `caller` is its return address. Returns `None` if that function, or
/// a function that it has called, has no unwind table.
#[cfg(all(feature = "hooks", target_arch = "x86_64"))]
pub(crate) fn place_of_return(inside: u64, caller: u64) -> Option<u64> {
    let mut search = Search {
        inside,
        caller,
        was_inside: false,
        place: None,
    };
    // SAFETY: the callback takes a pointer to a `Search`, which lives until the end of this call.
    unsafe { _Unwind_Backtrace(look_at, (&raw mut search).cast()) };
    search.place
}

#[cfg(all(feature = "hooks", target_arch = "x86_64"))]
extern "C" fn look_at(frame: *mut c_void, search: *mut c_void) -> c_int {
    // SAFETY: `place_of_return` passes a pointer to its own search, and uses it only after the call.
    let search = unsafe { &mut *search.cast::<Search>() };
    // SAFETY: the unwinder passes a frame that is valid until this callback returns.
    let at = unsafe { _Unwind_GetIP(frame) } as u64;
    if search.was_inside {
        // SAFETY: as above. The CFA is the caller's stack pointer after the return, one word above the return address.
        let stack = unsafe { _Unwind_GetCFA(frame) } as u64;
        search.place = (at == search.caller).then(|| stack - size_of::<usize>() as u64);
        return STOP;
    }
    search.was_inside = at == search.inside;
    NEXT
}
