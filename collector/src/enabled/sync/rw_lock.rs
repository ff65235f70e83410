//! The lock of many readers or one writer, and its guards.

use std::sync::{self, LockResult, TryLockResult};

use super::contention::{charge, enter, guard, like_std, map, or_wait, try_map, wait_for};
use crate::enabled::record::arena::Ref;
use crate::enabled::record::labelled_sites::Label;
use crate::enabled::record::site::Site;
use crate::enabled::record::site_name::Labelled;
use crate::enabled::record::waiters::Waiters;

/// [`std::sync::RwLock`], whose waits are rows (`[lock] NAME (read)` and `(write)`) and are charged to the threads that
/// make other threads wait.
///
/// This lock has the interface of std's lock, poisoning included, except functions that became stable after Rust 1.89.
/// The [module](super) describes the measurement.
///
/// ```
/// use tickscope::sync::RwLock;
///
/// let prices = RwLock::new(vec![3, 4]);
/// assert_eq!(prices.read().unwrap()[1], 4);
/// prices.write().unwrap().push(5);
/// ```
pub struct RwLock<T: ?Sized> {
    label: Label,
    read_site: Ref<Site>,
    write_site: Ref<Site>,
    queues: Queues,
    inner: sync::RwLock<T>,
}

/// The waiting threads. Readers that have the lock make only writers wait, and the threads queued behind these writers.
struct Queues {
    readers: Waiters,
    writers: Waiters,
}

/// Gives the lock back when it is dropped; see [`std::sync::RwLockReadGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized + 'a> {
    // Dropped first: the charged thread still has the lock, so the lock exists.
    _reading: Reading<'a>,
    inner: sync::RwLockReadGuard<'a, T>,
}

/// Gives the lock back when it is dropped; see [`std::sync::RwLockWriteGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized + 'a> {
    // Dropped first, like `_reading`.
    _writing: Writing<'a>,
    inner: sync::RwLockWriteGuard<'a, T>,
}

/// Charges the reader when it is dropped.
struct Reading<'a>(&'a Queues);

/// Charges the writer when it is dropped.
struct Writing<'a>(&'a Queues);

impl Drop for Reading<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.0.writers.any() {
            charge(&self.0.readers, Some(&self.0.writers));
        }
    }
}

impl Drop for Writing<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.0.writers.any() || self.0.readers.any() {
            charge(&self.0.readers, Some(&self.0.writers));
        }
    }
}

/// Makes a lock with a name: its waits are the rows `[lock] NAME (read)` and `[lock] NAME (write)`.
#[track_caller]
pub const fn named_rwlock<T>(name: &'static str, value: T) -> RwLock<T> {
    RwLock::with(Some(name), value)
}

impl<T> RwLock<T> {
    /// Makes a lock; see [`std::sync::RwLock::new`]. Its rows are named after the caller's place in the source.
    #[track_caller]
    pub const fn new(value: T) -> Self {
        Self::with(None, value)
    }

    #[track_caller]
    const fn with(name: Option<&'static str>, value: T) -> Self {
        Self {
            label: Label::new(name),
            read_site: Ref::none(),
            write_site: Ref::none(),
            queues: Queues {
                readers: Waiters::new(),
                writers: Waiters::new(),
            },
            inner: sync::RwLock::new(value),
        }
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Gets the lock for reading, and waits for it if needed; see [`std::sync::RwLock::read`].
    ///
    /// # Errors
    /// If the lock is poisoned; the error has the guard.
    #[inline]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let got = or_wait(self.inner.try_read(), || self.wait_to_read());
        map(got, |inner| self.reading(inner))
    }

    #[cold]
    #[inline(never)]
    fn wait_to_read(&self) -> LockResult<sync::RwLockReadGuard<'_, T>> {
        let Queues { readers, .. } = &self.queues;
        // Only `readers` is passed: waiting writers also wait for the readers that have the lock, so their time is
        // charged.
        let scope = enter(&self.label, &self.read_site, Labelled::Read);
        wait_for(scope, readers, &[readers], || self.inner.read())
    }

    /// Gets the lock for reading if that needs no wait; see [`std::sync::RwLock::try_read`].
    ///
    /// # Errors
    /// If a writer has the lock, or if the lock is poisoned.
    #[inline]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        try_map(self.inner.try_read(), |inner| self.reading(inner))
    }

    /// Gets the lock for writing, and waits for it if needed; see [`std::sync::RwLock::write`].
    ///
    /// # Errors
    /// If the lock is poisoned; the error has the guard.
    #[inline]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let got = or_wait(self.inner.try_write(), || self.wait_to_write());
        map(got, |inner| self.writing(inner))
    }

    #[cold]
    #[inline(never)]
    fn wait_to_write(&self) -> LockResult<sync::RwLockWriteGuard<'_, T>> {
        let Queues { readers, writers } = &self.queues;
        let scope = enter(&self.label, &self.write_site, Labelled::Write);
        wait_for(scope, writers, &[readers, writers], || self.inner.write())
    }

    /// Gets the lock for writing if that needs no wait; see [`std::sync::RwLock::try_write`].
    ///
    /// # Errors
    /// If a thread has the lock, or if the lock is poisoned.
    #[inline]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        try_map(self.inner.try_write(), |inner| self.writing(inner))
    }

    #[inline]
    fn reading<'a>(&'a self, inner: sync::RwLockReadGuard<'a, T>) -> RwLockReadGuard<'a, T> {
        RwLockReadGuard {
            _reading: Reading(&self.queues),
            inner,
        }
    }

    #[inline]
    fn writing<'a>(&'a self, inner: sync::RwLockWriteGuard<'a, T>) -> RwLockWriteGuard<'a, T> {
        RwLockWriteGuard {
            _writing: Writing(&self.queues),
            inner,
        }
    }
}

like_std!(RwLock);
guard!(RwLockReadGuard);
guard!(mut RwLockWriteGuard);
