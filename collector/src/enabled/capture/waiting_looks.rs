//! Finds the system calls in which threads are waiting, for threads that have had no event for a while.
//!
//! Checking a thread means reading a file in `/proc`, which takes a few microseconds. Each round of checks therefore has
//! limits on the threads checked, the files read and the time taken, and threads take turns.

use crate::enabled::capture::tree_reader::is_quiet;
use crate::enabled::platform::sync::{Ordering, fence};
use crate::enabled::platform::waiting_call::{self, Call, Doing};
use crate::enabled::platform::{descriptors, os};
use crate::enabled::record::node::Node;
use crate::enabled::record::registry::Block;
use crate::enabled::record::tree::{PAUSED, Tree};
use crate::enabled::record::waits::least_ticks;
use crate::enabled::record::waits::ticks_per_ns;
use crate::enabled::runtime::config;

/// Minimum time between two rounds of checks, in nanoseconds.
const BETWEEN_NS: u64 = 50_000_000;

/// Minimum time between two rounds, as a multiple of the CPU time that the last round took. This limits the checks to
/// 0.1 % of a core.
const COST_SHARE: u64 = 1000;

/// Maximum number of threads checked in one round.
pub(crate) const THREADS_MOST: usize = 256;

/// Maximum number of files read in one round.
const FILES_MOST: u32 = 16;
/// Time limit for reading files in one round, in nanoseconds.
const FILES_LONGEST_NS: u64 = 200_000;

/// State kept between rounds of checks. The publisher owns it, because only the publisher checks threads.
#[derive(Debug, Default)]
pub(crate) struct Looks {
    next_ns: u64,
    /// The thread that was checked last.
    pub(crate) at: Option<&'static Block>,
}

/// Remaining budget of one round.
#[derive(Debug)]
pub(crate) struct Budget {
    files: u32,
    until_ns: u64,
}

/// State of a thread at its most recent check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looked {
    /// Tick of the thread's last event before the check.
    last: u64,
    /// The thread's CPU time at the check.
    cpu_ns: u64,
    doing: Doing,
}

/// Result of checking a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// State of the thread, unless it is unknown or the thread had an event during the check.
    pub(crate) looked: Option<Looked>,
    /// The node in which the thread is waiting, and the system call, if the wait is charged to that node.
    pub(crate) waiting: Option<(&'static Node, Call)>,
}

impl Looks {
    /// Returns whether a round of checks is due. Always returns false if waits are not measured, or while a standard
    /// descriptor is closed.
    pub(crate) fn is_due(&self) -> bool {
        config::get().waits && os::monotonic_ns() >= self.next_ns && descriptors::has_standard()
    }

    /// Records that a round took `cpu_ns` of CPU time, which determines when the next round is due.
    pub(crate) fn spent(&mut self, cpu_ns: u64) {
        let rest = BETWEEN_NS.max(cpu_ns.saturating_mul(COST_SHARE));
        self.next_ns = os::monotonic_ns().saturating_add(rest);
    }
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self {
            files: FILES_MOST,
            until_ns: os::monotonic_ns().saturating_add(FILES_LONGEST_NS),
        }
    }

    /// Takes one file from the budget. Returns false if the budget is used up.
    fn take(&mut self) -> bool {
        let is_left = self.files > 0 && os::monotonic_ns() < self.until_ns;
        self.files = self.files.saturating_sub(1);
        is_left
    }
}

/// Returns whether the thread's last event is too recent for a check.
fn is_busy(tree: &Tree, now: u64) -> bool {
    let last = tree.last.load(Ordering::Acquire);
    let least = ticks_per_ns(os::monotonic_ns()).map_or(u64::MAX, least_ticks);
    last != PAUSED && now.saturating_sub(last) < least
}

/// Checks a thread. `looked` is the result of its previous check. Returns `None` if the budget is used up.
pub(crate) fn look(
    block: &'static Block,
    looked: Option<Looked>,
    now: u64,
    budget: &mut Budget,
) -> Option<Found> {
    let nothing = Some(Found::default());
    let tree = &block.tree;
    let tid = block.tid.load(Ordering::Relaxed);
    let Some(current) = tree.current.get_acquire() else {
        return nothing;
    };
    let last = tree.last.load(Ordering::Acquire);
    if is_busy(tree, now) {
        return nothing;
    }
    let Some(cpu_ns) = os::cpu_ns_of(tid) else {
        return nothing;
    };
    // A thread cannot leave a system call without using CPU time, so if its CPU time has not changed, it is still in
    // the same call.
    let same = looked
        .filter(|looked| looked.last == last && looked.cpu_ns == cpu_ns)
        .filter(|looked| matches!(looked.doing, Doing::Waiting(_)));
    let doing = match same {
        Some(looked) => looked.doing,
        None if !budget.take() => return None,
        None => match waiting_call::look(tid) {
            Some(doing) => doing,
            None => return nothing,
        },
    };
    // SYNC POINT: the thread is checked before `is_quiet` loads `current` and `last`, as in `Reader::read_counts`.
    fence(Ordering::Acquire);
    if !is_quiet(tree, current, last) {
        return nothing;
    }
    let is_charged = !tree.stands_still() && current.site.get().is_some();
    let waiting = match doing {
        Doing::Waiting(call) => is_charged.then_some((current, call)),
        Doing::Running | Doing::Ready => None,
    };
    Some(Found {
        looked: Some(Looked { last, cpu_ns, doing }),
        waiting,
    })
}

/// Returns what a thread is doing. This is the result of its most recent check if the thread has had no event since, or
/// `Running` if its last event is recent. Otherwise returns `None`.
pub(crate) fn doing(block: &Block, looked: Option<Looked>, now: u64) -> Option<Doing> {
    let last = block.tree.last.load(Ordering::Acquire);
    match looked {
        Some(looked) if looked.last == last => Some(looked.doing),
        _ => is_busy(&block.tree, now).then_some(Doing::Running),
    }
}
