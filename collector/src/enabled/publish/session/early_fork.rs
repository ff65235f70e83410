//! Handles forks that happen after `TICKSCOPE` has started a session and before the first scope, as in daemons and in
//! servers that fork workers. The parent's session continues. The child discards that session, and starts its own when
//! it calls `start` or runs its first scope.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::enabled::capture::capture_lock::{self, Locked};
use crate::enabled::platform::os;
use crate::enabled::platform::patience::Patience;
use crate::enabled::platform::threads;
use crate::enabled::publish::publisher::Publisher;
use crate::enabled::publish::session_state::{PUBLISHING, Phase, Shared, publisher};
use crate::enabled::runtime::config;

use super::ending;

/// A fork stops waiting for the session's lock after this long without progress. It then goes ahead without the lock,
/// and the child measures nothing.
const LONGEST: Duration = Duration::from_secs(1);

/// Locks that the publisher's thread may hold. The forking thread takes them before the fork, because in the child
/// there is no publisher's thread that could release them.
struct Held {
    state: Option<Locked>,
    publisher: MutexGuard<'static, Option<Publisher>>,
    shared: MutexGuard<'static, Shared>,
}

thread_local! {
    /// Locks that the forking thread holds across the fork. They are in a [`ManuallyDrop`] so that the cell has no
    /// destructor, because registering a destructor allocates.
    static HELD: Cell<Option<ManuallyDrop<Held>>> = const { Cell::new(None) };
}

/// Lets children that are forked before the first scope start their own session.
pub(super) fn expect() {
    os::around_forks(Some(before), Some(in_parent), Some(in_child));
}

extern "C" fn before() {
    if config::children_begin_anew()
        && let Some(shared) = ending::locked(&mut Patience::new(LONGEST))
    {
        let publisher = publisher();
        let state = capture_lock::take();
        HELD.set(Some(ManuallyDrop::new(Held {
            state,
            publisher,
            shared,
        })));
    }
}

extern "C" fn in_parent() {
    drop(HELD.take().map(ManuallyDrop::into_inner));
}

extern "C" fn in_child() {
    match HELD.take().map(ManuallyDrop::into_inner) {
        Some(mut held) => {
            // The ring belongs to the parent and is not mapped in the child, so the child must not drop it.
            std::mem::forget(held.publisher.take());
            let shared = &mut *held.shared;
            (shared.phase, shared.sessions, shared.has_thread) = (Phase::Idle, 0, false);
            shared.is_of_environment = false;
            shared.path = None;
            PUBLISHING.store(false, Ordering::Relaxed);
            threads::forget_ours();
            if let Some(state) = held.state.as_mut().map(Locked::state) {
                state.forget_beginning();
                state.epochs.set_publishing(false);
            }
            config::begin_anew();
        }
        None if config::children_begin_anew() => config::note_forked_child(),
        None => {}
    }
}
