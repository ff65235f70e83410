//! Sessions: the start and end of publishing, and what the environment starts by itself.

mod exit;
mod live;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tickscope_format::Snapshot;
use tickscope_format::snapshot::{CaptureKind, Cost, LINES_HZ};

use crate::enabled::capture::{collector_state, functions, thread_lifecycle};
use crate::enabled::platform::os;
use crate::enabled::publish::overhead;
use crate::enabled::publish::publisher::identity::Identity;
use crate::enabled::publish::publisher::{self, Publisher};
use crate::enabled::publish::reports::{Log, report_file};
use crate::enabled::publish::session_state::{
    CHANGED, PUBLISHING, Phase, REPORTS, Shared, ask_to_finish, captured, in_force, shared, wait,
};
use crate::enabled::record::current_thread;
use crate::enabled::record::mode_switch;
use crate::enabled::runtime::process_name;
use crate::enabled::runtime::settings::{AutoStart, Settings};
use crate::enabled::runtime::{config, copies};
use crate::enabled::scope;
use crate::types::{DumpError, Format, StartError, Status};

use self::live::Live;

/// How long the clock's cost is measured that the environment or the builder asks for.
const COST_MEASURED: Duration = Duration::from_secs(10);

/// How long [`Session::wait_for_outcome`] waits for the outcome.
const OUTCOME: Duration = Duration::from_secs(1);

/// Viewers can attach to this program as long as a session lives.
///
/// Dropping the last session publishes a final record, which takes at most 50 ms.
#[derive(Debug)]
#[must_use = "publishing ends when the session is dropped"]
pub struct Session {
    /// Whether `Shared::sessions` includes this session.
    counted: bool,
    /// Warnings of this start alone.
    warnings: Vec<String>,
}

/// Whether the environment has been asked which session to start.
static ASKED: AtomicBool = AtomicBool::new(false);

/// Whether [`at_exit`] is registered.
static AT_EXIT: AtomicBool = AtomicBool::new(false);

/// Whether the program has asked the publisher for a reset.
static RESET_ASKED: AtomicBool = AtomicBool::new(false);

/// Locks the shared state for a call by the user. `None` in a forked child, where the thread that held the lock may not
/// exist.
fn shared_unless_forked() -> Option<MutexGuard<'static, Shared>> {
    (!config::is_forked_child()).then(shared)
}

extern "C" fn at_exit() {
    exit::at_exit(fill_in_cost);
}

/// Has the last record written when the program exits normally. It neither allocates nor takes a lock.
fn expect_exit() {
    if !AT_EXIT.swap(true, Ordering::Relaxed) {
        os::at_exit(at_exit);
    }
}

/// Runs before the first scope of every thread. The first call in the process starts what `TICKSCOPE` asks for. It
/// neither allocates nor takes a lock, because the scope may be inside the program's allocator.
pub(crate) fn first_scope() {
    if ASKED.swap(true, Ordering::Relaxed) {
        return;
    }
    Settings::warn_of_bad_auto_start();
    match config::get().auto_start {
        Some(AutoStart::Live | AutoStart::Log) => go_live(),
        Some(AutoStart::Report) => {
            REPORTS.store(true, Ordering::Relaxed);
            expect_exit();
            // The publisher's thread takes samples, keeps the budget, tells which calls are slow, and measures the clock's cost.
            if mode_switch::newest().mode.has_estimated_times()
                || functions::have_a_budget()
                || Settings::wants_publisher()
            {
                go_live();
            }
        }
        Some(AutoStart::Off) | None => {}
    }
}

fn go_live() {
    Live::Tried.set();
    expect_exit();
    // Without a thread, scopes are still counted, and the next start tries again.
    match os::spawn(publish_live) {
        Ok(()) => Live::Coming.set_unless_over(),
        Err(_) => Live::None.set(),
    }
}

