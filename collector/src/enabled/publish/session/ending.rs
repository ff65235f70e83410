//! The end of a session or of the program: the last record, and the requested report.
//!
//! The thread that drops the last session writes the last record itself, because on a busy machine the publisher's
//! thread may get no CPU for a long time. At the exit of the program, the publisher's thread may write the record,
//! until it has made no progress for [`FIRST`]. The exiting thread may itself hold any lock, further down its stack, if
//! a signal handler or an allocator calls `exit`. The owner of a lock may also wait for a lock of the exiting thread.
//! So every wait has a limit for the time without progress.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use tickscope_format::snapshot::CaptureKind;

use crate::enabled::capture::{capture_lock, thread_lifecycle};
use crate::enabled::platform::patience::Patience;
use crate::enabled::platform::{threads, unwinder};
use crate::enabled::publish::overhead;
use crate::enabled::publish::publisher::{self, Publisher};
use crate::enabled::publish::reports::report_file;
use crate::enabled::publish::session_state::{
    self, END_WITHIN_MS, Phase, REPORTS, Shared, captured, in_force, shared, try_shared, try_take_publisher,
};
use crate::enabled::runtime::settings::{AutoStart, Settings};
use crate::enabled::runtime::{config, copies};
use crate::types::Destination;

/// Time for which a report at exit waits for work that another thread has begun: a capture, or the start of a session.
const LAST_REPORT: Duration = Duration::from_secs(1);

/// Time without progress of the publisher's thread after which an exiting thread writes the last record itself.
const FIRST: Duration = Duration::from_millis(100);

/// Maximum stack use of writing the last record, in bytes.
const STACK: u64 = 256 << 10;

/// Id of the thread that has begun the session, the lowest address of its stack, and the stack's size in bytes. An
/// exiting thread must not look up its stack, because the C library allocates to find it.
static STARTER: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Whether the program has requested a reset from the publisher.
pub(super) static RESET_ASKED: AtomicBool = AtomicBool::new(false);

/// Id of the thread that works on records: the publisher's thread, or the thread that writes the last record in its
/// place.
pub(super) static WORKER: AtomicU32 = AtomicU32::new(0);

/// Waits a moment for the thread that works on records, and for the holder of the capture lock. Returns false after the limit.
fn wait(patience: &mut Patience) -> bool {
    patience.wait([WORKER.load(Ordering::Relaxed), capture_lock::holder()])
}

/// Locks the shared state; returns `None` if another thread holds it for too long.
pub(super) fn locked(patience: &mut Patience) -> Option<MutexGuard<'static, Shared>> {
    loop {
        match try_shared() {
            Some(shared) => return Some(shared),
            None if wait(patience) => {}
            None => return None,
        }
    }
}

/// Locks the shared state after the previous session has ended, or after `limit` without progress.
pub(super) fn shared_after(limit: Duration) -> MutexGuard<'static, Shared> {
    let mut patience = Patience::new(limit);
    loop {
        let shared = shared();
        if shared.phase != Phase::Finishing {
            return shared;
        }
        drop(shared);
        if let Some(publisher) = try_take_publisher() {
            // The thread that requested the last record has given up waiting for it, so this thread writes it.
            finish(publisher);
            session_state::shared().stop_publishing();
        } else if !wait(&mut patience) {
            return session_state::shared();
        }
    }
}

/// Records the calling thread as the thread that has begun the session.
pub(super) fn note_starter() {
    let (low, bytes) = threads::own_stack();
    for (word, value) in STARTER.iter().zip([threads::thread_id().into(), low, bytes]) {
        word.store(value, Ordering::Relaxed);
    }
}

/// Returns whether the calling thread has enough stack to write the last record, outside of an exit of the program.
pub(super) fn may_work() -> bool {
    threads::stack_left(threads::own_stack()) >= STACK
}

