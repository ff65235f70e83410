//! The mutex and its guard.

use std::sync::{self, LockResult, TryLockResult};

use super::contention::{charge, enter, guard, like_std, map, or_wait, try_map, wait_for};
use crate::enabled::record::arena::Ref;
use crate::enabled::record::labelled_sites::Label;
use crate::enabled::record::site::Site;
use crate::enabled::record::site_name::Labelled;
use crate::enabled::record::waiters::Waiters;

/// [`std::sync::Mutex`], whose waits are rows and are charged to the threads that make other threads wait.
///
/// This mutex has the whole interface of std's mutex, poisoning included. The [module](super) describes the
/// measurement.
///
/// ```
/// use std::sync::Arc;
/// use tickscope::sync::Mutex;
///
/// let sum = Arc::new(Mutex::new(0));
/// let added = Arc::clone(&sum);
/// std::thread::spawn(move || *added.lock().unwrap() += 1).join().unwrap();
/// assert_eq!(*sum.lock().unwrap(), 1);
/// ```
pub struct Mutex<T: ?Sized> {
    label: Label,
    site: Ref<Site>,
    waiters: Waiters,
    inner: sync::Mutex<T>,
}

/// Gives the lock back when it is dropped; see [`std::sync::MutexGuard`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized + 'a> {
    // Dropped first: the charged thread still has the lock, so the lock exists.
    pub(super) holding: Holding<'a>,
    pub(super) inner: sync::MutexGuard<'a, T>,
}

/// Charges the holder when it is dropped.
pub(super) struct Holding<'a> {
    waiters: &'a Waiters,
}

impl Drop for Holding<'_> {
    #[inline]
    fn drop(&mut self) {
        self.charge();
    }
}

impl Holding<'_> {
    /// Charges the holder for waiting threads, because it is about to give the lock back.
    #[inline]
    pub(super) fn charge(&self) {
        if self.waiters.any() {
            charge(self.waiters, None);
        }
    }
}

/// Makes a mutex with a name: its waits are the row `[lock] NAME`.
///
/// ```
/// static CACHE: tickscope::sync::Mutex<Vec<u8>> = tickscope::sync::named_mutex("cache", Vec::new());
/// # assert!(CACHE.lock().unwrap().is_empty());
/// ```
#[track_caller]
pub const fn named_mutex<T>(name: &'static str, value: T) -> Mutex<T> {
    Mutex::with(Some(name), value)
}

impl<T> Mutex<T> {
    /// Makes a mutex; see [`std::sync::Mutex::new`]. Its row is named after the caller's place in the source.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self::with(None, value)
    }

    #[track_caller]
    const fn with(name: Option<&'static str>, value: T) -> Self {
        Self {
            label: Label::new(name),
            site: Ref::none(),
            waiters: Waiters::new(),
            inner: sync::Mutex::new(value),
        }
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Gets the lock, and waits for it if another thread has it; see [`std::sync::Mutex::lock`].
    ///
    /// # Errors
    /// If the mutex is poisoned; the error has the guard.
    #[inline]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let got = or_wait(self.inner.try_lock(), || self.wait());
        // The guard is made here and not in `wait`, so that it stays in registers if the lock was free.
        map(got, |inner| self.guard(inner))
    }

    #[cold]
    #[inline(never)]
    fn wait(&self) -> LockResult<sync::MutexGuard<'_, T>> {
        let waiters = &self.waiters;
        let scope = enter(&self.label, &self.site, Labelled::Mutex);
        wait_for(scope, waiters, &[waiters], || self.inner.lock())
    }

    /// Gets the lock if no thread has it; see [`std::sync::Mutex::try_lock`].
    ///
    /// # Errors
    /// If a thread has the lock, or if the mutex is poisoned.
    #[inline]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        try_map(self.inner.try_lock(), |inner| self.guard(inner))
    }

    #[inline]
    fn guard<'a>(&'a self, inner: sync::MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        MutexGuard {
            holding: Holding {
                waiters: &self.waiters,
            },
            inner,
        }
    }
}

like_std!(Mutex);

guard!(mut MutexGuard);
