//! Threads with names, which is how the viewer tells them apart.

use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Starts `work` on a thread of this name; it ends before `scope` does.
///
/// # Panics
/// If the system gives no thread, as [`Scope::spawn`].
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
        .expect("the system gives a thread")
}
