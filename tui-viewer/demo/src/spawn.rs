//! Named threads, so that the viewer can tell them apart.

use std::panic::resume_unwind;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Threads that [`join_all`] waits for.
pub(crate) type Threads<'scope> = Vec<ScopedJoinHandle<'scope, ()>>;

/// Runs `work` on a new thread with this name. `scope` does not end before `work` has returned.
///
/// # Panics
/// If the system cannot start a thread, as with [`Scope::spawn`].
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

/// Waits until threads have ended completely, whereas a scope waits only until their closures have returned.
///
/// # Panics
/// If one of the threads has panicked.
pub(crate) fn join_all(threads: Threads<'_>) {
    for thread in threads {
        thread.join().unwrap_or_else(|panic| resume_unwind(panic));
    }
}
