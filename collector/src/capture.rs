//! Live trees to a snapshot, and resets.
//!
//! Nobody but its thread writes a counter, so a reset writes none. The books keep a baseline per node: what is
//! shown is the counter less the baseline, and a reset raises the baseline by what was *shown*. So what a
//! capture could not see is made up in the next epoch, and the sum over all epochs is the lifetime total, to
//! the tick. One lock guards the books; it is never held while encoding or writing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{Ordering, fence};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use tickscope_format::Snapshot;
use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::{
    CaptureFacts, CaptureKind, ClockFacts, Cost, Lifetime, Mode, Process, Thread, ThreadState,
};

use crate::clock::Moment;
use crate::fold::{Folded, PRUNED};
use crate::ledger::{Counts, Ledger};
use crate::process::{self, Fixed};
use crate::registry::{self, Block};
use crate::rows::{Lost, Row, append};
use crate::site::Site;
use crate::tree::PAUSED;
use crate::{arena, os};

/// Closing snapshots of resets by the program that the publisher has not fetched yet; more are left out.
const CLOSINGS_MAX: usize = 64;

/// What the publisher and the session tell about themselves.
#[derive(Debug)]
pub(crate) struct Surroundings {
    pub(crate) name: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) interval_ns: u64,
    pub(crate) viewers: u32,
    pub(crate) cost: Cost,
    /// Somebody fetches the closing snapshots.
    pub(crate) publishing: bool,
}

/// Everything that is known about the trees beside the trees.
#[derive(Debug)]
pub(crate) struct Books {
    pub(crate) around: Surroundings,
    sites: Sites,
    /// Books of live threads, by their block's address.
    live: BTreeMap<usize, LiveThread>,
    folded: Folded,
    seq: u64,
    reset_epoch: u64,
    /// The monotonic clock at the last reset; none before the first.
    reset_ns: Option<u64>,
    /// The epoch that an undo would bring back, and when it began.
    undo: Option<(u64, Option<u64>)>,
    /// The epoch that the last undo took back.
    withdrawn: Option<u64>,
    closings: VecDeque<Snapshot>,
}

/// The sites met so far.
#[derive(Debug)]
pub(crate) struct Sites {
    by_address: BTreeMap<usize, SiteId>,
    list: Vec<tickscope_format::snapshot::Site>,
}

#[derive(Debug)]
struct LiveThread {
    name: String,
    ledger: Ledger,
}

static BOOKS: Mutex<Books> = Mutex::new(Books {
    around: Surroundings {
        name: String::new(),
        warnings: Vec::new(),
        interval_ns: 0,
        viewers: 0,
        cost: Cost {
            lower_ns: 0.0,
            upper_ns: 0.0,
            publisher_cpu_ns: 0,
            publisher_share: 0.0,
        },
        publishing: false,
    },
    sites: Sites {
        by_address: BTreeMap::new(),
        list: Vec::new(),
    },
    live: BTreeMap::new(),
    folded: Folded::new(),
    seq: 0,
    reset_epoch: 0,
    reset_ns: None,
    undo: None,
    withdrawn: None,
    closings: VecDeque::new(),
});

