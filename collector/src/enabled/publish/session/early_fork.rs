//! Handles forks after the environment has begun a session and before the first scope, as made by daemons and by
//! servers with workers. The parent's session continues. The child forgets that session, and begins its own by `start`
//! or at its first scope.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::enabled::capture::capture_lock::{self, Locked};
use crate::enabled::platform::os;
use crate::enabled::platform::patience::Patience;
use crate::enabled::publish::publisher::Publisher;
use crate::enabled::publish::session_state::{PUBLISHING, Phase, Shared, publisher};
use crate::enabled::runtime::config;

use super::ending;

/// Time for which a fork waits for the session's lock. After that the child measures nothing.
const LONGEST: Duration = Duration::from_secs(1);

/// Locks that the publisher's thread may hold. The forking thread takes them, because the publisher's thread does not
/// exist in the child.
struct Held {
    state: Option<Locked>,
    publisher: MutexGuard<'static, Option<Publisher>>,
    shared: MutexGuard<'static, Shared>,
}

thread_local! {
    /// Locks that the forking thread holds. The cell has no destructor, because registering a destructor allocates.
    static HELD: Cell<Option<ManuallyDrop<Held>>> = const { Cell::new(None) };
}

/// Lets children that are forked before the first scope begin their own session.
pub(super) fn expect() {
    os::around_forks(Some(before), Some(in_parent), Some(in_child));
}

extern "C" fn before() {
    if config::is_for_now()
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
            if let Some(state) = held.state.as_mut().map(Locked::state) {
                state.forget_beginning();
                state.epochs.set_publishing(false);
            }
            config::begin_anew();
        }
        None if config::is_for_now() => config::note_forked_child(),
        None => {}
    }
}
