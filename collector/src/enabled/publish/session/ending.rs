//! The end of a session or of the program: the last record, and the report if one was requested.
//!
//! The thread that drops the last session writes the last record itself, because on a busy machine the publisher's
//! thread may not get a CPU for a long time. When the program exits, the record is left to the publisher's thread at
//! first. The exiting thread takes over once that thread has made no progress for [`FIRST`].
//!
//! If a signal handler or an allocator calls `exit`, the exiting thread may already hold any of the locks, taken in an
//! outer stack frame. The thread that holds a lock may also be waiting for one that the exiting thread holds. So every
//! wait gives up after a limited time without progress.

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

/// How long a report at exit waits for work that another thread has begun (a capture, or the start of a session) before
/// the report is given up.
const LAST_REPORT: Duration = Duration::from_secs(1);

/// An exiting thread writes the last record itself once the publisher's thread has made no progress for this long.
const FIRST: Duration = Duration::from_millis(100);

/// Maximum stack space that writing the last record uses, in bytes.
const STACK: u64 = 256 << 10;

/// The thread that started the session: its id, the lowest address of its stack, and the size of its stack in bytes.
/// They are recorded in advance, because the C library allocates when it looks up a thread's stack, and an exiting
/// thread must not allocate.
static STARTER: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Whether the program has requested a reset that the publisher has not carried out yet.
pub(super) static RESET_ASKED: AtomicBool = AtomicBool::new(false);

/// Id of the thread that writes the session's records: the publisher's thread, or the thread that writes the last
/// record instead of it.
pub(super) static WORKER: AtomicU32 = AtomicU32::new(0);

/// Waits briefly for the thread that writes records and for the holder of the capture lock. Returns false once
/// `patience` has run out.
fn wait(patience: &mut Patience) -> bool {
    patience.wait([WORKER.load(Ordering::Relaxed), capture_lock::holder()])
}

/// Locks the shared state. Returns `None` if `patience` runs out before the lock is free.
pub(super) fn locked(patience: &mut Patience) -> Option<MutexGuard<'static, Shared>> {
    loop {
        match try_shared() {
            Some(shared) => return Some(shared),
            None if wait(patience) => {}
            None => return None,
        }
    }
}

/// Waits for the previous session to end, and locks the shared state. After `limit` without progress, locks it without
/// waiting for that end any longer.
pub(super) fn shared_after(limit: Duration) -> MutexGuard<'static, Shared> {
    let mut patience = Patience::new(limit);
    loop {
        let shared = shared();
        if shared.phase != Phase::Finishing {
            return shared;
        }
        drop(shared);
        if let Some(publisher) = try_take_publisher() {
            // The thread that requested the last record no longer waits for it, so this thread writes the record.
            finish(publisher);
            session_state::shared().stop_publishing();
        } else if !wait(&mut patience) {
            return session_state::shared();
        }
    }
}

/// Records that the calling thread started the session.
pub(super) fn note_starter() {
    let (low, bytes) = threads::own_stack();
    for (word, value) in STARTER.iter().zip([threads::thread_id().into(), low, bytes]) {
        word.store(value, Ordering::Relaxed);
    }
}

/// Returns whether the calling thread has enough stack left to write the last record. While the program exits,
/// [`may_work_at_exit`] decides instead.
pub(super) fn may_work() -> bool {
    threads::stack_left(threads::own_stack()) >= STACK
}

/// Returns whether the calling thread may write the last record while the program exits. Only the thread that started
/// the session may, and only outside of signal handlers. To detect a signal handler, the unwinder follows the return
/// addresses on the stack, which is safe because this thread's stack is known.
fn may_work_at_exit() -> bool {
    let [tid, low, bytes] = STARTER.each_ref().map(|word| word.load(Ordering::Relaxed));
    tid == u64::from(threads::thread_id())
        && threads::stack_left((low, bytes)) >= STACK
        && !unwinder::is_in_signal_handler()
}

/// Publishes the last record from the calling thread. Catches a panic, so that it does not reach the program. Returns
/// the ring's path if its directory still has to be cleared of dead rings.
pub(super) fn finish(publisher: Publisher) -> Option<PathBuf> {
    WORKER.store(threads::thread_id(), Ordering::Relaxed);
    let unclean = publisher.unclean();
    let work = AssertUnwindSafe(|| publisher.finish(RESET_ASKED.swap(false, Ordering::Relaxed)));
    std::panic::catch_unwind(work).ok().and(unclean)
}

/// Waits for the last record, after it was requested from the publisher. If `writes_after` is given, the calling thread
/// writes the record itself once the publisher's thread has made no progress for that long.
pub(super) fn last_record(writes_after: Option<Duration>) {
    let limit = Duration::from_millis(END_WITHIN_MS.load(Ordering::Relaxed));
    // If this thread already holds the capture lock, in an outer stack frame, no thread can capture and waiting is
    // futile.
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

/// The exit handler. Waits for the last record, and writes the report if one was requested.
pub(super) extern "C" fn at_exit() {
    if config::is_forked_child() {
        return;
    }
    // A program that has neither run a scope nor started a session leaves no ring and no report behind, even if
    // `TICKSCOPE` requests them.
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
    // Allocate only if there is a report to write, because the program may be exiting from inside its allocator.
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
