//! How threads come and go, and which of them count.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::enabled::capture::collector_state;
use crate::enabled::platform::os;
use crate::enabled::record::current_thread::{self, Phase, phase, set};
use crate::enabled::record::registry::{self, Block};
use crate::enabled::runtime::config;
use crate::types::Threads;

/// How long a thread that ends waits for a capture to be over, before it leaves its tree to whoever captures next.
const LONGEST_WAIT: Duration = Duration::from_millis(10);

thread_local! {
    /// It is new no longer.
    static BEGUN: AtomicBool = const { AtomicBool::new(false) };
    static LEAVING: Leaving = const { Leaving };
}

/// Hears of the thread's end where the program has used up the system's keys for it. To begin with it std allocates, which
/// a handler that has interrupted the allocator must not.
struct Leaving;

impl Drop for Leaving {
    fn drop(&mut self) {
        // The first thread's are dropped by `exit`.
        leave(os::thread_id() != std::process::id());
    }
}

/// Called at the end of each thread that has counted.
extern "C" fn at_end(_: *mut c_void) {
    leave(true);
}

/// The calling thread has called `exit`, maybe in a handler that has interrupted the allocator.
pub(crate) fn leave_at_exit() {
    leave(false);
}

/// Registers the calling thread if it is new and all threads count. `first` runs once before, with the thread
/// marked as busy; what it opens is dropped and counted.
pub(crate) fn register(first: impl FnOnce()) -> Phase {
    if begins() {
        os::keeping_errno(|| {
            first();
            let config = config::get();
            if config.off || config.threads == Threads::OptIn {
                set(Phase::Excluded, None)
            } else {
                join()
            }
        });
    }
    match phase() {
        // In a signal handler that has interrupted the beginning.
        Phase::New => Phase::Busy,
        phase @ (Phase::Busy | Phase::Counting | Phase::Excluded | Phase::Gone) => phase,
    }
}

/// Makes a new thread a busy one, for whoever comes first: between a look at the phase and the next step a signal handler
/// may register the thread.
fn begins() -> bool {
    let begins = phase() == Phase::New && !BEGUN.with(|begun| begun.swap(true, Ordering::Relaxed));
    if begins {
        set(Phase::Busy, None);
    }
    begins
}

/// Takes a block and begins to count.
fn join() {
    let config = config::get();
    // Where nobody hears of this thread's end, there would be nobody to fold the tree.
    if !os::tell_of_end(at_end) && LEAVING.try_with(|_| ()).is_err() {
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
        block.begin(os::thread_id(), config::exact_path());
        set(Phase::Counting, Some(block));
    } else {
        registry::give_back(block);
        set(Phase::Excluded, None);
    }
}

/// Counts one more node of this process; false, and not counted, where it has as many as it may have.
pub(crate) fn may_add_node() -> bool {
    registry::may_add_node(config::get().max_process_nodes)
}

/// Lets the calling thread count from now on. `first` runs before where the thread is new, as in [`register`].
pub(crate) fn include(first: impl FnOnce()) {
    let begins = begins();
    match (phase(), current_thread::block()) {
        (Phase::Excluded, _) if config::get().off => {}
        (Phase::Excluded, Some(block)) => {
            block.tree.catch_up(config::exact_path());
            block.tree.set_excluded(false, config::now());
            set(Phase::Counting, Some(block));
        }
        (phase, None) if begins || phase == Phase::Excluded => {
            set(Phase::Busy, None);
            // Scopes of this thread take the fast path from here on, so this is its first.
            first();
            if config::get().off {
                set(Phase::Excluded, None)
            } else {
                join()
            }
        }
        _ => {}
    }
}

/// Lets the calling thread count no more; its open scopes end here, and what it counted stays.
pub(crate) fn exclude() {
    if begins() || phase() == Phase::Counting {
        let block = current_thread::block();
        block.into_iter().for_each(charge_no_more);
        set(Phase::Excluded, block);
    }
}

/// Ends all that is open on this thread's tree, and charges nobody from now on.
fn charge_no_more(block: &'static Block) {
    block.tree.catch_up_if_alarmed(config::exact_path());
    block.tree.end_all(config::now);
    block.tree.set_excluded(true, config::now());
}

/// Folds the thread's tree, which allocates; or leaves that to whoever captures next.
fn leave(may_fold: bool) {
    let block = current_thread::block();
    // From here on scopes of this thread are dropped: also those in other destructors and in our own work.
    set(Phase::Gone, None);
    let Some(block) = block else { return };
    // Whoever has the lock may have it for long. In a forked child nobody captures, and the block may go without the lock.
    let state = may_fold
        .then(|| collector_state::lock_alone_within(LONGEST_WAIT))
        .flatten();
    match state {
        Some(mut state) => state.fold(block, os::thread_name(), os::own_cpu_ns()),
        None if config::is_forked_child() => registry::forget(block),
        None => {
            // Nobody else knows when it ended.
            charge_no_more(block);
            registry::leave(block, os::thread_name(), os::own_cpu_ns());
        }
    }
}