/// Returns whether the calling thread may write the last record at the exit of the program. Only the thread that has
/// begun the session may, outside of signal handlers. Its stack is known, so the unwinder can follow the addresses on
/// it to find a handler.
fn may_work_at_exit() -> bool {
    let [tid, low, bytes] = STARTER.each_ref().map(|word| word.load(Ordering::Relaxed));
    tid == u64::from(threads::thread_id())
        && threads::stack_left((low, bytes)) >= STACK
        && !unwinder::is_in_signal_handler()
}

/// Publishes the last record in the calling thread. A panic does not reach the program. Returns the ring's path if dead
/// rings next to it have not been removed.
pub(super) fn finish(publisher: Publisher) -> Option<PathBuf> {
    WORKER.store(threads::thread_id(), Ordering::Relaxed);
    let unclean = publisher.unclean();
    let work = AssertUnwindSafe(|| publisher.finish(RESET_ASKED.swap(false, Ordering::Relaxed)));
    std::panic::catch_unwind(work).ok().and(unclean)
}

/// Waits for the last record, which was requested from the publisher. If the calling thread may write the record, it
/// does so after `writes_after` without progress of the publisher's thread.
pub(super) fn last_record(writes_after: Option<Duration>) {
    let limit = Duration::from_millis(END_WITHIN_MS.load(Ordering::Relaxed));
    // A thread that holds the capture lock further down its stack waits in vain, because no thread can capture.
    if limit.is_zero() || capture_lock::holder() == threads::thread_id() {
        return;
    }
    let mut patience = Patience::new(limit);
    loop {
        if writes_after.is_some_and(|first| patience.idle() >= first)
            && let Some(publisher) = try_take_publisher()
        {
            return capture_lock::waiting_at_most(limit, || {
                let unclean = finish(publisher);
                if let Some(mut shared) = locked(&mut patience) {
                    shared.stop_publishing();
                }
                if let Some(own) = unclean.filter(|own| publisher::is_crowded(own)) {
                    publisher::clean_beside(&own);
                }
            });
        }
        let is_written = try_shared().is_some_and(|shared| shared.phase != Phase::Finishing);
        if is_written || !wait(&mut patience) {
            return;
        }
    }
}

/// The exit handler: waits for the last record, and writes the requested report.
pub(super) extern "C" fn at_exit() {
    if config::is_forked_child() {
        return;
    }
    // A program that has run no scope and started no session leaves neither a ring nor a report, even if the
    // environment requests them.
    if !config::is_settled() {
        if let Some(publisher) = try_take_publisher() {
            publisher.withdraw();
            // Dropping the publisher would use the program's allocator.
            std::mem::forget(publisher);
        }
        return;
    }
    thread_lifecycle::leave_at_exit();
    let reports = REPORTS.load(Ordering::Relaxed);
    let Some(mut shared) = locked(&mut Patience::new(LAST_REPORT)) else {
        if reports {
            report_file::missed();
        }
        return;
    };
    let mut report = shared.report_at_exit.take();
    let mut warnings = Vec::new();
    if report.is_none() && config::get().auto_start == Some(AutoStart::Report) {
        let settings = in_force(Settings::default(), &mut warnings);
        report = Some(settings.report_at_exit.unwrap_or(Destination::Stderr));
    }
    // Nothing is allocated without a requested report, because the program may exit inside its allocator.
    let ring = report.as_ref().and(shared.path.as_ref()).cloned();
    let is_asked = shared.ask_to_finish();
    drop(shared);
    if is_asked {
        last_record(may_work_at_exit().then_some(FIRST));
    }
    let Some(destination) = report else { return };
    copies::look();
    // The wait for the lock has a limit, because the exiting thread may itself be in the middle of a capture.
    let Some(mut snapshot) =
        capture_lock::take_within(LAST_REPORT).map(|state| captured(state, CaptureKind::Final))
    else {
        return report_file::missed();
    };
    snapshot.process.warnings.append(&mut warnings);
    overhead::fill_in(&mut snapshot);
    report_file::at_exit(&snapshot, &destination, ring.as_deref().and_then(Path::parent));
}
