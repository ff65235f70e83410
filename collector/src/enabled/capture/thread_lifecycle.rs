//! Which threads count, and how threads come and go.
//!
//! Each thread has a pointer to its tree. It is a `const` thread-local without a destructor, so reading it is one
//! instruction and is allowed at any time of a thread's life. It is set only while the thread counts. All else goes
//! the slow way, which looks at the rest.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering, compiler_fence};
use std::time::Duration;

use crate::enabled::capture::collector_state;
use crate::enabled::platform::os;
use crate::enabled::record::registry::{self, Block};
use crate::enabled::record::tree::Tree;
use crate::enabled::runtime::config::{self, DROPPED, NODES};
use crate::types::Threads;

/// How long a thread that ends waits for a capture to be over, before it leaves its tree to whoever captures next.
const LONGEST_WAIT: Duration = Duration::from_millis(10);

/// What the calling thread is to the collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It has not met a scope yet.
    New,
    /// It is being registered: a scope met now stands inside our own work.
    Busy,
    /// It counts.
    Counting,
    /// It is left out: by choice, or because measuring is off.
    Excluded,
    /// It has ended for us: what comes now is dropped.
    Gone,
}

/// The calling thread's state, beside the hot pointer.
#[derive(Clone, Copy)]
struct Own {
    phase: Phase,
    block: Option<&'static Block>,
}

thread_local! {
    static HOT: Cell<Option<&'static Tree>> = const { Cell::new(None) };
    static OWN: Cell<Own> = const { Cell::new(Own { phase: Phase::New, block: None }) };
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
pub(crate) extern "C" fn at_end(_: *mut c_void) {
    leave(true);
}

/// The calling thread has called `exit`, maybe in a handler that has interrupted the allocator.
pub(crate) fn leave_at_exit() {
    leave(false);
}

/// The tree of the calling thread, while it counts.
#[inline(always)]
pub(crate) fn hot() -> Option<&'static Tree> {
    HOT.get()
}

/// The calling thread's phase.
pub(crate) fn phase() -> Phase {
    OWN.get().phase
}

/// The tree of the calling thread, if it has one, whether it counts now or not.
pub(crate) fn own() -> Option<&'static Tree> {
    let own = OWN.get();
    own.block
        .filter(|_| own.phase != Phase::Gone)
        .map(|block| &block.tree)
}

/// Registers the calling thread if it is new and all threads count. `first` runs once before, with the thread
/// marked as busy; what it opens is dropped and counted.
pub(crate) fn register(first: impl FnOnce()) -> Phase {
    if begins() {
        os::keeping_errno(|| {
            first();
            let fixed = config::fixed();
            if fixed.off || fixed.threads == Threads::OptIn {
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

/// A signal handler in between finds a thread that has a tree and may not count, never one that counts without a tree.
fn set(phase: Phase, block: Option<&'static Block>) {
    let counts = phase == Phase::Counting;
    let tree = block.filter(|_| counts).map(|block| &block.tree);
    if counts {
        HOT.set(tree);
        compiler_fence(Ordering::SeqCst);
    }
    OWN.set(Own { phase, block });
    compiler_fence(Ordering::SeqCst);
    HOT.set(tree);
}

/// Takes a block and begins to count.
fn join() {
    let fixed = config::fixed();
    // Where nobody hears of this thread's end, there would be nobody to fold the tree.
    if !os::tell_of_end() && LEAVING.try_with(|_| ()).is_err() {
        return set(Phase::Gone, None);
    }
    let Some(block) = registry::take() else {
        return set(Phase::Excluded, None);
    };
    let now = config::now();
    if block.tree.open(
        now,
        fixed.limit_ticks,
        fixed.max_depth,
        fixed.max_nodes.saturating_add(1),
    ) {
        block.begin(os::thread_id(), config::exact_path());
        set(Phase::Counting, Some(block));
    } else {
        registry::give_back(block);
        set(Phase::Excluded, None);
    }
}

/// Lets the calling thread count from now on. `first` runs before where the thread is new, as in [`register`].
pub(crate) fn include(first: impl FnOnce()) {
    let begins = begins();
    let own = OWN.get();
    match (own.phase, own.block) {
        (Phase::Excluded, _) if config::fixed().off => {}
        (Phase::Excluded, Some(block)) => {
            block.tree.adopt(config::exact_path());
            block.tree.set_excluded(false, config::now());
            set(Phase::Counting, Some(block));
        }
        (phase, None) if begins || phase == Phase::Excluded => {
            set(Phase::Busy, None);
            // Scopes of this thread take the fast path from here on, so this is its first.
            first();
            if config::fixed().off {
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
        let own = OWN.get();
        own.block.into_iter().for_each(charge_no_more);
        set(Phase::Excluded, own.block);
    }
}

/// Ends all that is open on this thread's tree, and charges nobody from now on.
fn charge_no_more(block: &'static Block) {
    block.tree.adopt_if_alarmed(config::exact_path());
    block.tree.end_all(config::now);
    block.tree.set_excluded(true, config::now());
}

/// A call that no tree can count.
pub(crate) fn drop_call() {
    match hot() {
        Some(tree) => crate::enabled::record::tree::add(&tree.dropped, 1),
        None => drop(DROPPED.fetch_add(1, Ordering::Relaxed)),
    }
}

/// Whether one more node may be made in this process; counts it if so.
pub(crate) fn may_add_node() -> bool {
    let room = NODES.fetch_add(1, Ordering::Relaxed) < config::fixed().max_process_nodes;
    if !room {
        NODES.fetch_sub(1, Ordering::Relaxed);
    }
    room
}

/// Lets the calling thread, which does not count and gets no signals, count in a tree of its own while `body` runs.
pub(crate) fn with_tree<T>(tree: &'static Tree, body: impl FnOnce() -> T) -> T {
    let before = HOT.replace(Some(tree));
    let value = body();
    HOT.set(before);
    value
}

/// Folds the thread's tree, which allocates; or leaves that to whoever captures next.
fn leave(may_fold: bool) {
    let block = OWN.get().block;
    // From here on scopes of this thread are dropped: also those in other destructors and in our own work.
    set(Phase::Gone, None);
    let Some(block) = block else { return };
    // Whoever has the lock may have it for long. In a forked child nobody captures, and the block may go without the lock.
    let books = may_fold
        .then(|| collector_state::books_alone_within(LONGEST_WAIT))
        .flatten();
    match books {
        Some(mut books) => books.fold(block, os::thread_name(), os::own_cpu_ns()),
        None if config::is_forked_child() => forget(block),
        None => {
            // Nobody else knows when it ended.
            charge_no_more(block);
            registry::leave(block, os::thread_name(), os::own_cpu_ns());
        }
    }
}

/// Gives back a block whose thread has ended and counts no more, and its nodes.
pub(crate) fn forget(block: &'static Block) {
    NODES.fetch_sub(block.tree.nodes.len().saturating_sub(1), Ordering::Relaxed);
    registry::give_back(block);
}
