//! Snapshots of live trees, and resets.
//!
//! A counter is written only by its thread, so a reset writes no counter. The collector's state keeps a baseline for each node. A
//! snapshot shows the counter less the baseline, and a reset raises the baseline by the amount *shown*. An amount that a capture
//! missed is therefore shown in the next epoch, and the sum over all epochs is exactly the lifetime total. One lock guards the
//! collector's state; it is never held while encoding or writing.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use tickscope_format::Snapshot;
use tickscope_format::ids::SiteId;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{
    BORDER_NS, CaptureInfo, CaptureKind, ClockInfo, Cost, Lifetime, Measuring, Mode, Now, Over, Process,
    SeenCost, Thread, WATCHES_MAX, WaitsIn,
};

use crate::enabled::capture::baseline::Baseline;
use crate::enabled::capture::estimate::CALLEES_NS;
use crate::enabled::capture::finished_threads::{FinishedThreads, PRUNED};
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use crate::enabled::capture::function_sums::FunctionSums;
use crate::enabled::capture::functions;
use crate::enabled::capture::lines::Lines;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use crate::enabled::capture::lost_futures;
use crate::enabled::capture::row::{Epoch, Lost};
use crate::enabled::capture::site_ids::SiteIds;
use crate::enabled::capture::snapshot_rows::{ThreadTree, append};
use crate::enabled::capture::task_reader::TaskReader;
use crate::enabled::capture::tree_reader::{Reader, Reading};
use crate::enabled::capture::waiting_looks::{self, Budget, Looked, Looks, THREADS_MOST};
use crate::enabled::capture::watches::Watches;
use crate::enabled::platform::os;
use crate::enabled::platform::patience::Patience;
use crate::enabled::platform::waiting_call::{Call, Doing};
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use crate::enabled::record::calls_by_future;
use crate::enabled::record::live_blocks::{self, Live};
use crate::enabled::record::mode_switch::{self, Switch};
use crate::enabled::record::numbers;
use crate::enabled::record::owner::Owner;
use crate::enabled::record::registry::{self, Block};
use crate::enabled::record::site_table::{self, Rules};
use crate::enabled::runtime::clock_rate::Moment;
use crate::enabled::runtime::config::{self, Config};
use crate::enabled::runtime::copies;
use crate::types::Clock;

/// Maximum number of closing snapshots, from resets by the program, that wait for the publisher. Further snapshots are dropped.
const CLOSINGS_MAX: usize = 64;

/// In adaptive mode a look counts for at most this many mean distances, computed with at least `LEAST_HZ` looks a second.
const LONGEST_LOOKS: f64 = 3.0;
const LEAST_HZ: f64 = 100.0;

/// Work that may be unfinished when the clock is read. A CPU has several hundred instructions in flight. If their loads wait for
/// memory and for each other, about a microsecond of a call's work is charged to later calls. A function that walks a linked list
/// got 2 % of the time in place of 40 %.
const UNFINISHED_NS: f64 = 1_000.0;

/// Warning for a table of live blocks that was too small.
const LIVE_TOO_LOW: &str = "live bytes are too low: more blocks are live than can be remembered";

/// Facts that the publisher and the session report about themselves.
#[derive(Debug)]
pub(crate) struct SessionInfo {
    pub(crate) name: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) interval_ns: u64,
    pub(crate) viewers: u32,
    pub(crate) cost: Cost,
    /// In adaptive mode: the cost of a timed call, and the part of it that the call includes in its own time.
    pub(crate) timed_ns: (f64, f64),
    /// Time by which loads take longer when a clock reading separates them; see `clock_drain`.
    pub(crate) drains_ns: Option<f64>,
    /// In sampled mode: number of looks a second at each thread's place.
    pub(crate) sampling_hz: f64,
    /// Cost of functions.
    pub(crate) functions: functions::Told,
    /// Whether a publisher fetches the closing snapshots.
    pub(crate) publishing: bool,
}

impl SessionInfo {
    /// Returns the possible error of a call's timed duration in nanoseconds. This is the largest of the cost of a timed call, the
    /// delay of loads by the clock, and the CPU's unfinished work at a clock reading.
    fn doubt_ns(&self) -> f64 {
        self.timed_ns
            .0
            .max(self.drains_ns.unwrap_or(0.0))
            .max(UNFINISHED_NS)
    }
}

