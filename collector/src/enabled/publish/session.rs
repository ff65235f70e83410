//! Sessions: how publishing starts and ends, including sessions that the `TICKSCOPE` environment variable requests.

mod early_fork;
mod ending;
mod publisher_thread;
mod signals;

use std::path::{Path, PathBuf};
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tickscope_format::Snapshot;
use tickscope_format::snapshot::{CaptureKind, LINES_HZ};

use crate::enabled::capture::collector_state::CollectorState;
use crate::enabled::capture::{capture_lock, functions, thread_lifecycle};
use crate::enabled::pause::pause;
use crate::enabled::platform::{descriptors, os, signals::without_signals, threads};
use crate::enabled::publish::overhead;
use crate::enabled::publish::publisher::Publisher;
use crate::enabled::publish::reports::{Log, report_file};
use crate::enabled::publish::session_state::{
    self, CHANGED, END_WITHIN_MS, PUBLISHING, Phase, REPORTS, Shared, captured, in_force, shared,
};
use crate::enabled::record::current_thread;
use crate::enabled::record::mode_switch;
use crate::enabled::runtime::process_name;
use crate::enabled::runtime::settings::{AutoStart, Settings};
use crate::enabled::runtime::{config, copies};
use crate::types::{DumpError, Format, StartError, Status};

use self::ending::RESET_ASKED;

/// Maximum stack space that starting a session uses, in bytes.
const STACK: u64 = 128 << 10;

/// A new session stops waiting for the previous one to end after this long without progress.
const BEFORE: Duration = Duration::from_secs(1);

/// A session of this program. Viewers can attach for as long as the session exists.
///
/// Dropping the last session publishes a last record. The drop blocks while that record is captured, encoded and
/// written. If there is no progress for [`Builder::end_within`](crate::Builder::end_within), it gives up on the record.
#[derive(Debug)]
#[must_use = "publishing ends when the session is dropped"]
pub struct Session {
    /// Whether `Shared::sessions` counts this session.
    counted: bool,
    /// Warnings about the call that started this session. Warnings about the shared session are in `Shared::warnings`.
    warnings: Vec<String>,
}

static AT_EXIT: AtomicBool = AtomicBool::new(false);

/// Locks the shared state for a call from the user's code. Returns `None` in a forked child: the thread that held the
/// lock at the time of the fork does not exist there and would never release it.
fn shared_unless_forked() -> Option<MutexGuard<'static, Shared>> {
    (!config::is_forked_child()).then(shared)
}

/// Registers the exit handler, which writes the last record when the program exits normally. Neither allocates nor
/// takes a lock.
fn expect_exit() {
    if !AT_EXIT.swap(true, Ordering::Relaxed) {
        os::at_exit(ending::at_exit);
    }
}

fn expect_report(shared: &mut Shared, settings: &Settings) {
    if settings.report_at_exit.is_some() {
        shared.report_at_exit.clone_from(&settings.report_at_exit);
        REPORTS.store(true, Ordering::Relaxed);
    }
}

os::before_main!(
    /// Function that the loader calls before `main`. Users of the static library must refer to this symbol, because
    /// linkers drop the parts of a static library that nothing refers to.
    pub BEFORE_MAIN,
    begin_before_main
);

/// Starts the session or report that `TICKSCOPE` requests, before `main`.
extern "C" fn begin_before_main() {
    descriptors::note_standard();
    Settings::warn_of_bad_auto_start();
    if !matches!(Settings::auto_start(), None | Some(AutoStart::Off)) {
        config::decide_for_now(at_first_scope);
        early_fork::expect();
        begin_by_environment();
    }
}

/// Wakes the publisher's thread, so that it gives the ring its name and viewers can find it. In a child that was forked
/// before its first scope, starts a session of the child's own instead. A new thread does this, because the scope may
/// be inside the program's allocator, where nothing may be allocated. If that thread cannot be started, scopes are
/// still counted.
fn at_first_scope() {
    if config::begins_anew() && !config::is_forked_child() {
        let _ = threads::spawn(|| {
            thread_lifecycle::exclude();
            begin_by_environment();
        });
    } else {
        CHANGED.notify_all();
    }
}