/// Starts or joins the session of this process.
pub(crate) fn start(program: &str, settings: Settings) -> Session {
    let _own = current_thread::own_work();
    let mut warnings = Vec::new();
    let name = process_name::mend(program, &mut warnings);
    let settings = in_force(settings, &mut warnings);
    let config = config::decide_with(&settings, &mut warnings);
    if config::is_forked_child() {
        warnings.push("a forked child publishes nothing; start a new program instead (fork and exec)".into());
    }
    let first = !ASKED.swap(true, Ordering::Relaxed);
    if config.off || config::is_forked_child() {
        return Session {
            counted: false,
            warnings,
        };
    }
    // This is needed even after an earlier scope: a scope alone registers no exit handler.
    expect_exit();
    let mut shared = shared();
    if first {
        // With `live` or `log` the user wants to see the whole run, not only the time within a session.
        shared.sessions += u32::from(config.auto_start.is_some_and(AutoStart::publishes));
    }
    if settings.report_at_exit.is_some() {
        shared.report_at_exit.clone_from(&settings.report_at_exit);
        REPORTS.store(true, Ordering::Relaxed);
    }
    shared.sessions += 1;
    if shared.phase == Phase::Finishing {
        shared = wait(shared, OUTCOME, |shared| shared.phase != Phase::Finishing);
    }
    match shared.phase {
        Phase::Idle => {
            begin(&mut shared, name, settings, std::mem::take(&mut warnings));
        }
        Phase::Finishing => warnings.push("the last session is still ending; try again later".into()),
        Phase::Starting | Phase::Publishing | Phase::Lost | Phase::Counting => {
            if shared.name != name {
                warnings.push(format!(
                    "joined the running session \"{}\"; its name and settings stay in force",
                    shared.name
                ));
            }
        }
    }
    drop(shared);
    Session {
        counted: true,
        warnings,
    }
}

fn begin(shared: &mut Shared, name: String, settings: Settings, warnings: Vec<String>) {
    shared.name.clone_from(&name);
    shared.warnings = warnings;
    shared.path = None;
    if let Some(mut state) = collector_state::lock() {
        let now = mode_switch::newest();
        state.switch_by_program(
            settings.mode.unwrap_or(now.mode),
            settings.histogram.unwrap_or(now.histograms),
        );
    }
    if let Some(mut state) = collector_state::lock() {
        state.mutes.policy = settings.auto_mute;
    }
    if settings.lines
        && let Some(mut state) = collector_state::lock()
    {
        state.sample_lines(LINES_HZ);
    }
    for (function, over) in &settings.watch {
        if let Err(error) = collector_state::watch_in(function, *over) {
            shared
                .warnings
                .push(format!("{function} is not watched: {error}"));
        }
    }
    if let Some(pattern) = &settings.measure_cost
        && let Err(error) = collector_state::measure_cost_in(pattern, COST_MEASURED)
    {
        shared
            .warnings
            .push(format!("the clock's cost is not measured in {pattern}: {error}"));
    }
    shared.order = Some((
        Identity {
            name,
            run_token: config::get().run_token,
        },
        settings,
    ));
    shared.phase = Phase::Starting;
    if Live::Coming.is() {
        // It takes this order.
        return;
    }
    if let Err(error) = os::spawn(publish) {
        shared.order = None;
        shared.phase = Phase::Counting;
        shared
            .warnings
            .push(format!("no thread for the publisher: {error}"));
    }
}

/// Runs the publisher's thread if the environment started it.
fn publish_live() {
    Live::Coming.set();
    thread_lifecycle::exclude();
    // The first scope may be in the allocator, so the lock is taken only here.
    let mut shared = shared();
    shared.sessions += 1;
    if shared.phase == Phase::Idle {
        let mut warnings = Vec::new();
        let settings = in_force(Settings::default(), &mut warnings);
        if settings.report_at_exit.is_some() {
            shared.report_at_exit.clone_from(&settings.report_at_exit);
            REPORTS.store(true, Ordering::Relaxed);
        }
        // This leaves an order for `serve` and starts no thread.
        begin(&mut shared, process_name::of_executable(), settings, warnings);
    }
    drop(shared);
    publish();
}

/// Runs the publisher's thread. A panic ends this thread and not the program.
fn publish() {
    if std::panic::catch_unwind(serve).is_err() {
        let mut shared = shared();
        shared
            .warnings
            .push("the publisher panicked; scopes are counted, but nothing is published".into());
        stop_publishing(shared);
    }
}

