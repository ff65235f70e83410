//! Threads with names, by which the viewer distinguishes them.

use std::thread::{Builder, Scope, ScopedJoinHandle};

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
