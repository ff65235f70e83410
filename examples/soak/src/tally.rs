//! What a run has reached so far, counted by all of its threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::past::Past;

/// The number of errors that are kept as text; all are counted.
const KEPT: usize = 20;

/// A number that only grows.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

/// All numbers of a run.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Programs that were killed after they had published.
    pub(crate) kills: Count,
    /// Those of them without an intact newest snapshot.
    pub(crate) lost: Count,
    /// Ring files that were truncated or removed while the program published.
    pub(crate) cuts: Count,
    /// Programs that died of it.
    pub(crate) cut_dead: Count,
    /// Viewers that died of it.
    pub(crate) cut_dead_viewers: Count,
    /// Complete snapshots read.
    pub(crate) reads: Count,
    /// Times that a reader was overtaken and tried again later.
    pub(crate) lapped: Count,
    /// Snapshots that contradict themselves or an earlier one.
    pub(crate) inconsistent: Count,
    /// Requests sent and answered.
    pub(crate) answered: Count,
    /// Requests whose asker or program was gone before the answer.
    pub(crate) unanswered: Count,
    /// Requests that were carried out twice or not at all, though answered.
    pub(crate) not_once: Count,
    /// Records that were added up.
    pub(crate) records: Count,
    /// Those of them that end an epoch.
    pub(crate) epochs: Count,
    /// Records at which the epochs did not add up to the total.
    pub(crate) off: Count,
    /// Records with live bytes, and those in which they are further from the truth than they say.
    pub(crate) live: Count,
    pub(crate) live_off: Count,
    /// Records that were overwritten between two looks.
    pub(crate) missed: Count,
    /// Bursts of keys pressed.
    pub(crate) keys: Count,
    /// Viewers killed and replaced.
    pub(crate) viewers_killed: Count,
    /// Commands that ran to their end.
    pub(crate) commands: Count,
    /// Commands killed at some moment.
    pub(crate) commands_killed: Count,
    /// Files that viewers and commands wrote.
    pub(crate) files: Count,
    errors: Mutex<Vec<String>>,
    all_errors: Count,
    /// What viewers keep of the program that is watched.
    past: Mutex<Past>,
}

impl Count {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Tally {
    /// Counts an error, and prints it at once.
    #[allow(clippy::print_stderr, reason = "a program that speaks to its user")]
    pub(crate) fn error(&self, what: String) {
        self.all_errors.add(1);
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        if errors.len() < KEPT {
            eprintln!("error: {what}");
            errors.push(what);
        }
    }

    pub(crate) fn past(&self) -> MutexGuard<'_, Past> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn errors(&self) -> u64 {
        self.all_errors.get()
    }
}
