//! Code shared by all locks. A wait is a scope, and the thread that releases a lock is charged for the threads that
//! waited for it.

use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use tickscope_format::snapshot::Quantity;

use crate::enabled::measures::measure;
use crate::enabled::record::arena::Ref;
use crate::enabled::record::labelled_sites::{self, Label};
use crate::enabled::record::site::Site;
use crate::enabled::record::site_name::Labelled;
use crate::enabled::record::waiters::Waiters;
use crate::enabled::runtime::config;
use crate::enabled::scope::{self, Scope};
use crate::types::Clock;

/// Opens a scope for a wait of the given kind. The first wait stores the scope's site in `site`.
pub(super) fn enter(label: &Label, site: &Ref<Site>, kind: Labelled) -> Scope {
    scope::enter(site.get_acquire().unwrap_or_else(|| {
        let made = labelled_sites::of(kind, *label);
        site.set_release(Some(made));
        made
    }))
}

/// A thread that is waiting for a lock. The wait ends when this guard is dropped.
struct Wait<'a> {
    waiters: &'a Waiters,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.waiters.leave(moment());
    }
}

/// Calls `get`, which waits for a lock that another thread holds. The wait is measured as `scope`, and charged to the
/// lock's holders. For the queues in `free`, the waiting time since the lock was released is not charged to any thread.
pub(super) fn wait_for<G>(scope: Scope, waiters: &Waiters, free: &[&Waiters], get: impl FnOnce() -> G) -> G {
    if scope.node.is_none() {
        return get();
    }
    waiters.join(moment());
    let wait = Wait { waiters };
    let got = get();
    drop(wait);
    // No thread held the lock from its release until now, so the waiting time in between is discarded.
    let now = moment();
    for waiters in free {
        waiters.take(now);
    }
    got
}

/// Charges the calling thread, which holds a lock and is about to release it, for the threads that have waited for it
/// in one or two queues.
// An `extern "C"` function does not unwind. If this function could unwind, the caller would have to keep its guard in
// memory, which costs 11 ns each time that a lock without waiters is used.
#[cold]
#[inline(never)]
#[allow(improper_ctypes_definitions, reason = "only Rust calls it")]
pub(super) extern "C" fn charge(queue: &Waiters, other: Option<&Waiters>) {
    let now = moment();
    let units = queue.take(now) + other.map_or(0, |other| other.take(now));
    if units > 0 {
        measure([(Quantity::MadeOthersWait, units << coarse_bits())]);
    }
}

/// Returns the current time of the clock, in the unit used for [`Waiters`].
fn moment() -> u64 {
    config::now() >> coarse_bits()
}

/// Returns how many low bits of a tick are dropped, so that it takes longer for sums of waiting times to overflow.
/// 10 000 threads can wait for one holder for some minutes, and 100 threads for half a day. All bits of a custom clock
/// are kept, because it may tick slowly.
fn coarse_bits() -> u32 {
    match config::get().chosen.clock {
        Clock::Tsc | Clock::TscOrdered | Clock::Monotonic => 6,
        Clock::Custom(..) => 0,
    }
}

/// Returns the result of `attempt`, or the result of `wait` if the lock is taken.
#[inline]
pub(super) fn or_wait<G>(attempt: TryLockResult<G>, wait: impl FnOnce() -> LockResult<G>) -> LockResult<G> {
    match attempt {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(poisoned)) => Err(poisoned),
        Err(TryLockError::WouldBlock) => wait(),
    }
}

/// Replaces the guard in a result.
#[inline]
pub(super) fn map<G, H>(result: LockResult<G>, wrap: impl FnOnce(G) -> H) -> LockResult<H> {
    match result {
        Ok(guard) => Ok(wrap(guard)),
        Err(poisoned) => Err(PoisonError::new(wrap(poisoned.into_inner()))),
    }
}

/// Replaces the guard in the result of a `try_` function.
#[inline]
pub(super) fn try_map<G, H>(result: TryLockResult<G>, wrap: impl FnOnce(G) -> H) -> TryLockResult<H> {
    match result {
        Ok(guard) => Ok(wrap(guard)),
        Err(TryLockError::Poisoned(poisoned)) => Err(TryLockError::Poisoned(PoisonError::new(wrap(
            poisoned.into_inner(),
        )))),
        Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
    }
}

/// Implements the functions and traits of std's lock that need no measurement.
macro_rules! like_std {
    ($lock:ident) => {
        impl<T> $lock<T> {
            #[doc = concat!("Returns the value; see [`std::sync::", stringify!($lock), "::into_inner`].")]
            ///
            /// # Errors
            /// Returns an error containing the value if the lock is poisoned.
            pub fn into_inner(self) -> LockResult<T> {
                self.inner.into_inner()
            }
        }

        impl<T: ?Sized> $lock<T> {
            #[doc = concat!("Returns whether the lock is poisoned; see [`std::sync::", stringify!($lock), "::is_poisoned`].")]
            #[inline]
            pub fn is_poisoned(&self) -> bool {
                self.inner.is_poisoned()
            }

            #[doc = concat!("Clears the poison; see [`std::sync::", stringify!($lock), "::clear_poison`].")]
            #[inline]
            pub fn clear_poison(&self) {
                self.inner.clear_poison();
            }

            #[doc = concat!("Returns the value without locking; see [`std::sync::", stringify!($lock), "::get_mut`].")]
            ///
            /// # Errors
            /// Returns an error containing the value if the lock is poisoned.
            pub fn get_mut(&mut self) -> LockResult<&mut T> {
                self.inner.get_mut()
            }
        }

        impl<T: Default> Default for $lock<T> {
            #[track_caller]
            fn default() -> Self {
                Self::new(T::default())
            }
        }

        impl<T> From<T> for $lock<T> {
            #[track_caller]
            fn from(value: T) -> Self {
                Self::new(value)
            }
        }

        impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for $lock<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.inner.fmt(f)
            }
        }
    };
}
pub(super) use like_std;

/// Lets a guard dereference to the locked value, as std's guard does. With `mut`, the value can also be changed through
/// the guard.
macro_rules! guard {
    ($guard:ident) => {
        impl<T: ?Sized> std::ops::Deref for $guard<'_, T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                &self.inner
            }
        }

        impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.inner.fmt(f)
            }
        }

        impl<T: ?Sized + std::fmt::Display> std::fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.inner.fmt(f)
            }
        }
    };
    (mut $guard:ident) => {
        guard!($guard);

        impl<T: ?Sized> std::ops::DerefMut for $guard<'_, T> {
            #[inline]
            fn deref_mut(&mut self) -> &mut T {
                &mut self.inner
            }
        }
    };
}
pub(super) use guard;
