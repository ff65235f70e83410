//! Locks of [`std::sync`] that measure their waits and charge the threads that make other threads wait.
//!
//! [`Mutex`], [`RwLock`] and [`Condvar`] have the interface of the types in [`std::sync`], and contain these types.
//! Only the import changes: `use tickscope::sync::Mutex` instead of `use std::sync::Mutex`. Without the feature
//! `enable` they *are* std's types.
//!
//! ```
//! use tickscope::sync::Mutex;
//!
//! static CACHE: Mutex<Vec<u64>> = tickscope::sync::named_mutex("cache", Vec::new());
//!
//! #[tickscope::profile]
//! fn put(value: u64) {
//!     CACHE.lock().unwrap().push(value);
//! }
//! # put(7);
//! # assert_eq!(CACHE.lock().unwrap().len(), 1);
//! ```
//!
//! A thread that finds the lock taken opens the scope `[lock] cache` below its open scope until it gets the lock. The
//! scope's calls are the contended attempts, and its time is the wait. As far as the lock was held during the wait,
//! this time counts as *made others wait* for the row in which the lock is given back:
//!
//! - Each holder is charged for its own part. If a thread waits while other threads take turns with the lock, each of
//!   these is charged for the wait during its turn. The waits of several threads at once add up.
//! - The time from giving the lock back until a waiting thread runs is charged to no row, unless another thread takes
//!   the lock meanwhile. So the holders are charged at most for the waiting time.
//! - Readers of a [`RwLock`] are charged for writers that wait and for the threads queued behind them. Of several
//!   readers, the first to release the lock is charged until its release, and then the next.
//! - Waits on a [`Condvar`] have the row `[condvar] NAME`, including the time to get the mutex back. They are charged
//!   to no other row.
//!
//! The row of a lock shows its name ([`named_mutex`]), or the place where the lock was made: `[lock] cache.rs:41`. All
//! locks made at one place share a row.
//!
//! An attempt that gets the lock at once measures nothing, and releasing a lock without waiters costs one more
//! comparison. Each lock is 32 to 72 bytes larger than std's. Threads that are not measured, and modes that do not
//! measure, have no rows, and no row is charged for their waits.

mod condvar;
mod contention;
mod mutex;
mod rw_lock;

pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult, WaitTimeoutResult};

pub use condvar::{Condvar, named_condvar};
pub use mutex::{Mutex, MutexGuard, named_mutex};
pub use rw_lock::{RwLock, RwLockReadGuard, RwLockWriteGuard, named_rwlock};
