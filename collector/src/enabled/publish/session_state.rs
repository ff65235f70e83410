//! The session of this process: what its start, the publisher's thread and the end of the program know in common.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tickscope_format::Snapshot;
use tickscope_format::snapshot::CaptureKind;

use crate::enabled::capture::collector_state::CollectorState;
use crate::enabled::publish::publisher::identity::Identity;
use crate::enabled::publish::reports::report_file;
use crate::enabled::runtime::settings::Settings;
use crate::enabled::runtime::{config, process_name};
use crate::types::Destination;

/// How what is said of lost rings begins. Each time it takes the place of what was said before: months are long.
const RINGS_LOST: &str = "ring files lost: ";

/// How long the end of a session or of the program waits for the last record.
pub(crate) const LAST_RECORD: Duration = Duration::from_millis(50);

/// The same under `tickscope run`, where somebody waits to read it.
pub(crate) const LAST_RECORD_RUN: Duration = Duration::from_secs(1);

/// How far the session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No session.
    Idle,
    /// The publisher's thread is at work on the ring.
    Starting,
    Publishing,
    /// The ring was destroyed from outside; the publisher goes on without one until it makes another.
    Lost,
    /// There is no place for a ring.
    Counting,
    /// The publisher writes its last record.
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
    /// The publisher has lost a ring, or has a new one.
    pub(crate) fn hear(&mut self, said: String, path: Option<&Path>) {
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

/// Something in `SHARED` has changed, or the publisher is wanted.
pub(crate) static CHANGED: Condvar = Condvar::new();

/// There is to be a report at exit.
pub(crate) static REPORTS: AtomicBool = AtomicBool::new(false);

/// The phase is `Publishing`: for who must not wait for the lock.
pub(crate) static PUBLISHING: AtomicBool = AtomicBool::new(false);

/// The shared state, once its lock is free.
pub(crate) fn shared() -> MutexGuard<'static, Shared> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until `done`, or at most so long.
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

/// Asks for the last record; gives how long to wait for it, reckoned from when whoever asked first began to.
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

/// The settings with what the environment says, and warnings of all that will not be as it was asked for.
pub(crate) fn in_force(settings: Settings, warnings: &mut Vec<String>) -> Settings {
    let settings = settings.with_environment_and_warnings(warnings);
    warnings.extend(settings.report_at_exit.as_ref().and_then(report_file::instead));
    settings
}

/// A snapshot of now under the program's name.
pub(crate) fn captured(mut state: MutexGuard<'static, CollectorState>, kind: CaptureKind) -> Snapshot {
    if state.session.name.is_empty() {
        state.session.name = process_name::of_executable();
    }
    state.capture(kind)
}

/// Adds what is said of lost rings to the warnings, in place of what was said before.
pub(crate) fn replace_ring_warning(warnings: &mut Vec<String>, said: &str) {
    warnings.retain(|warning| !warning.starts_with(RINGS_LOST));
    warnings.push(format!("{RINGS_LOST}{said}"));
}
