//! The state of this process's session, shared by its start, the publisher's thread and the end of the program.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tickscope_format::Snapshot;
use tickscope_format::snapshot::CaptureKind;

use crate::enabled::capture::collector_state::CollectorState;
use crate::enabled::capture::functions;
use crate::enabled::publish::publisher::identity::Identity;
use crate::enabled::publish::reports::report_file;
use crate::enabled::runtime::settings::Settings;
use crate::enabled::runtime::{config, process_name};
use crate::types::Destination;

/// How a warning about lost rings begins. A new one replaces the last, so that they do not pile up over months.
const RINGS_LOST: &str = "ring files lost: ";

/// How long the end of a session or of the program waits for the last record.
pub(crate) const LAST_RECORD: Duration = Duration::from_millis(50);

/// The same under `tickscope run`, which waits to read the record.
pub(crate) const LAST_RECORD_RUN: Duration = Duration::from_secs(1);

/// The phase of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No session.
    Idle,
    /// The publisher's thread is making the ring.
    Starting,
    Publishing,
    /// The ring was destroyed from outside. The publisher goes on without one until it has made another.
    Lost,
    /// No place for a ring was found; scopes are only counted.
    Counting,
    /// The publisher is writing its last record.
    Finishing,
}

/// What the session, the publisher and the end of the program tell each other.
pub(crate) struct Shared {
    pub(crate) phase: Phase,
    pub(crate) sessions: u32,
    pub(crate) order: Option<(Identity, Settings)>,
    /// The name of the session in force.
    pub(crate) name: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) path: Option<PathBuf>,
    pub(crate) report_at_exit: Option<Destination>,
    /// Since when the publisher has been asked for its last record.
    pub(crate) finishing: Option<Instant>,
}

/// The session of this process.
pub(crate) static SHARED: Mutex<Shared> = Mutex::new(Shared {
    phase: Phase::Idle,
    sessions: 0,
    order: None,
    name: String::new(),
    warnings: Vec::new(),
    path: None,
    report_at_exit: None,
    finishing: None,
});

impl Shared {
    /// Takes a message of the publisher that it has lost a ring or made a new one.
    pub(crate) fn update_ring(&mut self, said: String, path: Option<&Path>) {
        replace_ring_warning(&mut self.warnings, &said);
        self.path = path.map(Path::to_path_buf);
        if matches!(self.phase, Phase::Publishing | Phase::Lost) {
            self.phase = match path {
                Some(_) => Phase::Publishing,
                None => Phase::Lost,
            };
            CHANGED.notify_all();
        }
    }
}

/// Signals that something in `SHARED` has changed, or that the publisher has work.
pub(crate) static CHANGED: Condvar = Condvar::new();

/// Whether a report at exit is wanted.
pub(crate) static REPORTS: AtomicBool = AtomicBool::new(false);

/// Whether the phase is `Publishing`, for callers that must not wait for the lock.
pub(crate) static PUBLISHING: AtomicBool = AtomicBool::new(false);

/// Locks the shared state.
pub(crate) fn shared() -> MutexGuard<'static, Shared> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until `done`, or for at most `longest`.
pub(crate) fn wait(
    mut shared: MutexGuard<'static, Shared>,
    longest: Duration,
    done: impl Fn(&Shared) -> bool,
) -> MutexGuard<'static, Shared> {
    let begin = Instant::now();
    while !done(&shared) {
        let left = longest.saturating_sub(begin.elapsed());
        if left.is_zero() {
            break;
        }
        shared = CHANGED
            .wait_timeout(shared, left)
            .unwrap_or_else(PoisonError::into_inner)
            .0;
    }
    shared
}

/// Asks for the last record. Returns how much longer to wait for it, counted from the time at which the first caller
/// asked.
pub(crate) fn ask_to_finish(shared: &mut Shared, began: Instant) -> Duration {
    match shared.phase {
        Phase::Starting | Phase::Publishing | Phase::Lost => {
            shared.phase = Phase::Finishing;
            shared.finishing = Some(began);
            PUBLISHING.store(false, Ordering::Relaxed);
            CHANGED.notify_all();
        }
        Phase::Finishing => {}
        Phase::Counting => shared.phase = Phase::Idle,
        Phase::Idle => {}
    }
    if shared.phase == Phase::Idle {
        return Duration::ZERO;
    }
    let longest = if config::get().run_token == 0 {
        LAST_RECORD
    } else {
        LAST_RECORD_RUN
    };
    longest.saturating_sub(shared.finishing.unwrap_or(began).elapsed())
}

/// Applies the environment to the settings, and warns of everything that will differ from what was asked for.
pub(crate) fn in_force(settings: Settings, warnings: &mut Vec<String>) -> Settings {
    let settings = settings.with_environment_and_warnings(warnings);
    warnings.extend(settings.report_at_exit.as_ref().and_then(report_file::instead));
    warnings.extend(functions::warnings());
    settings
}

/// Captures a snapshot under the program's name.
pub(crate) fn captured(mut state: MutexGuard<'static, CollectorState>, kind: CaptureKind) -> Snapshot {
    if state.session.name.is_empty() {
        state.session.name = process_name::of_executable();
    }
    state.read_tasks_anew();
    state.capture_whole(kind)
}

/// Replaces the warning about lost rings.
pub(crate) fn replace_ring_warning(warnings: &mut Vec<String>, said: &str) {
    warnings.retain(|warning| !warning.starts_with(RINGS_LOST));
    warnings.push(format!("{RINGS_LOST}{said}"));
}
