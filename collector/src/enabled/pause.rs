//! Pauses: periods of time that are not charged to any scope.

use std::marker::PhantomData;

use crate::enabled::capture::thread_lifecycle;
use crate::enabled::record::current_thread::{self, Phase};
use crate::enabled::runtime::config;

/// Keeps this thread's clock stopped until it is dropped. Created by [`pause`].
#[must_use = "the pause ends at once if its guard is not kept"]
#[derive(Debug)]
pub struct Pause {
    /// Whether [`pause`] stopped the clock.
    stopped: bool,
    /// Makes the guard `!Send`, because it stops the clock of this thread.
    _of_this_thread: PhantomData<*mut ()>,
}

/// Stops this thread's clock. The time until the guard is dropped is not charged to any scope, but calls are still
/// counted. Pauses can be nested.
///
/// ```
/// fn receive(socket: &std::sync::mpsc::Receiver<u8>) -> Option<u8> {
///     tickscope::scope!();
///     let _waiting = tickscope::pause();
///     socket.recv().ok()
/// }
/// # let (sender, socket) = std::sync::mpsc::channel();
/// # sender.send(7).unwrap();
/// # assert_eq!(receive(&socket), Some(7));
/// ```
pub fn pause() -> Pause {
    let counting = thread_lifecycle::register() == Phase::Counting;
    let tree = current_thread::hot().filter(|_| counting);
    if let Some(tree) = tree {
        tree.catch_up_if_alarmed(config::exact_path());
        tree.pause(config::now);
    }
    Pause {
        stopped: tree.is_some(),
        _of_this_thread: PhantomData,
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        // `own` also finds the tree of a thread that was excluded during the pause, and that may be included again later.
        if let Some(tree) = current_thread::own().filter(|_| self.stopped) {
            // The clock was stopped during all mode switches since the pause began.
            tree.catch_up_if_alarmed(config::exact_path());
            tree.resume(config::now());
        }
    }
}
