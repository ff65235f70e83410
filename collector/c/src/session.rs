//! Sessions: from `tickscope_start` to `tickscope_finish`.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use tickscope::__private::is_forked_child;
use tickscope::{Session, Status};

use crate::text::{of_c, to_c};

/// Handle of a session in C. It is a unique number, not an address, so NULL and finished sessions are recognized, and
/// an invalid handle from the program is never dereferenced.
type Handle = usize;

/// The sessions that have not ended.
struct Open {
    last: Handle,
    sessions: BTreeMap<Handle, Arc<Session>>,
}

static OPEN: Mutex<Open> = Mutex::new(Open {
    last: 0,
    sessions: BTreeMap::new(),
});

/// Locks the table of sessions. Returns `None` in a forked child if another thread held the lock during the fork,
/// because that thread does not exist in the child.
fn open() -> Option<MutexGuard<'static, Open>> {
    match OPEN.try_lock() {
        Ok(open) => Some(open),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) if is_forked_child() => None,
        Err(TryLockError::WouldBlock) => Some(OPEN.lock().unwrap_or_else(PoisonError::into_inner)),
    }
}

fn session(handle: Handle) -> Option<Arc<Session>> {
    open()?.sessions.get(&handle).cloned()
}

/// Starts publishing, or joins the session that is already running.
#[unsafe(no_mangle)]
extern "C" fn tickscope_start(name: *const c_char) -> Handle {
    let session = Arc::new(tickscope::start(of_c(name)));
    let Some(mut open) = open() else {
        // A forked child publishes nothing, so it gets a handle that belongs to no session.
        return Handle::MAX;
    };
    open.last += 1;
    let handle = open.last;
    open.sessions.insert(handle, session);
    handle
}

#[unsafe(no_mangle)]
extern "C" fn tickscope_finish(handle: Handle) {
    let ended = open().and_then(|mut open| open.sessions.remove(&handle));
    // The table is unlocked before this drop, because the drop waits for the last record.
    drop(ended);
}

#[unsafe(no_mangle)]
extern "C" fn tickscope_status(handle: Handle) -> i32 {
    match session(handle).map(|session| session.status()) {
        Some(Status::Publishing) => 1,
        Some(Status::Counting) | None => 2,
        Some(Status::Off) => 3,
        Some(_) => 4,
    }
}

/// Writes a line for each setting that could not be applied.
#[unsafe(no_mangle)]
extern "C" fn tickscope_warnings(handle: Handle, text: *mut c_char, size: usize) -> usize {
    let warnings = session(handle).map_or_else(Vec::new, |session| session.warnings());
    to_c(warnings.join("\n").as_bytes(), text, size)
}

/// Writes the path of the ring file.
#[unsafe(no_mangle)]
extern "C" fn tickscope_path(handle: Handle, text: *mut c_char, size: usize) -> usize {
    let path = session(handle).and_then(|session| session.path());
    let path = path.unwrap_or_default();
    to_c(path.as_os_str().as_bytes(), text, size)
}