/// Starts the session or report that `TICKSCOPE` requests.
fn begin_by_environment() {
    let _own = current_thread::own_work();
    let auto_start = Settings::auto_start();
    expect_exit();
    let mut warnings = Vec::new();
    let settings = in_force(Settings::default(), &mut warnings);
    if auto_start == Some(AutoStart::Report) {
        REPORTS.store(true, Ordering::Relaxed);
        // If only a report was requested, the publisher's thread is needed just for taking samples, keeping functions
        // within their budget, or finding slow calls.
        let wants_publisher = mode_switch::newest().mode.has_estimated_times()
            || functions::have_a_budget()
            || settings.lines == Some(true)
            || !settings.watch.is_empty();
        if !wants_publisher {
            return;
        }
    }
    let mut shared = shared();
    if shared.phase != Phase::Idle {
        return;
    }
    expect_report(&mut shared, &settings);
    shared.is_of_environment = true;
    shared.sessions += 1;
    begin(&mut shared, process_name::of_executable(), settings, warnings);
}

/// Discards a session that `TICKSCOPE` started but that has not counted anything yet. The program is starting its own
/// session instead, with its own name and settings.
fn withdraw(shared: &mut Shared) {
    if let Some(publisher) = session_state::publisher().take() {
        publisher.withdraw();
    }
    capture_lock::with(CollectorState::forget_beginning);
    shared.stop_publishing();
    shared.phase = Phase::Idle;
}

/// Starts or joins the session of this process. If the calling thread's stack is too small, as a coroutine's may be,
/// another thread does the work.
pub(crate) fn start(program: &str, settings: Settings) -> Session {
    let _own = current_thread::own_work();
    if threads::stack_left(threads::own_stack()) >= STACK {
        return without_signals(|| start_here(program, settings));
    }
    std::thread::scope(|scope| {
        let start = || {
            thread_lifecycle::exclude();
            without_signals(|| start_here(program, settings))
        };
        let started = std::thread::Builder::new().spawn_scoped(scope, start);
        let failed = |why: String| Session {
            counted: false,
            warnings: vec![format!("nothing is published: {why}")],
        };
        match started.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(session)) => session,
            Ok(Err(_)) => failed("the start panicked".into()),
            Err(error) => failed(format!("no thread for the start: {error}")),
        }
    })
}