/// Everything known about the trees that is not in them.
#[derive(Debug)]
pub(crate) struct CollectorState {
    pub(crate) session: SessionInfo,
    sites: SiteIds,
    rules: Rules,
    /// How scopes are measured in this reset epoch; `None` before the first use.
    epoch: Option<Switch>,
    /// The publisher's looks at where each thread is, and its looks before this epoch.
    samples: Samples,
    samples_base: Samples,
    /// Tick of the publisher's last look; `None` before the first look.
    sampled_at: Option<u64>,
    /// State of live threads, by the address of their block.
    live: BTreeMap<usize, LiveThread>,
    finished: FinishedThreads,
    /// Sums of the functions of ended threads.
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    ended_functions: FunctionSums,
    tasks: TaskReader,
    seq: u64,
    reset_epoch: u64,
    /// The monotonic clock at the last reset; `None` before the first.
    reset_ns: Option<u64>,
    /// The epoch to which an undo would return, when it began, and the samples before it.
    undo: Option<(u64, Option<u64>, Samples)>,
    /// The epoch that the last undo withdrew.
    withdrawn: Option<u64>,
    closings: VecDeque<Snapshot>,
    /// Time of the next look at the system calls in which threads wait.
    looks: Looks,
    watches: Watches,
    lines: Lines,
}

/// Looks at where each thread is.
#[derive(Clone, Copy, Debug)]
struct Samples {
    count: u64,
    /// Ticks for which the looks count.
    ticks: u64,
    /// Number of looks that met an event, and the ticks for which these looks count.
    in_events: u64,
    event_ticks: u64,
}

impl Samples {
    const NONE: Self = Self {
        count: 0,
        ticks: 0,
        in_events: 0,
        event_ticks: 0,
    };

    /// Returns the time in events since `base`, as seen by the looks.
    fn seen_cost(self, base: Self, ns_per_tick: f64) -> SeenCost {
        SeenCost {
            looks: self.in_events - base.in_events,
            ns: (self.event_ticks - base.event_ticks) as f64 * ns_per_tick,
        }
    }
}

#[derive(Debug)]
struct LiveThread {
    name: String,
    baseline: Baseline,
    reader: Reader,
    /// Ticks that samples added to each node.
    sampled: Vec<u64>,
    /// In adaptive mode: the ticks for which samples found the thread in each node.
    found: Vec<u64>,
    /// The newest look at the system call in which the thread waits.
    looked: Option<Looked>,
}

static STATE: Mutex<CollectorState> = Mutex::new(CollectorState {
    session: SessionInfo {
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
        timed_ns: (0.0, 0.0),
        drains_ns: None,
        sampling_hz: 0.0,
        functions: functions::Told::NOTHING,
        publishing: false,
    },
    sites: SiteIds::new(),
    rules: Rules::new(),
    epoch: None,
    samples: Samples::NONE,
    samples_base: Samples::NONE,
    sampled_at: None,
    live: BTreeMap::new(),
    finished: FinishedThreads::new(),
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    ended_functions: FunctionSums::new(),
    tasks: TaskReader::new(),
    seq: 0,
    reset_epoch: 0,
    reset_ns: None,
    undo: None,
    withdrawn: None,
    closings: VecDeque::new(),
    looks: Looks::new(),
    watches: Watches::new(),
    lines: Lines::new(),
});

/// The thread that holds the lock; 0 if no thread does.
static HOLDER: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Longest time for which the calling thread waits for the lock; 0 means without limit.
    static LONGEST_WAIT: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// The collector's state, locked.
