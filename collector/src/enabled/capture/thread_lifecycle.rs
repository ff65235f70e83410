//! The beginning and end of threads, and the decision which threads are measured.
//!
//! Thread names come from the kernel, and are read by the thread that captures. Asking std for the current thread's
//! name would allocate. If an allocator did so while std sets up the thread, the program would even abort.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::enabled::capture::capture_lock;
use crate::enabled::platform::{os, threads};
use crate::enabled::record::current_thread::{self, Phase, phase, set};
use crate::enabled::record::registry::{self, Block};
use crate::enabled::runtime::config;
use crate::types::Threads;

/// How long an ending thread waits for the capture lock before it leaves its tree to the next thread that takes the
/// lock.
const LONGEST_WAIT: Duration = Duration::from_millis(10);

/// Stack space required for a merge, in bytes: more than the 20 KiB that a merge uses in a debug build.
const MERGE_STACK: u64 = 48 << 10;

thread_local! {
    /// Whether the thread has started to register.
    static BEGUN: AtomicBool = const { AtomicBool::new(false) };
    static LEAVING: Leaving = const { Leaving };
}

/// Its destructor runs at the end of a thread if the program has used up the system's thread-local keys. This is only a
/// fallback: std allocates to set up this value, which must not happen in a signal handler that has interrupted the
/// allocator.
struct Leaving;

impl Drop for Leaving {
    fn drop(&mut self) {
        // `exit` drops the first thread's values, possibly in a signal handler that has interrupted the allocator. The
        // first thread therefore merges nothing.
        leave(threads::thread_id() != std::process::id());
    }
}

/// Runs at the end of each thread that was measured.
extern "C" fn at_end(_: *mut c_void) {
    leave(true);
}

/// Called on the thread that has called `exit`, possibly in a signal handler that has interrupted the allocator.
pub(crate) fn leave_at_exit() {
    leave(false);
}

/// Registers the calling thread if it is new, unless threads must opt in. Neither allocates nor takes a lock, because the
/// thread's first scope may be inside the program's allocator.
pub(crate) fn register() -> Phase {
    if begins() {
        os::keeping_errno(|| {
            let config = config::settle();
            if config.off || config.threads == Threads::OptIn {
                set(Phase::Excluded, None)
            } else {
                join()
            }
        });
    }
    match phase() {
        // This is a signal handler that has interrupted the registration.
        Phase::New => Phase::Busy,
        phase @ (Phase::Busy | Phase::Counting | Phase::Excluded | Phase::Gone) => phase,
    }
}

/// Marks a new thread as busy, and returns whether this call has done so. A signal handler may register the thread
/// between two steps of this call.
fn begins() -> bool {
    let begins = phase() == Phase::New && !BEGUN.with(|begun| begun.swap(true, Ordering::Relaxed));
    if begins {
        set(Phase::Busy, None);
    }
    begins
}

/// Takes a block and starts measuring the thread.
fn join() {
    let config = config::get();
    // If the thread's end would go unnoticed, the thread is not measured, because its tree would never be merged.
    if !threads::call_at_thread_end(at_end) && LEAVING.try_with(|_| ()).is_err() {
        return set(Phase::Gone, None);
    }
    let Some(block) = registry::take() else {
        return set(Phase::Excluded, None);
    };
    let now = config::now();
    if block.tree.open(
        now,
        config.max_gap_ticks,
        config.max_depth,
        config.max_nodes.saturating_add(1),
    ) {
        block.tree.begin_measures(current_thread::take_early());
        block.tree.begin_waits(config.waits, now);
        block.begin(threads::thread_id(), config::exact_path());
        set(Phase::Counting, Some(block));
    } else {
        registry::give_back(block);
        set(Phase::Excluded, None);
    }
}

/// Starts measuring the calling thread.
pub(crate) fn include() {
    let begins = begins();
    let off = config::settle().off;
    match (phase(), current_thread::block()) {
        (Phase::Excluded, _) if off => {}
        (Phase::Excluded, Some(block)) => {
            block.tree.catch_up(config::exact_path());
            block.tree.set_excluded(false, config::now());
            set(Phase::Counting, Some(block));
        }
        (phase, None) if begins || phase == Phase::Excluded => {
            set(Phase::Busy, None);
            if off { set(Phase::Excluded, None) } else { join() }
        }
        _ => {}
    }
}

/// Stops measuring the calling thread. Its open scopes end now, and its earlier counts are kept.
pub(crate) fn exclude() {
    if begins() || phase() == Phase::Counting {
        let block = current_thread::block();
        block.into_iter().for_each(|block| charge_no_more(block, false));
        set(Phase::Excluded, block);
    }
}

/// Ends everything that is open in this thread's tree, and stops charging time to the tree.
fn charge_no_more(block: &'static Block, has_ended: bool) {
    block.tree.catch_up_if_alarmed(config::exact_path());
    block.tree.end_all(has_ended, config::now);
    block.tree.set_excluded(true, config::now());
}

/// Returns whether the thread's stack has enough space to merge its tree, which reads histograms.
fn has_room() -> bool {
    let own = threads::own_stack();
    own == (0, 0) || threads::stack_left(own) >= MERGE_STACK
}

/// Merges the thread's tree, or leaves that to the next holder of the lock. A merge allocates.
fn leave(may_merge: bool) {
    let block = current_thread::block();
    // Scopes of this thread are dropped from here on, including scopes in other destructors and in the collector's own work.
    set(Phase::Gone, None);
    let Some(block) = block else { return };
    block.tree.end_waits();
    // Another thread may hold the lock for a long time. A forked child takes no captures, so it may give the block back
    // without the lock.
    let locked = (may_merge && has_room())
        .then(|| capture_lock::take_alone_within(LONGEST_WAIT))
        .flatten();
    match locked {
        Some(mut locked) => locked
            .state()
            .finish_thread(block, threads::thread_name(), os::own_cpu_ns()),
        None if config::is_forked_child() => registry::forget(block),
        None => {
            // Only this thread knows when it ended, so it ends its calls before it hands the tree over. At the end of the program,
            // the calls of futures that it is polling stay in flight.
            charge_no_more(block, may_merge);
            registry::leave(block, threads::thread_name(), os::own_cpu_ns());
        }
    }
}