fn start_here(program: &str, settings: Settings) -> Session {
    let _own = current_thread::own_work();
    let mut warnings = Vec::new();
    let name = process_name::mend(program, &mut warnings);
    let settings = in_force(settings, &mut warnings);
    let uncounted = |warnings| Session {
        counted: false,
        warnings,
    };
    if config::is_forked_child() {
        warnings.push("a forked child publishes nothing; start a new program instead (fork and exec)".into());
        return uncounted(warnings);
    }
    let mut shared = ending::shared_after(BEFORE);
    if std::mem::take(&mut shared.is_of_environment) && !config::is_settled() {
        withdraw(&mut shared);
    }
    let config = config::decide_with(&settings, &mut warnings);
    if config.off {
        return uncounted(warnings);
    }
    // The handler is registered here even if scopes have already run, because scopes do not register it.
    expect_exit();
    expect_report(&mut shared, &settings);
    shared.sessions += 1;
    match shared.phase {
        Phase::Idle => {
            begin(&mut shared, name, settings, std::mem::take(&mut warnings));
        }
        Phase::Finishing => warnings.push("the last session is still ending; try again later".into()),
        Phase::Publishing | Phase::Lost | Phase::Counting => {
            if let Some(publisher) = session_state::publisher().as_mut() {
                publisher.link();
            }
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

/// Begins a session. On return, the session's settings are in effect, and its ring, if one could be created, holds the
/// first record.
fn begin(shared: &mut Shared, name: String, settings: Settings, warnings: Vec<String>) {
    shared.name.clone_from(&name);
    shared.warnings = warnings;
    shared.path = None;
    ending::note_starter();
    END_WITHIN_MS.store(settings.end_within.as_millis() as u64, Ordering::Relaxed);
    put_in_force(shared, &settings);
    if settings.end_on_signals {
        shared.warnings.extend(signals::end_on_signals());
    }
    let logs = settings.log_every.is_some();
    match Publisher::start(name, settings, &mut shared.warnings) {
        Ok(publisher) => {
            shared.path = publisher.path().map(Path::to_path_buf);
            *session_state::publisher() = Some(publisher);
            shared.phase = Phase::Publishing;
            PUBLISHING.store(true, Ordering::Relaxed);
            if let Err(error) = publisher_thread::start(shared) {
                shared.warnings.push(format!(
                    "no thread for the publisher: {error}; the ring has only the first record and the last"
                ));
            }
        }
        Err(_) => {
            shared
                .warnings
                .push("scopes are counted, but nothing is published; set TICKSCOPE_DIR".into());
            shared.stop_publishing();
            if logs {
                Log::missed();
            }
        }
    }
    capture_lock::with(|state| state.session.warnings.clone_from(&shared.warnings));
}

/// Applies the settings of a session to the collector.
fn put_in_force(shared: &mut Shared, settings: &Settings) {
    capture_lock::with(|state| {
        let now = mode_switch::newest();
        state.switch_by_program(
            settings.mode.unwrap_or(now.mode),
            settings.histogram.unwrap_or(now.histograms),
        );
        if settings.lines == Some(true) {
            state.lines.ask_for(LINES_HZ);
        }
        state.session.name.clone_from(&shared.name);
        state.epochs.set_publishing(true);
    });
    for (function, over) in &settings.watch {
        if let Err(error) = capture_lock::watch(function, *over) {
            shared
                .warnings
                .push(format!("{function} is not watched: {error}"));
        }
    }
    capture_lock::with(|state| state.session.warnings.clone_from(&shared.warnings));
}

/// Captures the current state of all threads. In a forked child the snapshot is empty. The call costs one capture,
/// which reads every node of every thread.
pub fn snapshot() -> Snapshot {
    let _own = current_thread::own_work();
    copies::look();
    capture_lock::take().map_or_else(Snapshot::default, |state| captured(state, CaptureKind::Periodic))
}

/// Writes a report on the current state to a new file, and returns the path of that file. May be called on any thread
/// and at any scope depth.
///
/// Either the whole file is written or none at all. The call costs one capture. The time spent on writing is not
/// charged to any scope, because this thread's clock is stopped while it writes. Neither a session nor a viewer is
/// needed, and nothing is removed or reset. Do not call this function from a signal handler.
///
/// Most formats need the feature `report` or `export`: see [`Format`]. Without that feature, the raw snapshot is
/// written instead, with `.tks` appended to the file name. To turn it into the report, run
/// `tickscope report THAT_FILE -o NAME`.
///
/// ```no_run
/// # fn frame() -> Result<(), tickscope::DumpError> {
/// tickscope::dump("slow-frame.html", tickscope::Format::Html)?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns an error if the operating system reports one (for example because the file exists already, its directory
/// does not exist, or the disk is full), in a forked child, which has no call trees, and if `TICKSCOPE=off` is set.
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
    copies::look();
    let Some(state) = capture_lock::take() else {
        return refused("a forked child has no call tree; start a new program instead (fork and exec)");
    };
    let mut snapshot = captured(state, CaptureKind::Periodic);
    // Only a thread that is counting has a clock to stop.
    let _pause = (current_thread::phase() == current_thread::Phase::Counting).then(pause);
    overhead::fill_in(&mut snapshot);
    report_file::dump(&snapshot, path.as_ref(), format).or_else(|why| refused(&why))
}

/// Sets all counters of all threads to zero, and returns the snapshot that closes the epoch.
///
/// May be called on any thread and at any depth: open scopes continue in the new epoch. The call costs one capture. In
/// a forked child it does nothing and returns an empty snapshot.
///
/// ```
/// let _tickscope = tickscope::start("order-book");
/// // ... warm up ...
/// tickscope::reset();
/// // ... viewers show only counts from after the reset ...
/// ```
pub fn reset() -> Snapshot {
    let _own = current_thread::own_work();
    let closing = capture_lock::with(CollectorState::reset_by_program);
    CHANGED.notify_all();
    closing.unwrap_or_default()
}

/// Asks the publisher to reset all counters as [`reset`] does, and returns at once. If nothing is being published, the
/// reset happens within this call.
pub fn request_reset() {
    if PUBLISHING.load(Ordering::Relaxed) && !config::is_forked_child() {
        RESET_ASKED.store(true, Ordering::Relaxed);
        CHANGED.notify_all();
    } else {
        let _ = reset();
    }
}

impl Session {
    /// Returns the current state of the session. [`Session::other_copies`] says whether other copies of tickscope in
    /// this process are counting too.
    pub fn status(&self) -> Status {
        let Some(shared) = shared_unless_forked().filter(|_| self.counted) else {
            return if config::get().off {
                Status::Off
            } else {
                Status::Counting
            };
        };
        match shared.phase {
            Phase::Publishing if shared.has_thread => Status::Publishing,
            Phase::Publishing | Phase::Idle | Phase::Lost | Phase::Counting | Phase::Finishing => {
                Status::Counting
            }
        }
    }

    /// Returns a sentence for each setting that could not be applied, including what to do about it.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.warnings.clone();
        copies::look();
        if let Some(shared) = shared_unless_forked() {
            warnings.extend_from_slice(&shared.warnings);
            warnings.extend(copies::warning());
        }
        warnings
    }

    /// Returns the files in this process that contain other copies of tickscope which have counted anything. These may
    /// be libraries that are linked with their own copy, or the executable. Each copy has its own rows and its own
    /// ring. [`Self::warnings`] names these files as well.
    pub fn other_copies(&self) -> Vec<PathBuf> {
        copies::look();
        copies::files()
    }

    /// Returns the path of the ring file, once it exists.
    pub fn path(&self) -> Option<PathBuf> {
        shared_unless_forked().filter(|_| self.counted)?.path.clone()
    }

    /// Returns the session if it publishes.
    ///
    /// # Errors
    /// The reason why the session does not publish.
    pub(crate) fn if_publishing(self) -> Result<Self, StartError> {
        let message = match self.status() {
            Status::Publishing => return Ok(self),
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
        let is_asked = shared.sessions == 0 && shared.ask_to_finish();
        drop(shared);
        if is_asked {
            // Only a thread that is counting has a clock to stop.
            let _pause = (current_thread::phase() == current_thread::Phase::Counting).then(pause);
            ending::last_record(ending::may_work().then_some(Duration::ZERO));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tickscope_format::file::open::{Liveness, RingFile};

    use super::*;

    /// A process has only one session, so the tests that start one take turns.
    static TURN: Mutex<()> = Mutex::new(());

    /// A thread may request a reset while another one is starting or ending a session and holds the lock. If the
    /// request waited for that lock, this test would never finish.
    #[test]
    fn a_reset_is_asked_for_while_another_has_the_lock() {
        let _turn = TURN.lock();
        let held = shared();
        PUBLISHING.store(true, Ordering::Relaxed);
        std::thread::spawn(request_reset).join().unwrap();
        assert!(RESET_ASKED.swap(false, Ordering::Relaxed));
        PUBLISHING.store(false, Ordering::Relaxed);
        drop(held);
    }

    #[test]
    fn beginning_and_end_need_no_publishers_thread() {
        let _turn = TURN.lock();
        let dir = tempfile::tempdir().unwrap();
        let settings = Settings {
            dir: Some(dir.path().to_path_buf()),
            ..Settings::default()
        };
        // This pretends that there is a publisher's thread which never gets a CPU.
        shared().has_thread = true;
        let session = start("starved", settings);
        assert_eq!(session.status(), Status::Publishing);
        let ring = RingFile::open(&session.path().unwrap()).unwrap();
        assert_eq!(ring.liveness().unwrap(), Liveness::Running);
        let sequence = || ring.newest().unwrap().sequence;
        assert_eq!(sequence(), 1);
        drop(session);
        assert!(matches!(ring.liveness().unwrap(), Liveness::Exited { .. }));
        assert_eq!(sequence(), 2);
        shared().has_thread = false;
    }
}
