//! Versions of the [`std::sync`] locks that measure how long threads wait, and charge the threads that make them wait.
//!
//! [`Mutex`], [`RwLock`] and [`Condvar`] wrap the types of the same names in [`std::sync`], and have the same interface.
//! Only the import changes: `use tickscope::sync::Mutex` instead of `use std::sync::Mutex`. Without the feature
//! `enable`, they *are* std's types.
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
//! A thread that finds the lock taken opens the scope `[lock] cache` inside its current scope, and closes it when it
//! gets the lock. The calls of this scope are the contended attempts, and its time is the time spent waiting. As long as
//! other threads hold the lock during the wait, the time also counts as *made others wait* in the rows where they
//! release it:
//!
//! - Each holder is charged only for its own part. If a thread waits while other threads take turns holding the lock,
//!   each of them is charged for the wait during its turn. If several threads wait at once, their waiting times add up.
//! - The time from the release of the lock until a waiting thread runs is not charged to any row, unless another thread
//!   takes the lock in the meantime. So the holders are never charged for more than the total waiting time.
//! - Readers of a [`RwLock`] are charged for writers that wait, and for the threads queued behind those writers. If
//!   several readers hold the lock, the first one to release it is charged for the time until then, and the next one
//!   for the time after that.
//! - Waits on a [`Condvar`] are in the row `[condvar] NAME`, including the time to reacquire the mutex. They are not
//!   charged to any other row.
//!
//! The row of a lock shows the lock's name (see [`named_mutex`]) or the place in the source where the lock was created,
//! such as `[lock] cache.rs:41`. All locks created at the same place share a row.
//!
//! Nothing is measured if the lock is free when a thread acquires it, and releasing a lock without waiters costs one
//! additional comparison. Each lock is 32 to 72 bytes larger than std's. Threads that are not measured have no rows, and
//! no row is charged for their waits. The same applies to modes in which nothing is measured.

mod condvar;
mod contention;
mod mutex;
mod rw_lock;

pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult, WaitTimeoutResult};

pub use condvar::{Condvar, named_condvar};
pub use mutex::{Mutex, MutexGuard, named_mutex};
pub use rw_lock::{RwLock, RwLockReadGuard, RwLockWriteGuard, named_rwlock};
