//! A library with its own copy of the collector. The library opens scopes before `main`, on request, and after `main`.

use std::sync::atomic::{AtomicBool, Ordering};

static SESSION: AtomicBool = AtomicBool::new(false);

extern "C" fn at_exit() {
    tickscope::scope!("after main");
}

extern "C" fn construct() {
    tickscope::scope!("constructor");
    // SAFETY: the handler runs at the latest when the library is unloaded, while its code is still mapped.
    unsafe { libc::atexit(at_exit) };
}

#[used]
// The loader calls the functions in this section when it loads the library.
#[unsafe(link_section = ".init_array")]
static CONSTRUCT: extern "C" fn() = construct;

/// Starts a session that is never dropped, and counts a call; returns whether the session publishes.
#[unsafe(no_mangle)]
pub extern "C" fn loadable_work() -> bool {
    if !SESSION.swap(true, Ordering::Relaxed) {
        match tickscope::Builder::new("loaded").try_start() {
            Ok(session) => std::mem::forget(session),
            Err(_) => return false,
        }
    }
    tickscope::scope!("loaded");
    true
}
