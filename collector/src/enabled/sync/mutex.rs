//! The mutex and its guard.

use std::sync::{self, LockResult, TryLockResult};

use super::contention::{charge, enter, guard, like_std, map, or_wait, try_map, wait_for};
use crate::enabled::record::arena::Ref;
use crate::enabled::record::labelled_sites::Label;
use crate::enabled::record::site::Site;
use crate::enabled::record::site_name::Labelled;
use crate::enabled::record::waiters::Waiters;

/// A [`std::sync::Mutex`] whose waits are shown in a row, and charged to the threads that cause them.
///
/// This mutex has the full interface of std's mutex, including poisoning. The [module](super) describes what is
/// measured.
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

/// Releases the lock when dropped; see [`std::sync::MutexGuard`].
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'a, T: ?Sized + 'a> {
    // Dropped before `inner`, while this thread still holds the lock, so the lock still exists.
    pub(super) holding: Holding<'a>,
    pub(super) inner: sync::MutexGuard<'a, T>,
}

/// When dropped, charges the thread that holds the lock for the threads that waited for it.
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
    /// Charges the thread that holds the lock, and is about to release it, for the threads that waited for it.
    #[inline]
    pub(super) fn charge(&self) {
        if self.waiters.any() {
            charge(self.waiters, None);
        }
    }
}

/// Creates a mutex with a name. Its waits are in the row `[lock] NAME`.
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
    /// Creates a mutex; see [`std::sync::Mutex::new`]. Its row is named after the source location of the caller.
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
    /// Acquires the lock, and waits if another thread holds it; see [`std::sync::Mutex::lock`].
    ///
    /// # Errors
    /// Returns an error containing the guard if the mutex is poisoned.
    #[inline]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let got = or_wait(self.inner.try_lock(), || self.wait());
        // The guard is created here and not in `wait`, so that it stays in registers if the lock was free.
        map(got, |inner| self.guard(inner))
    }

    #[cold]
    #[inline(never)]
    fn wait(&self) -> LockResult<sync::MutexGuard<'_, T>> {
        let waiters = &self.waiters;
        let scope = enter(&self.label, &self.site, Labelled::Mutex);
        wait_for(scope, waiters, &[waiters], || self.inner.lock())
    }

    /// Acquires the lock if no thread holds it; see [`std::sync::Mutex::try_lock`].
    ///
    /// # Errors
    /// Returns an error if a thread holds the lock, or if the mutex is poisoned.
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
