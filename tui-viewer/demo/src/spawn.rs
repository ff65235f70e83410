//! Threads with names, by which the viewer distinguishes them.

use std::panic::resume_unwind;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Threads that [`join_all`] waits for.
pub(crate) type Threads<'scope> = Vec<ScopedJoinHandle<'scope, ()>>;

/// Starts `work` on a thread with this name, which ends before `scope` does.
///
/// # Panics
/// If the system cannot start a thread, as [`Scope::spawn`] does.
pub(crate) fn spawn_named<'scope, R: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: String,
    work: impl FnOnce() -> R + Send + 'scope,
) -> ScopedJoinHandle<'scope, R> {
    #[expect(
        clippy::expect_used,
        reason = "the promise of `Scope::spawn`, which takes no name"
    )]
    Builder::new()
        .name(name)
        .spawn_scoped(scope, work)
        .expect("the system starts a thread")
}

/// Waits until threads have ended, including the work of the system at their end. A scope waits only for their closures.
///
/// # Panics
/// If one of the threads has panicked.
pub(crate) fn join_all(threads: Threads<'_>) {
    for thread in threads {
        thread.join().unwrap_or_else(|panic| resume_unwind(panic));
    }
}
