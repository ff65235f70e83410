//! Finds the system calls in which threads wait, for threads that have had no event for a while.
//!
//! A check of a thread reads a file of the kernel, which takes a few microseconds. Each round of checks therefore has a
//! budget of files, of threads and of time, and threads take turns.

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

/// The shortest time between two rounds of checks, in nanoseconds.
const BETWEEN_NS: u64 = 50_000_000;

/// The time between two rounds is at least this many times the CPU time of the last round: 0.1 % of a core.
const COST_SHARE: u64 = 1000;

/// Maximum number of threads in one round.
pub(crate) const THREADS_MOST: usize = 256;

/// Maximum number of files read in one round, and the time limit for reading them in ns.
const FILES_MOST: u32 = 16;
const FILES_LONGEST_NS: u64 = 200_000;

/// State between two rounds of checks. The publisher owns it, because only the publisher checks threads.
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

/// State of a thread at its newest check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looked {
    /// Tick of the event before the check.
    last: u64,
    /// The thread's CPU time at the check.
    cpu_ns: u64,
    doing: Doing,
}

/// Result of checking a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// State of the thread, if it has had no event meanwhile.
    pub(crate) looked: Option<Looked>,
    /// The node in which the thread waits, if the wait is charged to it, and the system call.
    pub(crate) waiting: Option<(&'static Node, Call)>,
}

impl Looks {
    /// Returns whether a round is due, and possible.
    pub(crate) fn is_due(&self) -> bool {
        config::get().waits && os::monotonic_ns() >= self.next_ns && descriptors::has_standard()
    }

    /// Notes that a round has taken `cpu_ns` of CPU time.
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

    /// Takes one file from the budget; returns false if the budget is used up.
    fn take(&mut self) -> bool {
        let is_left = self.files > 0 && os::monotonic_ns() < self.until_ns;
        self.files = self.files.saturating_sub(1);
        is_left
    }
}

/// Returns whether the time since the thread's last event is shorter than the shortest gap that is examined.
fn is_busy(tree: &Tree, now: u64) -> bool {
    let last = tree.last.load(Ordering::Acquire);
    let least = ticks_per_ns(os::monotonic_ns()).map_or(u64::MAX, least_ticks);
    last != PAUSED && now.saturating_sub(last) < least
}

/// Checks a thread; `looked` is the result of its previous check. Returns `None` if the budget is used up.
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
    // A thread cannot leave its system call without using CPU time, so it is still in the same call if its CPU time is
    // the same.
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
    // SYNC POINT: the check before the mark and the last event, as in `Reader::read_counts`.
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

/// Returns a thread's state: the state at the newest check if the thread has had no event since, or running if its last
/// event is recent. Returns `None` otherwise.
pub(crate) fn doing(block: &Block, looked: Option<Looked>, now: u64) -> Option<Doing> {
    let last = block.tree.last.load(Ordering::Acquire);
    match looked {
        Some(looked) if looked.last == last => Some(looked.doing),
        _ => is_busy(&block.tree, now).then_some(Doing::Running),
    }
}
