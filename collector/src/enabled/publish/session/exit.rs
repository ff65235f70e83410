//! The end of the program: the last record, and the report that was asked for.
//!
//! The exiting thread may hold any lock itself, further down its stack, if a signal handler calls `exit`. It may also
//! hold what the owner of a lock waits for. So every wait for a lock has a limit.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use tickscope_format::Snapshot;
use tickscope_format::snapshot::CaptureKind;

use super::live::Live;
use crate::enabled::capture::{collector_state, thread_lifecycle};
use crate::enabled::publish::reports::report_file;
use crate::enabled::publish::session_state::{
    LAST_RECORD, Phase, REPORTS, SHARED, Shared, ask_to_finish, captured, in_force,
};
use crate::enabled::runtime::config;
use crate::enabled::runtime::settings::{AutoStart, Settings};
use crate::types::Destination;

/// How long a report at exit waits for work that another thread has begun: a capture, or the start of a session.
const LAST_REPORT: Duration = Duration::from_secs(1);

/// The time between two looks whether the last record is written.
const LOOK_AGAIN: Duration = Duration::from_micros(100);

/// Takes the lock once `done` holds, or after `longest`; `None` if another thread holds it for longer.
fn shared_within(longest: Duration, done: impl Fn(&Shared) -> bool) -> Option<MutexGuard<'static, Shared>> {
    let begin = Instant::now();
    loop {
        let shared = match SHARED.try_lock() {
            Ok(shared) => Some(shared),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        let over = begin.elapsed() >= longest;
        match shared {
            Some(shared) if over || done(&shared) => return Some(shared),
            None if over => return None,
            Some(_) | None => {}
        }
        drop(shared);
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// Has the last record written, and writes the report that was asked for. `fill_in_cost` adds the cost of a scope to
/// its snapshot.
pub(super) fn at_exit(fill_in_cost: fn(&mut Snapshot)) {
    if config::is_forked_child() {
        return;
    }
    thread_lifecycle::leave_at_exit();
    let begin = Instant::now();
    let reports = REPORTS.load(Ordering::Relaxed);
    let longest = if reports { LAST_REPORT } else { LAST_RECORD };
    let shared = shared_within(longest, |_| true).and_then(|shared| {
        if shared.phase != Phase::Idle || Live::None.is() {
            return Some(shared);
        }
        // The publisher's thread exists but has not begun its work, so wait for it.
        drop(shared);
        let left = LAST_RECORD.saturating_sub(begin.elapsed());
        shared_within(left, |shared| shared.phase != Phase::Idle)
    });
    let Some(mut shared) = shared else {
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
    // Nothing is allocated unless a report was asked for, because the program may exit inside its allocator.
    let ring = report.as_ref().and(shared.path.as_ref()).cloned();
    let left = ask_to_finish(&mut shared, begin);
    drop(shared);
    drop(shared_within(left, |shared| shared.phase != Phase::Finishing));
    let Some(destination) = report else { return };
    // The exiting thread may be in the middle of a capture as well.
    let Some(mut snapshot) =
        collector_state::lock_within(LAST_REPORT).map(|state| captured(state, CaptureKind::Final))
    else {
        return report_file::missed();
    };
    snapshot.process.warnings.append(&mut warnings);
    fill_in_cost(&mut snapshot);
    report_file::at_exit(&snapshot, &destination, ring.as_deref().and_then(Path::parent));
}
