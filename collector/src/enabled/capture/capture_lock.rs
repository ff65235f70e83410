//! The lock around the collector's state. It is never held while a snapshot is encoded or written.
//!
//! The program may call `exit` anywhere, even in code that runs while its own thread holds this lock. Code that runs at the end
//! of the program therefore waits for the lock only for a limited time, and other code checks which thread holds it. A forked
//! child never gets the lock, because the thread that holds it may not exist there.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{Over, WATCHES_MAX};

use crate::enabled::capture::collector_state::CollectorState;
use crate::enabled::platform::patience::Patience;
use crate::enabled::platform::threads;
use crate::enabled::record::registry;
use crate::enabled::runtime::config;

/// Error message for requests that a forked child cannot carry out.
pub(crate) const FORKED: &str =
    "a forked child measures nothing; start a new program instead (fork and exec)";

/// The state; `None` until the lock is taken for the first time.
static STATE: Mutex<Option<CollectorState>> = Mutex::new(None);

/// The thread that holds the lock; 0 if no thread does.
static HOLDER: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Longest time for which the calling thread waits for the lock; 0 means without limit.
    static LONGEST_WAIT: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// The collector's state, locked.
#[derive(Debug)]
pub(crate) struct Locked(MutexGuard<'static, Option<CollectorState>>);

impl Locked {
    fn new(state: MutexGuard<'static, Option<CollectorState>>) -> Self {
        HOLDER.store(threads::thread_id(), Ordering::Relaxed);
        Self(state)
    }

    /// Merges the trees of threads that ended without getting the lock.
    fn with_left_threads(mut self) -> Self {
        for (block, name, cpu_ns) in registry::left() {
            // The mode may have changed since the thread ended.
            block.tree.catch_up(config::exact_path());
            self.state().finish_thread(block, name, cpu_ns);
        }
        self
    }

    pub(crate) fn state(&mut self) -> &mut CollectorState {
        self.0.get_or_insert_default()
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        HOLDER.store(0, Ordering::Relaxed);
    }
}

/// Returns the thread that holds the lock; 0 if no thread does.
pub(crate) fn holder() -> u32 {
    HOLDER.load(Ordering::Relaxed)
}

/// Takes the lock. Returns `None` in a forked child, and when the calling thread has waited for as long as it may.
pub(crate) fn take() -> Option<Locked> {
    if config::is_forked_child() {
        return None;
    }
    let longest = LONGEST_WAIT.get();
    let state = if longest.is_zero() {
        Locked::new(STATE.lock().unwrap_or_else(PoisonError::into_inner))
    } else {
        let mut patience = Patience::new(longest);
        loop {
            match try_take() {
                Some(state) => break state,
                None if patience.wait([0, holder()]) => {}
                None => return None,
            }
        }
    };
    Some(state.with_left_threads())
}

/// Runs `body` with the collector's state. Returns `None` if [`take`] does.
pub(crate) fn with<T>(body: impl FnOnce(&mut CollectorState) -> T) -> Option<T> {
    take().map(|mut locked| body(locked.state()))
}

fn try_take() -> Option<Locked> {
    match STATE.try_lock() {
        Ok(state) => Some(Locked::new(state)),
        Err(TryLockError::Poisoned(poisoned)) => Some(Locked::new(poisoned.into_inner())),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// While `body` runs, the calling thread stops waiting for the lock if the holder makes no progress for `longest`.
pub(crate) fn waiting_at_most<T>(longest: Duration, body: impl FnOnce() -> T) -> T {
    let before = LONGEST_WAIT.replace(longest);
    let value = body();
    LONGEST_WAIT.set(before);
    value
}

/// Takes the lock, or gives up after `longest`. The wait may be in vain, because a caller on the same thread may
/// already hold the lock.
pub(crate) fn take_within(longest: Duration) -> Option<Locked> {
    take_alone_within(longest).map(Locked::with_left_threads)
}

/// Takes the lock like [`take_within`], without merging threads that have ended.
pub(crate) fn take_alone_within(longest: Duration) -> Option<Locked> {
    if config::is_forked_child() {
        return None;
    }
    let begin = Instant::now();
    loop {
        match try_take() {
            Some(state) => return Some(state),
            None if begin.elapsed() > longest => return None,
            None => std::thread::yield_now(),
        }
    }
}

/// Watches the functions that match a pattern.
///
/// # Errors
/// Returns a sentence that says why the functions cannot be watched.
pub(crate) fn watch(pattern: &str, over: Over) -> Result<(), String> {
    let pattern = Pattern::new(pattern).map_err(|error| error.to_string())?;
    if with(|state| state.watch(pattern, over)).ok_or(FORKED)? {
        return Ok(());
    }
    Err(format!(
        "{WATCHES_MAX} functions are watched, which is the limit; stop watching one of them first"
    ))
}
