//! The condition variable.

use std::fmt;
use std::sync::{self, LockResult, WaitTimeoutResult};
use std::time::Duration;

use super::contention::{enter, map};
use super::mutex::MutexGuard;
use crate::enabled::record::arena::Ref;
use crate::enabled::record::labelled_sites::Label;
use crate::enabled::record::site::Site;
use crate::enabled::record::site_name::Labelled;
use crate::enabled::scope::Scope;

/// A [`std::sync::Condvar`] whose waits are shown in a row of their own. Use it with the mutex in this [module](super).
///
/// ```
/// use tickscope::sync::{Condvar, Mutex};
///
/// static READY: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());
///
/// let worker = std::thread::spawn(|| {
///     let (ready, changed) = &READY;
///     *ready.lock().unwrap() = true;
///     changed.notify_one();
/// });
/// let (ready, changed) = &READY;
/// let guard = changed.wait_while(ready.lock().unwrap(), |ready| !*ready).unwrap();
/// assert!(*guard);
/// # worker.join().unwrap();
/// ```
pub struct Condvar {
    label: Label,
    site: Ref<Site>,
    inner: sync::Condvar,
}

/// Creates a condition variable with a name. Its waits are in the row `[condvar] NAME`.
#[track_caller]
pub const fn named_condvar(name: &'static str) -> Condvar {
    Condvar::with(Some(name))
}

impl Condvar {
    /// Creates a condition variable; see [`std::sync::Condvar::new`]. Its row is named after the source location of the
    /// caller.
    #[track_caller]
    pub const fn new() -> Self {
        Self::with(None)
    }

    #[track_caller]
    const fn with(name: Option<&'static str>) -> Self {
        Self {
            label: Label::new(name),
            site: Ref::none(),
            inner: sync::Condvar::new(),
        }
    }

    fn enter(&self) -> Scope {
        enter(&self.label, &self.site, Labelled::Condvar)
    }

    /// Waits for a notification; see [`std::sync::Condvar::wait`].
    ///
    /// # Errors
    /// Returns an error containing the guard if the mutex is poisoned.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        let MutexGuard { holding, inner } = guard;
        holding.charge();
        let scope = self.enter();
        let woken = self.inner.wait(inner);
        drop(scope);
        map(woken, |inner| MutexGuard { holding, inner })
    }

    /// Waits as long as a condition holds; see [`std::sync::Condvar::wait_while`].
    ///
    /// # Errors
    /// Returns an error containing the guard if the mutex is poisoned.
    pub fn wait_while<'a, T, F>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: F,
    ) -> LockResult<MutexGuard<'a, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut *guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Waits for a notification, but no longer than `ms` milliseconds; see [`std::sync::Condvar::wait_timeout_ms`].
    ///
    /// # Errors
    /// Returns an error containing the guard if the mutex is poisoned.
    #[deprecated(note = "replaced by `wait_timeout`, as std's is")]
    pub fn wait_timeout_ms<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        ms: u32,
    ) -> LockResult<(MutexGuard<'a, T>, bool)> {
        let woken = self.wait_timeout(guard, Duration::from_millis(ms.into()));
        map(woken, |(guard, result)| (guard, !result.timed_out()))
    }

    /// Waits for a notification, but no longer than `timeout`; see [`std::sync::Condvar::wait_timeout`].
    ///
    /// # Errors
    /// Returns an error containing the guard if the mutex is poisoned.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let MutexGuard { holding, inner } = guard;
        holding.charge();
        let scope = self.enter();
        let woken = self.inner.wait_timeout(inner, timeout);
        drop(scope);
        map(woken, |(inner, result)| (MutexGuard { holding, inner }, result))
    }

    /// Waits as long as a condition holds, but no longer than `timeout`; see
    /// [`std::sync::Condvar::wait_timeout_while`].
    ///
    /// # Errors
    /// Returns an error containing the guard if the mutex is poisoned.
    pub fn wait_timeout_while<'a, T, F>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
        mut condition: F,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)>
    where
        F: FnMut(&mut T) -> bool,
    {
        let MutexGuard { holding, inner } = guard;
        let mut waiting = None;
        // Only std can create a `WaitTimeoutResult`, so std's own loop does the waiting here. The scope is closed while
        // the condition runs, because the condition is not part of the wait.
        let woken = self.inner.wait_timeout_while(inner, timeout, |value| {
            drop(waiting.take());
            let waits = condition(value);
            if waits {
                holding.charge();
                waiting = Some(self.enter());
            }
            waits
        });
        drop(waiting);
        map(woken, |(inner, result)| (MutexGuard { holding, inner }, result))
    }

    /// Wakes up one waiting thread; see [`std::sync::Condvar::notify_one`].
    #[inline]
    pub fn notify_one(&self) {
        self.inner.notify_one();
    }

    /// Wakes up all waiting threads; see [`std::sync::Condvar::notify_all`].
    #[inline]
    pub fn notify_all(&self) {
        self.inner.notify_all();
    }
}

impl Default for Condvar {
    #[track_caller]
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