/// Runs the publisher, from the order to the last record.
fn serve() {
    thread_lifecycle::exclude();
    os::name_this_thread(c"tickscope");
    let mut shared = shared();
    Live::None.set();
    let Some((identity, settings)) = shared.order.take() else {
        return;
    };
    drop(shared);
    if let Some(mut state) = collector_state::lock() {
        state.session.name.clone_from(&identity.name);
        state.set_publishing(true);
    }
    let mut warnings = Vec::new();
    let logs = settings.log_every.is_some();
    let started = Publisher::start(identity, settings, &mut warnings);
    if logs && started.is_err() {
        // The lock is released first, because standard error may be a pipe without a reader.
        Log::missed();
    }
    let mut shared = self::shared();
    shared.warnings.append(&mut warnings);
    if let Some(mut state) = collector_state::lock() {
        state.session.warnings.clone_from(&shared.warnings);
    }
    let Ok(mut publisher) = started else {
        shared
            .warnings
            .push("scopes are counted, but nothing is published; set TICKSCOPE_DIR".into());
        return stop_publishing(shared);
    };
    shared.path = publisher.path().map(Path::to_path_buf);
    if shared.phase == Phase::Starting {
        shared.phase = Phase::Publishing;
        PUBLISHING.store(true, Ordering::Relaxed);
    }
    CHANGED.notify_all();
    drop(shared);
    publisher.prepare();
    shared = self::shared();
    while matches!(shared.phase, Phase::Publishing | Phase::Lost) {
        if !RESET_ASKED.load(Ordering::Relaxed) {
            let rest = publisher.rest();
            shared = CHANGED
                .wait_timeout(shared, rest)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        if shared.phase == Phase::Finishing {
            break;
        }
        drop(shared);
        publisher.round(RESET_ASKED.swap(false, Ordering::Relaxed));
        shared = self::shared();
        if let Some(said) = publisher.take_said() {
            shared.update_ring(said, publisher.path());
        }
    }
    drop(shared);
    let unclean = publisher.unclean();
    publisher.finish(RESET_ASKED.swap(false, Ordering::Relaxed));
    let mut shared = self::shared();
    shared.phase = Phase::Finishing;
    stop_publishing(shared);
    if let Some(own) = unclean {
        // No caller waits for this.
        publisher::clean_beside(&own);
    }
}

/// Records that there is no publisher any more: the session has ended, or goes on without one.
fn stop_publishing(mut shared: MutexGuard<'static, Shared>) {
    if let Some(mut state) = collector_state::lock() {
        state.set_publishing(false);
    }
    PUBLISHING.store(false, Ordering::Relaxed);
    shared.phase = if shared.phase == Phase::Finishing {
        Phase::Idle
    } else {
        Phase::Counting
    };
    CHANGED.notify_all();
}

/// Fills in the cost of a scope if no publisher has measured it yet.
fn fill_in_cost(snapshot: &mut Snapshot) {
    if snapshot.capture.cost == Cost::default() {
        let bounds = overhead::bounds(mode_switch::newest());
        snapshot.capture.cost = Cost {
            lower_ns: bounds.lower,
            upper_ns: bounds.upper,
            ..Cost::default()
        };
    }
}

/// Captures the present state of all threads. In a forked child the snapshot is empty. It costs one capture, which
/// reads every node of every thread.
pub fn snapshot() -> Snapshot {
    let _own = current_thread::own_work();
    collector_state::lock().map_or_else(Snapshot::default, |state| captured(state, CaptureKind::Periodic))
}

/// Writes a report of the present state to a new file, and returns the path written. It works on any thread and at any
/// depth.
///
/// The file is written whole or not at all. The call costs one capture. The time that writing takes is charged to no
/// scope, because this thread's clock stands still meanwhile. No session and no viewer is needed, and nothing is
/// removed or reset. Do not call it from a signal handler.
///
/// Most forms need the feature `report` or `export`: see [`Format`]. Without it the snapshot itself is written, with
/// `.tks` appended to the name, and `tickscope report THAT_FILE -o NAME` makes the report.
///
/// ```no_run
/// # fn frame() -> Result<(), tickscope::DumpError> {
/// tickscope::dump("slow-frame.html", tickscope::Format::Html)?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The system's error (a file of that name exists, the directory does not, the disk is full); a forked child, which has
/// no tree of its own; `TICKSCOPE=off`.
pub fn dump(path: impl AsRef<Path>, format: Format) -> Result<PathBuf, DumpError> {
    let _own = current_thread::own_work();
    let refused = |why: &str| {
        Err(DumpError {
            message: format!("no dump: {why}"),
        })
    };
    if config::get().off {
        return refused("TICKSCOPE=off: nothing is measured; unset it");
    }
    let Some(state) = collector_state::lock() else {
        return refused("a forked child has no tree of its own; start a new program instead (fork and exec)");
    };
    let mut snapshot = captured(state, CaptureKind::Periodic);
    // The clock of a thread that does not count cannot be stopped.
    let _pause = (current_thread::phase() == current_thread::Phase::Counting).then(scope::pause);
    fill_in_cost(&mut snapshot);
    report_file::dump(&snapshot, path.as_ref(), format).or_else(|why| refused(&why))
}

/// Sets all counters of all threads to zero, and returns the snapshot that closes the epoch.
///
/// It may be called on any thread and at any depth: open scopes go on counting from here. It costs one capture. In a
/// forked child it does nothing and returns an empty snapshot.
///
/// ```
/// let _tickscope = tickscope::start("order-book");
/// // ... warm up ...
/// tickscope::reset();
/// // ... what viewers show from here on ...
/// ```
pub fn reset() -> Snapshot {
    let _own = current_thread::own_work();
    let closing = collector_state::lock().map(|mut state| state.reset_by_program());
    CHANGED.notify_all();
    closing.unwrap_or_default()
}

/// Resets like [`reset`], but asks the publisher to do it and returns at once. If nothing is published, the reset
/// happens in this call.
pub fn request_reset() {
    if PUBLISHING.load(Ordering::Relaxed) && !config::is_forked_child() {
        RESET_ASKED.store(true, Ordering::Relaxed);
        CHANGED.notify_all();
    } else {
        let _ = reset();
    }
}

impl Session {
    /// Returns the present state of the session. [`Session::other_copies`] says whether others in this process count as well.
    pub fn status(&self) -> Status {
        let Some(shared) = shared_unless_forked().filter(|_| self.counted) else {
            return if config::get().off {
                Status::Off
            } else {
                Status::Counting
            };
        };
        match shared.phase {
            Phase::Starting => Status::Starting,
            Phase::Publishing => Status::Publishing,
            Phase::Idle | Phase::Lost | Phase::Counting | Phase::Finishing => Status::Counting,
        }
    }

    /// Returns what differs from what was asked for: one sentence each, with the next step.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        if let Some(shared) = shared_unless_forked() {
            warnings.extend_from_slice(&shared.warnings);
            copies::look();
            warnings.extend(copies::warning());
        }
        warnings
    }

    /// Returns the files in this process that bring a copy of tickscope of their own which has counted: libraries that were linked with it, or
    /// the executable. Each copy has rows and a ring of its own. A warning says the same.
    pub fn other_copies(&self) -> Vec<PathBuf> {
        copies::look();
        copies::files()
    }

    /// Returns the path of the ring file, once it exists.
    pub fn path(&self) -> Option<PathBuf> {
        shared_unless_forked().filter(|_| self.counted)?.path.clone()
    }

    /// Waits until it is known whether there is a ring.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(crate) fn wait_for_outcome(self) -> Result<Self, StartError> {
        if self.counted {
            drop(wait(shared(), OUTCOME, |shared| shared.phase != Phase::Starting));
        }
        let message = match self.status() {
            Status::Publishing => return Ok(self),
            Status::Starting => {
                "the publisher has not begun within a second; is the machine overloaded?".into()
            }
            Status::Off => "TICKSCOPE=off: nothing is measured; unset it".into(),
            Status::Counting | Status::Unsupported => self.warnings().join("; "),
        };
        Err(StartError { message })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _own = current_thread::own_work();
        if !self.counted || config::is_forked_child() {
            return;
        }
        let mut shared = shared();
        shared.sessions = shared.sessions.saturating_sub(1);
        if shared.sessions == 0 {
            let left = ask_to_finish(&mut shared, Instant::now());
            drop(wait(shared, left, |shared| shared.phase != Phase::Finishing));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reset may be asked for by a thread that is in the middle of a session's start or end. If it waited for the
    /// lock, this test would never end.
    #[test]
    fn a_reset_is_asked_for_while_another_has_the_lock() {
        let held = shared();
        PUBLISHING.store(true, Ordering::Relaxed);
        std::thread::spawn(request_reset).join().unwrap();
        assert!(RESET_ASKED.swap(false, Ordering::Relaxed));
        PUBLISHING.store(false, Ordering::Relaxed);
        drop(held);
    }
}
