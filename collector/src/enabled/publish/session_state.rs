//! The state of this process's session. It is shared by the code that starts the session, the publisher's thread, and
//! the code that runs when the program ends.
//!
//! Locks are taken in this order: the shared state, the publisher, the collector's state.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

use tickscope_format::Snapshot;
use tickscope_format::snapshot::CaptureKind;

use crate::enabled::capture::capture_lock::{self, Locked};
use crate::enabled::capture::functions;
use crate::enabled::publish::publisher::{Publisher, replace_ring_warning};
use crate::enabled::publish::reports::report_file;
use crate::enabled::runtime::process_name;
use crate::enabled::runtime::settings::Settings;
use crate::types::Destination;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No session.
    Idle,
    Publishing,
    /// The ring was destroyed from outside this process. The publisher carries on without a ring until it has created a
    /// new one.
    Lost,
    /// Scopes are counted, but nothing is published, because no directory could hold a ring or the publisher panicked.
    Counting,
    /// The last record is being written.
    Finishing,
}

/// State that is shared by the session, the publisher, and the code that runs when the program ends.
pub(crate) struct Shared {
    pub(crate) phase: Phase,
    pub(crate) sessions: u32,
    /// Whether `TICKSCOPE` started the session, and the program itself has not called `start` so far.
    pub(crate) is_of_environment: bool,
    pub(crate) has_thread: bool,
    pub(crate) name: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) path: Option<PathBuf>,
    pub(crate) report_at_exit: Option<Destination>,
}

/// The session of this process.
static SHARED: Mutex<Shared> = Mutex::new(Shared {
    phase: Phase::Idle,
    sessions: 0,
    is_of_environment: false,
    has_thread: false,
    name: String::new(),
    warnings: Vec::new(),
    path: None,
    report_at_exit: None,
});

/// The publisher of the session. `None` if the session has no publisher, and after a thread has taken the publisher to
/// write the last record. The publisher's thread holds the lock while it works.
static PUBLISHER: Mutex<Option<Publisher>> = Mutex::new(None);

/// Signals that `SHARED` has changed, or that the publisher has work.
pub(crate) static CHANGED: Condvar = Condvar::new();

/// The end of a session stops waiting for the last record after this many milliseconds without progress.
pub(crate) static END_WITHIN_MS: AtomicU64 = AtomicU64::new(0);

/// Whether a report at exit was requested.
pub(crate) static REPORTS: AtomicBool = AtomicBool::new(false);

/// Whether the phase is `Publishing`, for callers that must not wait for the lock.
pub(crate) static PUBLISHING: AtomicBool = AtomicBool::new(false);

impl Shared {
    /// Applies the publisher's message that the ring was lost, or that there is a new one at `path`.
    pub(crate) fn update_ring(&mut self, said: String, path: Option<&Path>) {
        replace_ring_warning(&mut self.warnings, &said);
        self.path = path.map(Path::to_path_buf);
        if matches!(self.phase, Phase::Publishing | Phase::Lost) {
            self.phase = match path {
                Some(_) => Phase::Publishing,
                None => Phase::Lost,
            };
        }
    }

    /// Requests the last record. Returns false if no record will be written, because nothing is being published.
    pub(crate) fn ask_to_finish(&mut self) -> bool {
        match self.phase {
            Phase::Publishing | Phase::Lost => {
                self.phase = Phase::Finishing;
                PUBLISHING.store(false, Ordering::Relaxed);
                CHANGED.notify_all();
            }
            Phase::Counting => self.phase = Phase::Idle,
            Phase::Finishing | Phase::Idle => {}
        }
        self.phase == Phase::Finishing
    }

    /// Marks publishing as stopped, because the session has ended or goes on without a publisher.
    pub(crate) fn stop_publishing(&mut self) {
        capture_lock::with(|state| state.epochs.set_publishing(false));
        PUBLISHING.store(false, Ordering::Relaxed);
        self.phase = if self.phase == Phase::Finishing {
            Phase::Idle
        } else {
            Phase::Counting
        };
        CHANGED.notify_all();
    }
}

pub(crate) fn shared() -> MutexGuard<'static, Shared> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Locks the shared state if the lock is free. This never blocks, because the calling thread itself may already hold the
/// lock, in an outer stack frame.
pub(crate) fn try_shared() -> Option<MutexGuard<'static, Shared>> {
    try_lock(&SHARED)
}

pub(crate) fn publisher() -> MutexGuard<'static, Option<Publisher>> {
    PUBLISHER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the publisher, if there is one and no thread is using it.
pub(crate) fn try_take_publisher() -> Option<Publisher> {
    try_lock(&PUBLISHER)?.take()
}

fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Applies the environment variables to the settings, and adds a warning for each setting that cannot be applied.
/// Afterwards, `lines` is set.
pub(crate) fn in_force(settings: Settings, warnings: &mut Vec<String>) -> Settings {
    let mut settings = settings.with_environment_and_warnings(warnings);
    settings.lines.get_or_insert_with(functions::are_known);
    warnings.extend(settings.report_at_exit.as_ref().and_then(report_file::instead));
    warnings.extend(functions::warnings());
    settings
}

/// Captures a snapshot. If the session has no name yet, it is named after the executable.
pub(crate) fn captured(mut locked: Locked, kind: CaptureKind) -> Snapshot {
    let state = locked.state();
    if state.session.name.is_empty() {
        state.session.name = process_name::of_executable();
    }
    state.capture_with(kind, true)
}