/// The capture lock; none in a forked child, where its holder may not exist.
pub(crate) fn books() -> Option<MutexGuard<'static, Books>> {
    if process::is_forked_child() {
        return None;
    }
    Some(BOOKS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The same where whoever asks may hold it himself, further down his stack: none after so long.
pub(crate) fn books_within(longest: Duration) -> Option<MutexGuard<'static, Books>> {
    if process::is_forked_child() {
        return None;
    }
    let begin = Instant::now();
    loop {
        match BOOKS.try_lock() {
            Ok(books) => return Some(books),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if begin.elapsed() > longest => return None,
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
}

/// What was read of a live tree.
struct Reading {
    rows: Vec<Row>,
    counts: Vec<Counts>,
    open: Vec<(u32, u64)>,
    state: ThreadState,
    lost: Lost,
}

// === impl Sites ===

impl Sites {
    fn id(&mut self, site: &'static Site) -> SiteId {
        *self
            .by_address
            .entry(std::ptr::from_ref(site).addr())
            .or_insert_with(|| {
                self.list.push(site.describe());
                SiteId(self.list.len() as u32 - 1)
            })
    }
}

/// Reads a tree while its thread goes on. Index 0 is the root.
fn read(block: &'static Block, sites: &mut Sites, fixed: &Fixed) -> Reading {
    let tree = &block.tree;
    let current = tree.current.get_acquire();
    let last = tree.last.load(Ordering::Acquire);
    let length = tree.nodes.len();
    let mut rows = Vec::with_capacity(length as usize);
    let mut counts = Vec::with_capacity(length as usize);
    for node in (0..length).map_while(|index| tree.nodes.get(index)) {
        counts.push(Counts {
            calls: node.calls.load(Ordering::Relaxed),
            ticks: node.self_ticks.load(Ordering::Relaxed),
        });
        rows.push(Row {
            parent: node
                .parent
                .get()
                .map_or(0, |parent| parent.index.load(Ordering::Relaxed)),
            // The root has no site, and its row is never shown.
            site: node.site.get().map_or(SiteId(0), |site| sites.id(site)),
            errors: node.errors.load(Ordering::Relaxed),
        });
    }
    let now = fixed.chosen.clock.now();
    // SYNC POINT: mark before counters, counters before last: if neither has changed, no event touched what
    // was read in between. `current` first: an event whose counters were seen has taken it out, and one that
    // has put the same node back has moved `last` before.
    fence(Ordering::Acquire);
    let same = |now: Option<&'static arena::Node>| match (now, current) {
        (Some(now), Some(current)) => std::ptr::eq(now, current),
        _ => false,
    };
    let quiet = same(tree.current.get_acquire()) && tree.last.load(Ordering::Acquire) == last;
    if quiet
        && last != PAUSED
        && now > last
        // A longer one is not going to be charged.
        && now - last <= fixed.limit_ticks
        && let Some(count) =
            current.and_then(|node| counts.get_mut(node.index.load(Ordering::Relaxed) as usize))
    {
        // The time since the last event, which the next one is going to charge.
        count.ticks = count.ticks.saturating_add(now - last);
    }
    let innermost = if quiet { current } else { settled_current(block) };
    let mut open = Vec::new();
    let mut at = innermost;
    while let Some(node) = at.filter(|node| node.site.get().is_some()) {
        // The thread may have begun an outer call anew between two looks: it is no later than what it holds.
        let began = node.began.load(Ordering::Relaxed);
        let inner = open.last().map_or(began, |&(_, inner)| inner);
        open.push((node.index.load(Ordering::Relaxed), began.min(inner)));
        at = node.parent.get();
    }
    open.reverse();
    open.retain(|&(index, _)| index < length);
    let state = match (last == PAUSED, open.is_empty()) {
        (true, _) => ThreadState::Paused,
        (false, false) => ThreadState::Running,
        // Also a thread that the kernel took off its CPU in the middle of an event: where it is, it has not said.
        (false, true) => ThreadState::Idle,
    };
    let lost = Lost {
        dropped: tree.dropped.load(Ordering::Relaxed),
        unbalanced: tree.unbalanced.load(Ordering::Relaxed),
        clock_errors: tree.clock_errors.load(Ordering::Relaxed),
    };
    Reading {
        rows,
        counts,
        open,
        state,
        lost,
    }
}

/// Where a busy thread stands: its events take nanoseconds, so a few looks find it between two of them.
fn settled_current(block: &'static Block) -> Option<&'static arena::Node> {
    (0..1000).find_map(|_| {
        std::hint::spin_loop();
        block.tree.current.get_acquire()
    })
}

/// The name of a thread after the kernel's: "main" for the first, "thread" for one without a name of its own,
/// to which the kernel gives that of the process.
fn thread_name(tid: u32, kernel_name: &str) -> String {
    static PROCESS: LazyLock<String> = LazyLock::new(|| kernel_name_of("/proc/self/comm"));
    if tid == std::process::id() {
        "main".into()
    } else if kernel_name.is_empty() || kernel_name == *PROCESS {
        "thread".into()
    } else {
        kernel_name.into()
    }
}

fn kernel_name_of(path: &str) -> String {
    let name = std::fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(name.trim_ascii_end()).into_owned()
}

impl LiveThread {
    fn new(tid: u32) -> Self {
        let own = kernel_name_of(&format!("/proc/self/task/{tid}/comm"));
        Self {
            name: thread_name(tid, &own),
            ledger: Ledger::default(),
        }
    }
}

// === impl Books ===

impl Books {
    /// Takes the picture. Afterwards every ledger knows what it showed.
    pub(crate) fn capture(&mut self, kind: CaptureKind) -> Snapshot {
        let fixed = process::fixed();
        let mut snapshot = Snapshot::default();
        let mut lost = self.folded.lost();
        let mut lifetime = Lifetime::default();
        for block in registry::living() {
            let tid = block.tid.load(Ordering::Acquire);
            let address = std::ptr::from_ref(block).addr();
            let thread = self.live.entry(address).or_insert_with(|| LiveThread::new(tid));
            let reading = read(block, &mut self.sites, fixed);
            thread.ledger.show(&reading.counts, os::cpu_ns_of(tid));
            thread.ledger.add_lifetime(&mut lifetime);
            lost.add(reading.lost);
            let facts = Thread {
                name: thread.name.clone(),
                tid,
                state: reading.state,
                count: 1,
                cpu_ns: thread.ledger.cpu_shown(),
                ..Thread::default()
            };
            append(&mut snapshot, facts, &reading.rows, &thread.ledger, &reading.open);
        }
        self.folded.show(&mut snapshot, &mut lifetime);
        snapshot.lifetime = lifetime;
        snapshot.sites.clone_from(&self.sites.list);
        self.describe(&mut snapshot, kind, fixed, lost);
        snapshot
    }

    fn describe(&mut self, snapshot: &mut Snapshot, kind: CaptureKind, fixed: &Fixed, lost: Lost) {
        self.seq += 1;
        let clock = fixed.chosen.clock;
        let now = Moment::now(clock);
        snapshot.process = Process {
            name: self.around.name.clone(),
            pid: std::process::id(),
            started_unix_ns: fixed.started_unix_ns,
            uptime_ns: now.ns.saturating_sub(fixed.started_ns),
            warnings: self.around.warnings.clone(),
        };
        snapshot.clock = ClockFacts {
            source: clock.source(),
            ticks_per_second: process::ticks_per_second(),
            reason: fixed.chosen.reason.into(),
            errors: lost.clock_errors,
            epoch: process::RATE.breaks(),
        };
        snapshot.capture = CaptureFacts {
            mode: Mode::Exact,
            kind,
            seq: self.seq,
            tick: now.tick,
            unix_ns: os::unix_ns(),
            interval_ns: self.around.interval_ns,
            reset_epoch: self.reset_epoch,
            since_reset_ns: now.ns.saturating_sub(self.reset_ns.unwrap_or(fixed.started_ns)),
            withdraws: self.withdrawn,
            pruned: 0,
            dropped: lost.dropped + process::DROPPED.load(Ordering::Relaxed),
            unbalanced: lost.unbalanced,
            cost: self.around.cost,
            viewers: self.around.viewers,
        };
    }

    /// Begins a new reset epoch; gives the snapshot that closes the old one.
    pub(crate) fn reset(&mut self) -> Snapshot {
        let closing = self.capture(CaptureKind::Closing);
        for thread in self.live.values_mut() {
            thread.ledger.reset();
        }
        self.folded.reset();
        self.undo = Some((self.reset_epoch, self.reset_ns));
        self.withdrawn = None;
        self.reset_epoch += 1;
        self.reset_ns = Some(os::monotonic_ns());
        closing
    }

    /// A reset by the program itself: the publisher is going to fetch the closing snapshot.
    pub(crate) fn reset_by_program(&mut self) -> Snapshot {
        let closing = self.reset();
        if self.around.publishing && self.closings.len() < CLOSINGS_MAX {
            self.closings.push_back(closing.clone());
        }
        closing
    }

    /// The last reset cannot be taken back any more: its ticks are of another kind.
    pub(crate) fn forget_undo(&mut self) {
        self.undo = None;
    }

    /// The publisher comes or goes: nobody fetches what was closed for the one before.
    pub(crate) fn set_publishing(&mut self, publishing: bool) {
        self.around.publishing = publishing;
        self.closings.clear();
    }

    /// The closing snapshots of resets by the program since the last call, oldest first.
    pub(crate) fn take_closings(&mut self) -> VecDeque<Snapshot> {
        std::mem::take(&mut self.closings)
    }

    /// Whether [`Self::take_closings`] has something to give.
    pub(crate) fn has_closings(&self) -> bool {
        !self.closings.is_empty()
    }

    /// Takes the last reset back; false where there is none to take back.
    pub(crate) fn undo_reset(&mut self) -> bool {
        let Some((epoch, reset_ns)) = self.undo.take() else {
            return false;
        };
        for thread in self.live.values_mut() {
            thread.ledger.undo();
        }
        self.folded.undo();
        self.withdrawn = Some(epoch);
        self.reset_epoch += 1;
        self.reset_ns = reset_ns;
        true
    }

    /// A thread ends: what it counted goes to the finished threads of its name. Its tree gets no more events.
    pub(crate) fn fold(&mut self, block: &'static Block, kernel_name: &str) {
        let address = std::ptr::from_ref(block).addr();
        let tid = block.tid.load(Ordering::Relaxed);
        let mut thread = self.live.remove(&address).unwrap_or_else(|| LiveThread {
            name: thread_name(tid, kernel_name),
            ledger: Ledger::default(),
        });
        let reading = read(block, &mut self.sites, process::fixed());
        thread.ledger.show(&reading.counts, Some(os::own_cpu_ns()));
        let most = process::fixed().max_process_nodes;
        let pruned = self.sites.id(&PRUNED);
        self.folded.add(
            &thread.name,
            &reading.rows,
            &thread.ledger,
            reading.lost,
            most,
            pruned,
        );
    }
}
