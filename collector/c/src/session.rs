//! Sessions: from `tickscope_start` to `tickscope_finish`.

use std::ffi::c_char;

use tickscope::{Session, Status};

use crate::text::{of_c, to_c};

/// Starts publishing, or joins the session that runs.
#[unsafe(no_mangle)]
extern "C" fn tickscope_start(name: *const c_char) -> Option<Box<Session>> {
    Some(Box::new(tickscope::start(of_c(name))))
}

/// Ends a session.
#[unsafe(no_mangle)]
extern "C" fn tickscope_finish(session: Option<Box<Session>>) {
    drop(session);
}

/// Returns the present state of a session.
#[unsafe(no_mangle)]
extern "C" fn tickscope_status(session: Option<&Session>) -> i32 {
    match session.map(Session::status) {
        Some(Status::Publishing) => 1,
        Some(Status::Counting) | None => 2,
        Some(Status::Off) => 3,
        Some(_) => 4,
    }
}

/// Writes what differs from what was asked for, a line each.
#[unsafe(no_mangle)]
extern "C" fn tickscope_warnings(session: Option<&Session>, text: *mut c_char, size: usize) -> usize {
    let warnings = session.map_or_else(Vec::new, Session::warnings);
    to_c(&warnings.join("\n"), text, size)
}

/// Writes the path of the ring file.
#[unsafe(no_mangle)]
extern "C" fn tickscope_path(session: Option<&Session>, text: *mut c_char, size: usize) -> usize {
    let path = session.and_then(Session::path).unwrap_or_default();
    to_c(&path.to_string_lossy(), text, size)
}
