//! Which threads count, and how threads come and go.
//!
//! Each thread has a pointer to its tree. It is a `const` thread-local without a destructor, so reading it is one
//! instruction and is allowed at any time of a thread's life. It is set only while the thread counts. All else goes
//! the slow way, which looks at the rest.

use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::capture;
use crate::options::Threads;
use crate::os;
use crate::process::{self, DROPPED, NODES};
use crate::registry::{self, Block};
use crate::tree::Tree;

/// How long a thread that ends waits for captures to be over: many times what the largest takes.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

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
    /// Its thread-locals are gone, or going.
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
    static LEAVING: Leaving = const { Leaving };
}

/// Folds the thread's tree when the thread ends.
struct Leaving;

impl Drop for Leaving {
    fn drop(&mut self) {
        leave();
    }
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
    if phase() == Phase::New {
        set(Phase::Busy, None);
        first();
        let fixed = process::fixed();
        if fixed.off || fixed.threads == Threads::OptIn {
            set(Phase::Excluded, None)
        } else {
            join()
        }
    }
    phase()
}

fn set(phase: Phase, block: Option<&'static Block>) {
    OWN.set(Own { phase, block });
    let counts = phase == Phase::Counting;
    HOT.set(block.filter(|_| counts).map(|block| &block.tree));
}

/// Takes a block and begins to count.
fn join() {
    let fixed = process::fixed();
    // Where this thread's destructors have run already, there would be nobody to fold the tree.
    if LEAVING.try_with(|_| ()).is_err() {
        return set(Phase::Gone, None);
    }
    let Some(block) = registry::take() else {
        return set(Phase::Excluded, None);
    };
    let now = process::now();
    if block.tree.open(
        now,
        fixed.limit_ticks,
        fixed.max_depth,
        fixed.max_nodes.saturating_add(1),
    ) {
        // Whoever switches modes from here on finds the tree and alarms it.
        block.tid.store(os::thread_id(), Ordering::SeqCst);
        block.tree.begin_mode(process::exact_path());
        set(Phase::Counting, Some(block));
    } else {
        registry::give_back(block);
        set(Phase::Excluded, None);
    }
}

/// Lets the calling thread count from now on. `first` runs before where the thread is new, as in [`register`].
pub(crate) fn include(first: impl FnOnce()) {
    let own = OWN.get();
    match (own.phase, own.block) {
        (Phase::Excluded, _) if process::fixed().off => {}
        (Phase::Excluded, Some(block)) => {
            block.tree.adopt(process::exact_path());
            block.tree.set_excluded(false, process::now());
            set(Phase::Counting, Some(block));
        }
        (Phase::New | Phase::Excluded, None) => {
            set(Phase::Busy, None);
            // Scopes of this thread take the fast path from here on, so this is its first.
            first();
            if process::fixed().off {
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
    let own = OWN.get();
    if matches!(own.phase, Phase::New | Phase::Counting) {
        if let Some(block) = own.block {
            block.tree.adopt_if_alarmed(process::exact_path());
            let now = process::now();
            block.tree.end_all(now);
            block.tree.set_excluded(true, now);
        }
        set(Phase::Excluded, own.block);
    }
}

/// A call that no tree can count.
pub(crate) fn drop_call() {
    match hot() {
        Some(tree) => crate::tree::add(&tree.dropped, 1),
        None => drop(DROPPED.fetch_add(1, Ordering::Relaxed)),
    }
}

/// Whether one more node may be made in this process; counts it if so.
pub(crate) fn may_add_node() -> bool {
    let room = NODES.fetch_add(1, Ordering::Relaxed) < process::fixed().max_process_nodes;
    if !room {
        NODES.fetch_sub(1, Ordering::Relaxed);
    }
    room
}

/// Lets the calling thread, which does not count, count in a tree of its own while `body` runs.
pub(crate) fn with_tree<T>(tree: &'static Tree, body: impl FnOnce() -> T) -> T {
    let before = HOT.replace(Some(tree));
    let value = body();
    HOT.set(before);
    value
}

fn leave() {
    let block = OWN.get().block;
    // From here on scopes of this thread are dropped: also those in other destructors and in our own work.
    set(Phase::Gone, None);
    let Some(block) = block else { return };
    // A thread that exits in a signal handler may hold the lock itself: wait, but not for ever. Its tree stays as
    // it is then, and is shown as if the thread lived on. In a forked child nobody captures, and the block may go
    // without the lock. Else the lock is held until the block is given back: it counts once.
    let mut books = capture::books_within(LONGEST_WAIT);
    match &mut books {
        Some(books) => {
            // Under the lock, so that no capture has seen a later tick than the one that is charged here.
            block.tree.adopt_if_alarmed(process::exact_path());
            block.tree.end_all(process::now());
            let name = os::thread_name();
            let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
            books.fold(block, &String::from_utf8_lossy(name));
        }
        None if process::is_forked_child() => {}
        None => return,
    }
    NODES.fetch_sub(block.tree.nodes.len().saturating_sub(1), Ordering::Relaxed);
    registry::give_back(block);
}
