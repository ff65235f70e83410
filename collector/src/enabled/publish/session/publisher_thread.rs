//! The publisher's thread. It runs the publisher until the session ends, or until the program has no other thread left.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::enabled::capture::thread_lifecycle;
use crate::enabled::platform::threads;
use crate::enabled::publish::publisher;
use crate::enabled::publish::session_state::{self, CHANGED, Phase, Shared, shared};

use super::ending::{self, RESET_ASKED, WORKER};

/// How often to check whether the program still has other threads.
const ALONE_EVERY: Duration = Duration::from_secs(1);

/// Starts the thread, unless the thread of an ended session is still there because it has not noticed yet that its
/// session ended. In that case, that thread serves the new session.
pub(super) fn start(shared: &mut Shared) -> io::Result<()> {
    if !shared.has_thread {
        threads::spawn(run)?;
        shared.has_thread = true;
    }
    CHANGED.notify_all();
    Ok(())
}

/// Runs the thread. If it panics, publishing stops, but the program goes on.
fn run() {
    if std::panic::catch_unwind(serve).is_err() {
        // The publisher's state is unknown after a panic, so the publisher is dropped.
        drop(session_state::publisher().take());
        let mut shared = shared();
        shared
            .warnings
            .push("the publisher panicked; scopes are counted, but nothing is published".into());
        shared.stop_publishing();
        shared.has_thread = false;
    }
}

fn serve() {
    thread_lifecycle::exclude();
    threads::name_this_thread(c"tickscope");
    let mut alone_at = Instant::now() + ALONE_EVERY;
    let mut unclean = None;
    loop {
        let rest = session_state::publisher()
            .as_ref()
            .map(|publisher| publisher.rest());
        let mut shared = shared();
        if let Some(rest) = rest
            && matches!(shared.phase, Phase::Publishing | Phase::Lost)
            && !RESET_ASKED.load(Ordering::Relaxed)
        {
            shared = CHANGED
                .wait_timeout(shared, rest)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        if Instant::now() > alone_at {
            alone_at = Instant::now() + ALONE_EVERY;
            // The process does not end before its last thread does, so this thread must not keep it alive.
            if !threads::has_other_threads() {
                shared.ask_to_finish();
            }
        }
        let is_over = match shared.phase {
            Phase::Publishing | Phase::Lost => false,
            Phase::Finishing => {
                drop(shared);
                let left = finish();
                unclean = left.or(unclean);
                shared = session_state::shared();
                // If there is no publisher, another thread is writing the last record. If there is one, a new session
                // has started in the meantime and is already ending.
                shared.phase == Phase::Finishing && session_state::publisher().is_none()
            }
            Phase::Idle | Phase::Counting => true,
        };
        if is_over {
            shared.has_thread = false;
            drop(shared);
            // Old rings are removed last, because no thread waits for this.
            return unclean
                .iter()
                .for_each(|own: &PathBuf| publisher::clean_beside(own));
        }
        drop(shared);
        work();
    }
}

/// Writes the last record, unless another thread is doing so.
fn finish() -> Option<PathBuf> {
    let publisher = session_state::publisher().take()?;
    let unclean = ending::finish(publisher);
    shared().stop_publishing();
    unclean
}

/// Runs one round of the publisher.
fn work() {
    let mut publisher = session_state::publisher();
    let Some(working) = publisher.as_mut() else { return };
    WORKER.store(threads::thread_id(), Ordering::Relaxed);
    working.round(RESET_ASKED.swap(false, Ordering::Relaxed));
    if let Some(said) = working.take_said() {
        let path = working.path().map(Path::to_path_buf);
        drop(publisher);
        shared().update_ring(said, path.as_deref());
    }
}
