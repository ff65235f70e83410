//! The reader-writer lock and its guards.

use std::sync::{self, LockResult, TryLockResult};

use super::contention::{charge, enter, guard, like_std, map, or_wait, try_map, wait_for};
use crate::enabled::record::arena::Ref;
use crate::enabled::record::labelled_sites::Label;
use crate::enabled::record::site::Site;
use crate::enabled::record::site_name::Labelled;
use crate::enabled::record::waiters::Waiters;

/// A [`std::sync::RwLock`] whose waits are shown in two rows, `[lock] NAME (read)` and `[lock] NAME (write)`, and charged
/// to the threads that cause them.
///
/// This lock has the interface of std's lock, including poisoning, but without functions that became stable after Rust
/// 1.89. The [module](super) describes what is measured.
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

/// The waiting threads. Readers that hold the lock only block writers, and the threads that are queued behind these
/// writers.
struct Queues {
    readers: Waiters,
    writers: Waiters,
}

/// Releases the lock when dropped; see [`std::sync::RwLockReadGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockReadGuard<'a, T: ?Sized + 'a> {
    // Dropped before `inner`, while this thread still holds the lock, so the lock still exists.
    _reading: Reading<'a>,
    inner: sync::RwLockReadGuard<'a, T>,
}

/// Releases the lock when dropped; see [`std::sync::RwLockWriteGuard`].
#[must_use = "if unused the RwLock will immediately unlock"]
pub struct RwLockWriteGuard<'a, T: ?Sized + 'a> {
    // Dropped before `inner`, like `_reading`.
    _writing: Writing<'a>,
    inner: sync::RwLockWriteGuard<'a, T>,
}

/// When dropped, charges the reader for the threads that waited for it.
struct Reading<'a>(&'a Queues);

/// When dropped, charges the writer for the threads that waited for it.
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

/// Creates a lock with a name. Its waits are in the rows `[lock] NAME (read)` and `[lock] NAME (write)`.
#[track_caller]
pub const fn named_rwlock<T>(name: &'static str, value: T) -> RwLock<T> {
    RwLock::with(Some(name), value)
}

impl<T> RwLock<T> {
    /// Creates a lock; see [`std::sync::RwLock::new`]. Its rows are named after the source location of the caller.
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
    /// Acquires the lock for reading, and waits if necessary; see [`std::sync::RwLock::read`].
    ///
    /// # Errors
    /// Returns an error containing the guard if the lock is poisoned.
    #[inline]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let got = or_wait(self.inner.try_read(), || self.wait_to_read());
        map(got, |inner| self.reading(inner))
    }

    #[cold]
    #[inline(never)]
    fn wait_to_read(&self) -> LockResult<sync::RwLockReadGuard<'_, T>> {
        let Queues { readers, .. } = &self.queues;
        // `free` contains only `readers`. Waiting writers are also blocked by the readers that hold the lock now, so
        // their waiting time must still be charged.
        let scope = enter(&self.label, &self.read_site, Labelled::Read);
        wait_for(scope, readers, &[readers], || self.inner.read())
    }

    /// Acquires the lock for reading if this is possible without waiting; see [`std::sync::RwLock::try_read`].
    ///
    /// # Errors
    /// Returns an error if a writer holds the lock, or if the lock is poisoned.
    #[inline]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        try_map(self.inner.try_read(), |inner| self.reading(inner))
    }

    /// Acquires the lock for writing, and waits if necessary; see [`std::sync::RwLock::write`].
    ///
    /// # Errors
    /// Returns an error containing the guard if the lock is poisoned.
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

    /// Acquires the lock for writing if this is possible without waiting; see [`std::sync::RwLock::try_write`].
    ///
    /// # Errors
    /// Returns an error if a thread holds the lock, or if the lock is poisoned.
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