#[derive(Debug)]
pub(crate) struct Locked(MutexGuard<'static, CollectorState>);

impl Locked {
    fn new(state: MutexGuard<'static, CollectorState>) -> Self {
        HOLDER.store(os::thread_id(), Ordering::Relaxed);
        Self(state)
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        HOLDER.store(0, Ordering::Relaxed);
    }
}

impl Deref for Locked {
    type Target = CollectorState;

    fn deref(&self) -> &CollectorState {
        &self.0
    }
}

impl DerefMut for Locked {
    fn deref_mut(&mut self) -> &mut CollectorState {
        &mut self.0
    }
}

/// Returns the thread that holds the capture lock; 0 if no thread does.
pub(crate) fn holder() -> u32 {
    HOLDER.load(Ordering::Relaxed)
}

/// Takes the capture lock. Returns `None` in a forked child, where the holder's thread may not exist, and when the calling thread
/// has waited for its longest time.
pub(crate) fn lock() -> Option<Locked> {
    if config::is_forked_child() {
        return None;
    }
    let longest = LONGEST_WAIT.get();
    let state = if longest.is_zero() {
        Locked::new(STATE.lock().unwrap_or_else(PoisonError::into_inner))
    } else {
        let mut patience = Patience::new(longest);
        loop {
            match try_lock() {
                Some(state) => break state,
                None if patience.wait([0, holder()]) => {}
                None => return None,
            }
        }
    };
    Some(with_left_threads(state))
}

fn try_lock() -> Option<Locked> {
    match STATE.try_lock() {
        Ok(state) => Some(Locked::new(state)),
        Err(TryLockError::Poisoned(poisoned)) => Some(Locked::new(poisoned.into_inner())),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Lets the calling thread wait for the capture lock no longer than `longest` without progress of its holder, in `body`.
pub(crate) fn waiting_at_most<T>(longest: Duration, body: impl FnOnce() -> T) -> T {
    let before = LONGEST_WAIT.replace(longest);
    let value = body();
    LONGEST_WAIT.set(before);
    value
}

/// Merges the threads that have left their trees without taking the lock.
fn with_left_threads(mut state: Locked) -> Locked {
    for (block, name, cpu_ns) in registry::left() {
        // A mode may have been switched since the thread left.
        block.tree.catch_up(config::exact_path());
        state.finish_thread(block, name, cpu_ns);
    }
    state
}

/// Takes the lock, or gives up after `longest`. The calling thread may already hold the lock further down its stack.
pub(crate) fn lock_within(longest: Duration) -> Option<Locked> {
    lock_alone_within(longest).map(with_left_threads)
}

/// Takes the lock like [`lock_within`], without merging threads that have ended.
pub(crate) fn lock_alone_within(longest: Duration) -> Option<Locked> {
    if config::is_forked_child() {
        return None;
    }
    let begin = Instant::now();
    loop {
        match try_lock() {
            Some(state) => return Some(state),
            None if begin.elapsed() > longest => return None,
            None => std::thread::yield_now(),
        }
    }
}

/// Name of threads without a name of their own.
const UNNAMED: &str = "thread";

/// Returns the name of a thread: "main" for the first thread, otherwise the kernel's name. A thread without a name of its own,
/// which has the name of the process, gets [`UNNAMED`].
fn thread_name(tid: u32, kernel_name: &str) -> String {
    static PROCESS: LazyLock<String> = LazyLock::new(|| kernel_name_of("/proc/self/comm"));
    if tid == std::process::id() {
        "main".into()
    } else if kernel_name.is_empty() || kernel_name == *PROCESS {
        UNNAMED.into()
    } else {
        kernel_name.into()
    }
}

fn kernel_name_of(path: &str) -> String {
    let name = tickscope_format::os::read_text(path).unwrap_or_default();
    name.trim_ascii_end().into()
}

/// Reason why a forked child changes nothing.
pub(crate) const FORKED: &str =
    "a forked child measures nothing; start a new program instead (fork and exec)";

/// Returns whether the publisher looks where each thread is in this mode.
pub(crate) fn wants_samples(mode: Mode) -> bool {
    // A clock of the program's own may stand still while a thread works, or pass while it waits.
    let is_own = || matches!(config::get().chosen.clock, Clock::Custom(..));
    mode.is_sampling() || mode.has_estimated_times() && !is_own()
}

/// Watches the functions that a pattern matches.
///
/// # Errors
/// A sentence that says why not.
pub(crate) fn watch_in(pattern: &str, over: Over) -> Result<(), String> {
    let pattern = Pattern::new(pattern).map_err(|error| error.to_string())?;
    let mut state = lock().ok_or(FORKED)?;
    if state.watch(pattern, over) {
        return Ok(());
    }
    Err(format!(
        "{WATCHES_MAX} functions are watched, which is the limit; stop watching one of them first"
    ))
}

/// Returns the kernel's name of a thread as text.
fn text_of(kernel_name: &[u8; 16]) -> Cow<'_, str> {
    let name = kernel_name.split(|&byte| byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name)
}

/// Names the system calls.
fn named(samples: &[(u32, Call, u64)], doing: &[(u32, Doing)]) -> WaitsIn {
    let waiting = doing.iter().filter_map(|(_, doing)| match doing {
        Doing::Waiting(call) => Some(*call),
        Doing::Running | Doing::Ready => None,
    });
    let calls = samples.iter().map(|&(_, call, _)| call).chain(waiting);
    let mut names: BTreeMap<Call, Cow<'static, str>> = BTreeMap::new();
    for call in calls {
        names.entry(call).or_insert_with(|| call.name());
    }
    let now = |doing: &Doing| match doing {
        Doing::Running => Now::Running,
        Doing::Ready => Now::Ready,
        Doing::Waiting(call) => Now::In(&names[call]),
    };
    WaitsIn::new(
        samples
            .iter()
            .map(|(row, call, samples)| (*row, &*names[call], *samples)),
        doing.iter().map(|(thread, doing)| (*thread, now(doing))),
    )
}

impl LiveThread {
    fn new(tid: u32) -> Self {
        let own = kernel_name_of(&format!("/proc/self/task/{tid}/comm"));
        Self::named(thread_name(tid, &own))
    }

    fn named(name: String) -> Self {
        Self {
            name,
            baseline: Baseline::default(),
            reader: Reader::default(),
            sampled: Vec::new(),
            found: Vec::new(),
            looked: None,
        }
    }

    /// Reads the thread's tree into its baseline.
    fn read(&mut self, block: &'static Block, sites: &mut SiteIds, cpu_ns: Option<u64>) -> Reading {
        let Baseline {
            histograms,
            async_histograms,
            ..
        } = &mut self.baseline;
        let reading = self.reader.read(block, sites, histograms, async_histograms);
        for (counts, sampled) in self.reader.counts.iter_mut().zip(&self.sampled) {
            counts.ticks = counts.ticks.saturating_add(*sampled);
        }
        for (counts, found) in self.reader.counts.iter_mut().zip(&self.found) {
            counts.found = *found;
        }
        self.baseline
            .show(&self.reader.counts, &self.reader.measured, cpu_ns);
        let stretch = numbers::stretch();
        for read in &self.reader.numbers {
            self.baseline.ranges.show(read, stretch);
        }
        reading
    }

    /// Adds the time since the last look to the node where the thread is. Returns false if the thread is in an event, because
    /// that time is not the program's.
    fn sample(&mut self, block: &'static Block, passed: u64, mode: Mode) -> bool {
        if block.tree.stands_still() {
            return true;
        }
        let Some(node) = block.tree.outside_events() else {
            return false;
        };
        let index = node.index() as usize;
        let column = if mode.is_sampling() {
            &mut self.sampled
        } else {
            &mut self.found
        };
        if column.len() <= index {
            column.resize(index + 1, 0);
        }
        column[index] += passed;
        true
    }
}

impl CollectorState {
    /// Makes the next capture read the calls in flight, for any number of calls.
    pub(crate) fn read_tasks_anew(&mut self) {
        self.tasks = TaskReader::new();
    }

    /// Captures a snapshot with all kept data of watched calls.
    pub(crate) fn capture_whole(&mut self, kind: CaptureKind) -> Snapshot {
        self.capture_with(kind, true)
    }

    /// Captures a snapshot. Every baseline then knows the amounts shown.
    pub(crate) fn capture(&mut self, kind: CaptureKind) -> Snapshot {
        self.capture_with(kind, kind != CaptureKind::Periodic)
    }

    fn capture_with(&mut self, kind: CaptureKind, is_whole: bool) -> Snapshot {
        let config = config::get();
        #[cfg(all(feature = "functions", target_arch = "x86_64"))]
        for row in lost_futures::end(is_whole) {
            self.finished.count_vanished(row);
        }
        let mut snapshot = Snapshot::default();
        let mut lost = self.finished.lost();
        lost.losses.dropped += registry::dropped_calls();
        let mut lifetime = Lifetime::default();
        let epoch = self.epoch();
        let live = Live::read();
        let (mut waits_in, mut doing) = (Vec::new(), Vec::new());
        self.watches.begin_reading();
        self.lines.begin_reading();
        for block in registry::living() {
            let tid = block.tid.load(Ordering::Acquire);
            let address = std::ptr::from_ref(block).addr();
            let thread = self.live.entry(address).or_insert_with(|| LiveThread::new(tid));
            let reading = thread.read(block, &mut self.sites, os::cpu_ns_of(tid));
            self.watches.read(block, &mut self.sites);
            lost += reading.lost;
            let facts = Thread {
                name: thread.name.clone(),
                tid,
                state: reading.state,
                count: 1,
                cpu_ns: thread.baseline.cpu_shown(),
                ..Thread::default()
            };
            let thread_number = snapshot.threads.len() as u32;
            let does = waiting_looks::doing(block, thread.looked, config::now());
            doing.extend(does.map(|does| (thread_number, does)));
            let handed = append(
                &mut snapshot,
                &mut waits_in,
                facts,
                ThreadTree {
                    rows: &thread.reader.rows,
                    baseline: &thread.baseline,
                    open: &reading.open,
                    live: &live.of_tree(&block.tree),
                    sampled: &self.lines.of(Owner::of_tree(&block.tree)),
                },
                &epoch,
            );
            thread.baseline.hand(handed);
            thread.baseline.add_lifetime(&mut lifetime);
        }
        self.finished.show(
            &mut snapshot,
            &mut waits_in,
            &mut lifetime,
            &live,
            &self.lines,
            &epoch,
        );
        if kind != CaptureKind::Periodic {
            self.read_tasks_anew();
        }
        snapshot.tasks = self.tasks.read(&mut self.sites, config::now());
        snapshot.lifetime = lifetime;
        self.rules.look();
        let mut off_sites: Vec<SiteId> = Vec::new();
        for site in site_table::met() {
            let id = self.sites.id(site);
            if site.is_ruled_off() {
                off_sites.push(id);
            }
        }
        let reset_ns = self.reset_ns.unwrap_or(0);
        let was_off = site_table::met().chain(site_table::unmet_functions());
        let was_off = was_off.filter(|site| site.was_off_since(reset_ns));
        snapshot.was_off = was_off.map(|site| self.sites.id(site)).collect();
        snapshot.functions = lost.ends.described(&self.session.functions, &mut self.sites);
        // Functions that are off from the start have no row in any thread.
        off_sites.extend(snapshot.over_budget().iter().map(|over| over.site));
        snapshot.measuring = Measuring {
            histograms: epoch.histograms,
            sampling_hz: if epoch.mode.has_estimated_times() {
                self.session.sampling_hz
            } else {
                0.0
            },
            samples: self.samples.count - self.samples_base.count,
            rules: self.rules.list(),
            off_sites,
        };
        snapshot.settle_off_sites();
        snapshot.seen_cost = epoch.mode.has_estimated_times().then(|| {
            let ns_per_tick = 1e9 / config::ticks_per_second();
            self.samples.seen_cost(self.samples_base, ns_per_tick)
        });
        snapshot.waits = config.waits && epoch.mode.charges_time();
        if snapshot.waits {
            snapshot.waits_in = named(&waits_in, &doing);
        }
        self.describe(&mut snapshot, kind, config, lost);
        let now = (snapshot.capture.tick, snapshot.capture.unix_ns);
        let name = |tid, name: &[u8; 16]| thread_name(tid, &text_of(name));
        self.watches
            .show(&mut snapshot, now, is_whole, name, &mut self.sites);
        self.lines.show(&mut snapshot, is_whole);
        snapshot.sites = self.sites.list();
        snapshot
    }

    /// Returns how scopes are measured in this reset epoch.
    fn switch(&mut self) -> Switch {
        *self.epoch.get_or_insert_with(mode_switch::newest)
    }

    fn epoch(&mut self) -> Epoch {
        let Switch { mode, histograms, .. } = self.switch();
        let ticks_per_ns = config::ticks_per_second() / 1e9;
        let samples = (self.samples.count - self.samples_base.count).max(1);
        // In adaptive mode a look may count for less than the time since the one before.
        let ticks = match mode.is_sampling() {
            true => self.since_reset_ns() as f64 * ticks_per_ns,
            false => (self.samples.ticks - self.samples_base.ticks) as f64,
        };
        Epoch {
            mode,
            histograms: histograms && mode.charges_time(),
            timed_ticks: self.session.timed_ns.0 * ticks_per_ns,
            timed_within_ticks: self.session.timed_ns.1 * ticks_per_ns,
            period_ticks: ticks / samples as f64,
            doubt_ticks: self.session.doubt_ns() * ticks_per_ns,
            border_ticks: BORDER_NS * ticks_per_ns,
            callees_ticks: CALLEES_NS * ticks_per_ns,
        }
    }

    fn since_reset_ns(&self) -> u64 {
        os::monotonic_ns().saturating_sub(self.reset_ns.unwrap_or(config::get().started_ns))
    }

    /// Returns the sums of each function, over all threads, including ended ones.
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    pub(crate) fn function_sums(&self, mode: Mode) -> FunctionSums {
        let mut sums = self.ended_functions.clone();
        for block in registry::living() {
            let thread = self.live.get(&std::ptr::from_ref(block).addr());
            sums.add(&block.tree, mode, thread.map_or(&[], |thread| &thread.sampled));
        }
        sums
    }

    /// Looks where each thread is, and adds the time since the last look to that node.
    pub(crate) fn sample(&mut self) {
        // The mode may have been switched while the publisher waited for the lock.
        let mode = self.switch().mode;
        if !wants_samples(mode) {
            return;
        }
        let now = config::now();
        // A thread that has begun since the last look also gets the whole time. A thread that has ended since gets no time, and
        // on average these errors cancel out.
        let mut passed = now.saturating_sub(self.sampled_at.replace(now).unwrap_or(now));
        if !mode.is_sampling() {
            // Adaptive mode uses shares, not sums. A look that is late, because the publisher had no CPU, must not decide alone.
            let longest = LONGEST_LOOKS / self.session.sampling_hz.max(LEAST_HZ);
            passed = passed.min((longest * config::ticks_per_second()) as u64);
        }
        self.samples.count += 1;
        self.samples.ticks = self.samples.ticks.saturating_add(passed);
        for block in registry::living() {
            let tid = block.tid.load(Ordering::Acquire);
            let address = std::ptr::from_ref(block).addr();
            let thread = self.live.entry(address).or_insert_with(|| LiveThread::new(tid));
            if !thread.sample(block, passed, mode) {
                self.samples.in_events += 1;
                self.samples.event_ticks = self.samples.event_ticks.saturating_add(passed);
            }
        }
    }

    /// Looks at the system calls in which threads wait, if a look is due.
    pub(crate) fn look_at_waits(&mut self) {
        if !config::get().waits || !self.switch().mode.charges_time() || !self.looks.is_due() {
            return;
        }
        if !os::has_standard() {
            return;
        }
        let before = os::own_cpu_ns();
        let mut budget = Budget::new();
        let now = config::now();
        for block in registry::living_after(self.looks.at).take(THREADS_MOST) {
            let address = std::ptr::from_ref(block).addr();
            // A new thread is known from its first capture on.
            if let Some(thread) = self.live.get_mut(&address) {
                let Some(found) = waiting_looks::look(block, thread.looked, now, &mut budget) else {
                    break;
                };
                thread.looked = found.looked;
                if let Some((node, call)) = found.waiting {
                    thread.baseline.waits_in.count(node.index(), call);
                }
            }
            self.looks.at = Some(block);
        }
        self.looks.spent(os::own_cpu_ns().saturating_sub(before));
    }

    /// Measures in another mode from now on, in a new reset epoch. Returns the snapshot that closes the old epoch, or
    /// `None` if nothing changes.
    pub(crate) fn switch_to(&mut self, mode: Mode, histograms: bool) -> Option<Snapshot> {
        let before = self.switch();
        if (before.mode, before.histograms) == (mode, histograms) {
            return None;
        }
        if before.mode.has_estimated_times() {
            self.sample();
        }
        let closing = self.reset();
        self.forget_undo();
        let tick = config::now();
        registry::switch_to(mode, histograms, tick);
        site_table::update_states();
        functions::follow();
        self.epoch = Some(mode_switch::newest());
        self.sampled_at = Some(tick);
        for thread in self.live.values_mut() {
            thread.reader.forget();
        }
        Some(closing)
    }

    /// Switches the mode for the program itself. The publisher will fetch the closing snapshot.
    pub(crate) fn switch_by_program(&mut self, mode: Mode, histograms: bool) {
        if let Some(closing) = self.switch_to(mode, histograms) {
            self.keep_closing(&closing);
        }
    }

    /// Enables or disables sites. Returns how many known sites match, or `None` if there are too many rules.
    pub(crate) fn rule(&mut self, pattern: Pattern, off: bool) -> Option<usize> {
        let matched = self.rules.add(pattern, off);
        functions::follow();
        matched
    }

    /// Watches the functions that a pattern matches, and switches them on if they are off. Returns false if the maximum number of
    /// patterns is watched.
    pub(crate) fn watch(&mut self, pattern: Pattern, over: Over) -> bool {
        let is_watched = self.watches.add(pattern, over);
        for pattern in self.watches.switched_off() {
            self.rule(pattern, false);
        }
        is_watched
    }

    /// Stops watching the functions of a pattern; `*` stands for all patterns.
    pub(crate) fn unwatch(&mut self, pattern: Pattern) {
        self.watches.remove(pattern);
    }

    /// Samples the program counter `hz` times a second of each thread's CPU time; 0 ends the sampling.
    pub(crate) fn sample_lines(&mut self, hz: u32) {
        self.lines.ask_for(hz);
    }

    /// Takes the samples of the program counter, if sampling is on, and looks for new threads.
    pub(crate) fn look_at_lines(&mut self) {
        self.lines.look();
    }

    /// Removes the rule of a pattern.
    pub(crate) fn forget_rule(&mut self, pattern: Pattern) {
        self.rules.forget(pattern);
        functions::follow();
    }

    /// Applies the rules to sites met since the last call.
    pub(crate) fn look_at_sites(&mut self) {
        self.rules.look();
        functions::follow();
    }

    fn describe(&mut self, snapshot: &mut Snapshot, kind: CaptureKind, config: &Config, lost: Lost) {
        self.seq += 1;
        let clock = config.chosen.clock;
        let now = Moment::now(clock);
        snapshot.process = Process {
            name: self.session.name.clone(),
            pid: std::process::id(),
            started_unix_ns: config.started_unix_ns,
            uptime_ns: now.ns.saturating_sub(config.started_ns),
            warnings: self.session.warnings.clone(),
            copies: copies::files()
                .iter()
                .map(|file| file.display().to_string())
                .collect(),
        };
        snapshot.process.warnings.extend(copies::warning());
        if live_blocks::lost() > 0 {
            snapshot.process.warnings.push(LIVE_TOO_LOW.into());
        }
        snapshot.clock = ClockInfo {
            source: clock.source(),
            ticks_per_second: config::ticks_per_second(),
            reason: config.chosen.reason.into(),
            errors: lost.clock_errors,
            epoch: config::CLOCK_RATE.breaks(),
        };
        snapshot.drains_ns = self.session.drains_ns;
        snapshot.capture = CaptureInfo {
            mode: self.switch().mode,
            kind,
            seq: self.seq,
            tick: now.tick,
            unix_ns: os::unix_ns(),
            interval_ns: self.session.interval_ns,
            reset_epoch: self.reset_epoch,
            since_reset_ns: self.since_reset_ns(),
            withdraws: self.withdrawn,
            pruned: 0,
            losses: lost.losses,
            cost: self.session.cost,
            viewers: self.session.viewers,
        };
    }

    /// Begins a new reset epoch, and returns the snapshot that closes the old one.
    pub(crate) fn reset(&mut self) -> Snapshot {
        // Numbers of values that arrive during this capture may or may not be in the closing snapshot.
        numbers::begin_stretch();
        let closing = self.capture(CaptureKind::Closing);
        numbers::begin_stretch();
        for thread in self.live.values_mut() {
            thread.baseline.reset();
        }
        self.finished.reset();
        self.watches.reset();
        self.lines.reset();
        self.undo = Some((self.reset_epoch, self.reset_ns, self.samples_base));
        self.samples_base = self.samples;
        self.withdrawn = None;
        self.reset_epoch += 1;
        self.reset_ns = Some(os::monotonic_ns());
        closing
    }

    /// Resets for the program itself. The publisher will fetch the closing snapshot.
    pub(crate) fn reset_by_program(&mut self) -> Snapshot {
        let closing = self.reset();
        self.keep_closing(&closing);
        closing
    }

    fn keep_closing(&mut self, closing: &Snapshot) {
        if self.session.publishing && self.closings.len() < CLOSINGS_MAX {
            self.closings.push_back(closing.clone());
        }
    }

    /// Makes the last reset final, because ticks before it are of another kind than ticks from now on.
    pub(crate) fn forget_undo(&mut self) {
        self.undo = None;
    }

    /// Notes that the publisher starts or stops. Closing snapshots for an earlier publisher are dropped.
    pub(crate) fn set_publishing(&mut self, publishing: bool) {
        self.session.publishing = publishing;
        self.closings.clear();
    }

    /// Forgets the initial mode, because the program has chosen another one before anything was counted.
    pub(crate) fn forget_beginning(&mut self) {
        self.epoch = None;
        self.sampled_at = None;
    }

    /// Returns the closing snapshots of resets by the program since the last call, oldest first.
    pub(crate) fn take_closings(&mut self) -> VecDeque<Snapshot> {
        std::mem::take(&mut self.closings)
    }

    /// Returns whether [`Self::take_closings`] would return any.
    pub(crate) fn has_closings(&self) -> bool {
        !self.closings.is_empty()
    }

    /// Undoes the last reset. Returns false if there is no reset to undo.
    pub(crate) fn undo_reset(&mut self) -> bool {
        let Some((epoch, reset_ns, samples_base)) = self.undo.take() else {
            return false;
        };
        for thread in self.live.values_mut() {
            thread.baseline.undo();
        }
        self.finished.undo();
        self.lines.undo();
        self.withdrawn = Some(epoch);
        self.reset_epoch += 1;
        self.reset_ns = reset_ns;
        self.samples_base = samples_base;
        true
    }

    /// Merges an ended thread into the finished threads of its name, and gives its block back. Both happen under the lock, so
    /// that the thread counts once. The tree must get no more events.
    pub(crate) fn finish_thread(&mut self, block: &'static Block, kernel_name: [u8; 16], cpu_ns: u64) {
        // The lock is held, so no capture has seen a later tick than the one charged here.
        block.tree.catch_up_if_alarmed(config::exact_path());
        block.tree.end_all(config::now);
        let name = text_of(&kernel_name);
        self.watches.finish(block, &mut self.sites);
        let address = std::ptr::from_ref(block).addr();
        let tid = block.tid.load(Ordering::Relaxed);
        let new = || LiveThread::named(thread_name(tid, &name));
        let mut thread = self.live.remove(&address).unwrap_or_else(new);
        if thread.name == UNNAMED {
            // A capture that first saw it after its end found no name.
            thread.name = thread_name(tid, &name);
        }
        #[cfg(all(feature = "functions", target_arch = "x86_64"))]
        if functions::have_a_budget() {
            let mode = self.switch().mode;
            self.ended_functions.add(&block.tree, mode, &thread.sampled);
        }
        let reading = thread.read(block, &mut self.sites, Some(cpu_ns));
        let most = config::get().max_process_nodes;
        let pruned = self.sites.id(&PRUNED);
        let (name, places) = self.finished.add(
            &thread.name,
            &thread.reader.rows,
            &thread.baseline,
            reading.lost,
            most,
            pruned,
        );
        let place = |node: u32| places.get(node as usize).copied().unwrap_or(0);
        let heir = |node| Owner::finished(name, place(node));
        live_blocks::hand_over(&block.tree, heir);
        self.lines.hand_over(&block.tree, heir);
        #[cfg(all(feature = "functions", target_arch = "x86_64"))]
        if thread.reader.has_futures() {
            calls_by_future::hand_over(&block.tree, heir);
        }
        registry::forget(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::record::tree::NO_LIMIT;

    #[test]
    fn a_look_decided_on_before_a_switch_gave_time_to_another_mode() {
        let mut state = lock().unwrap();
        for (mode, looks) in [
            (Mode::Exact, 0),
            (Mode::Adaptive, 1),
            (Mode::Sampled, 1),
            (Mode::Off, 0),
        ] {
            state.epoch = Some(Switch {
                mode,
                ..mode_switch::newest()
            });
            let before = state.samples;
            state.sample();
            assert_eq!(state.samples.count - before.count, looks, "{mode:?}");
        }
        state.epoch = None;
    }

    #[test]
    fn a_look_that_meets_an_event_is_no_time_of_the_program() {
        let block = registry::take().unwrap();
        assert!(block.tree.open(0, NO_LIMIT, 10, 100));
        let root = block.tree.current.get().unwrap();
        let mut thread = LiveThread::new(0);
        let mut look = || thread.sample(block, 7, Mode::Sampled);
        assert!(look());
        // The first event leaves the current node in place, and the second takes it out.
        block.tree.set_in_event(true);
        assert!(!look());
        block.tree.set_in_event(false);
        block.tree.mark();
        assert!(!look());
        block.tree.put(root);
        assert!(look());
        assert_eq!(thread.sampled, [14]);
        registry::forget(block);
    }
}
