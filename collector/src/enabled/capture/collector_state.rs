//! Live trees to a snapshot, and resets.
//!
//! Nobody but its thread writes a counter, so a reset writes none. The collector's state keep a baseline per node: what is
//! shown is the counter less the baseline, and a reset raises the baseline by what was *shown*. So what a
//! capture could not see is made up in the next epoch, and the sum over all epochs is the lifetime total, to
//! the tick. One lock guards the collector's state; it is never held while encoding or writing.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use tickscope_format::Snapshot;
use tickscope_format::ids::SiteId;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{
    CaptureInfo, CaptureKind, ClockInfo, Cost, Lifetime, Measuring, Mode, Process, Thread,
};

use crate::enabled::capture::baseline::Baseline;
use crate::enabled::capture::finished_threads::{FinishedThreads, PRUNED};
use crate::enabled::capture::row::{Epoch, Lost};
use crate::enabled::capture::site_ids::SiteIds;
use crate::enabled::capture::snapshot_rows::append;
use crate::enabled::capture::tree_reader::{Reader, Reading, settled_current};
use crate::enabled::platform::os;
use crate::enabled::record::mode_switch::{self, Switch};
use crate::enabled::record::registry::{self, Block};
use crate::enabled::record::site_table::{self, Rules};
use crate::enabled::runtime::clock_rate::Moment;
use crate::enabled::runtime::config::{self, Config};

/// Closing snapshots of resets by the program that the publisher has not fetched yet; more are left out.
const CLOSINGS_MAX: usize = 64;

/// What the publisher and the session tell about themselves.
#[derive(Debug)]
pub(crate) struct SessionInfo {
    pub(crate) name: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) interval_ns: u64,
    pub(crate) viewers: u32,
    pub(crate) cost: Cost,
    /// In adaptive mode: what a timed call costs, and how much of that it finds within itself.
    pub(crate) timed_ns: (f64, f64),
    /// How often a second the publisher looks where each thread is, in sampled mode.
    pub(crate) sampling_hz: f64,
    /// Somebody fetches the closing snapshots.
    pub(crate) publishing: bool,
}

/// Everything that is known about the trees beside the trees.
#[derive(Debug)]
pub(crate) struct CollectorState {
    pub(crate) session: SessionInfo,
    sites: SiteIds,
    rules: Rules,
    /// How scopes are measured in this reset epoch; none before anything asked.
    epoch: Option<Switch>,
    /// How often the publisher has looked where each thread is.
    samples: u64,
    samples_base: u64,
    /// When the publisher last looked; none before it did.
    sampled_at: Option<u64>,
    /// CollectorState of live threads, by their block's address.
    live: BTreeMap<usize, LiveThread>,
    folded: FinishedThreads,
    seq: u64,
    reset_epoch: u64,
    /// The monotonic clock at the last reset; none before the first.
    reset_ns: Option<u64>,
    /// The epoch that an undo would bring back, when it began, and the samples before it.
    undo: Option<(u64, Option<u64>, u64)>,
    /// The epoch that the last undo took back.
    withdrawn: Option<u64>,
    closings: VecDeque<Snapshot>,
}

#[derive(Debug)]
struct LiveThread {
    name: String,
    baseline: Baseline,
    reader: Reader,
    /// Ticks that samples gave to each node.
    sampled: Vec<u64>,
}

static BOOKS: Mutex<CollectorState> = Mutex::new(CollectorState {
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
        sampling_hz: 0.0,
        publishing: false,
    },
    sites: SiteIds::new(),
    rules: Rules::new(),
    epoch: None,
    samples: 0,
    samples_base: 0,
    sampled_at: None,
    live: BTreeMap::new(),
    folded: FinishedThreads::new(),
    seq: 0,
    reset_epoch: 0,
    reset_ns: None,
    undo: None,
    withdrawn: None,
    closings: VecDeque::new(),
});

/// The capture lock; none in a forked child, where its holder may not exist.
pub(crate) fn lock() -> Option<MutexGuard<'static, CollectorState>> {
    if config::is_forked_child() {
        return None;
    }
    Some(with_those_who_left(
        BOOKS.lock().unwrap_or_else(PoisonError::into_inner),
    ))
}

/// Folds the threads that have ended without the lock.
fn with_those_who_left(
    mut state: MutexGuard<'static, CollectorState>,
) -> MutexGuard<'static, CollectorState> {
    for (block, name, cpu_ns) in registry::left() {
        // Switches of modes since may have passed it by.
        block.tree.catch_up(config::exact_path());
        state.fold(block, name, cpu_ns);
    }
    state
}

/// The same where whoever asks may hold it himself, further down his stack: none after so long.
pub(crate) fn lock_within(longest: Duration) -> Option<MutexGuard<'static, CollectorState>> {
    lock_alone_within(longest).map(with_those_who_left)
}

/// The same without the work that others have left behind.
pub(crate) fn lock_alone_within(longest: Duration) -> Option<MutexGuard<'static, CollectorState>> {
    if config::is_forked_child() {
        return None;
    }
    let begin = Instant::now();
    loop {
        match BOOKS.try_lock() {
            Ok(state) => return Some(state),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if begin.elapsed() > longest => return None,
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
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
    let name = tickscope_format::os::read_text(path).unwrap_or_default();
    name.trim_ascii_end().into()
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
        }
    }

    /// Reads its tree into its baseline.
    fn read(&mut self, block: &'static Block, sites: &mut SiteIds, cpu_ns: Option<u64>) -> Reading {
        let reading = self.reader.read(block, sites, &mut self.baseline.histograms);
        for (counts, sampled) in self.reader.counts.iter_mut().zip(&self.sampled) {
            counts.ticks = counts.ticks.saturating_add(*sampled);
        }
        self.baseline.show(&self.reader.counts, cpu_ns);
        reading
    }

    /// Gives the time since the last look to the node where the thread is.
    fn sample(&mut self, block: &'static Block, passed: u64) {
        if block.tree.stands_still() {
            return;
        }
        let Some(node) = settled_current(&block.tree) else {
            return;
        };
        let index = node.index() as usize;
        if self.sampled.len() <= index {
            self.sampled.resize(index + 1, 0);
        }
        self.sampled[index] += passed;
    }
}

impl CollectorState {
    /// Takes the picture. Afterwards every baseline knows what it showed.
    pub(crate) fn capture(&mut self, kind: CaptureKind) -> Snapshot {
        let config = config::get();
        let mut snapshot = Snapshot::default();
        let mut lost = self.folded.lost();
        let mut lifetime = Lifetime::default();
        let epoch = self.epoch();
        for block in registry::living() {
            let tid = block.tid.load(Ordering::Acquire);
            let address = std::ptr::from_ref(block).addr();
            let thread = self.live.entry(address).or_insert_with(|| LiveThread::new(tid));
            let reading = thread.read(block, &mut self.sites, os::cpu_ns_of(tid));
            lost.add(reading.lost);
            let facts = Thread {
                name: thread.name.clone(),
                tid,
                state: reading.state,
                count: 1,
                cpu_ns: thread.baseline.cpu_shown(),
                ..Thread::default()
            };
            let handed = append(
                &mut snapshot,
                facts,
                &thread.reader.rows,
                &thread.baseline,
                &reading.open,
                &epoch,
            );
            thread.baseline.hand(handed);
            thread.baseline.add_lifetime(&mut lifetime);
        }
        self.folded.show(&mut snapshot, &mut lifetime, &epoch);
        snapshot.lifetime = lifetime;
        self.rules.look();
        let mut off_sites: Vec<SiteId> = Vec::new();
        for site in site_table::met() {
            let id = self.sites.id(site);
            if site.is_ruled_off() {
                off_sites.push(id);
            }
        }
        off_sites.sort_unstable();
        snapshot.sites = self.sites.list();
        snapshot.measuring = Measuring {
            histograms: epoch.histograms,
            sampling_hz: match epoch.mode {
                Mode::Sampled => self.session.sampling_hz,
                Mode::Exact | Mode::Adaptive | Mode::Off | _ => 0.0,
            },
            samples: self.samples - self.samples_base,
            rules: self.rules.list(),
            off_sites,
        };
        self.describe(&mut snapshot, kind, config, lost);
        snapshot
    }

    /// How scopes are measured in this reset epoch.
    fn switch(&mut self) -> Switch {
        *self.epoch.get_or_insert_with(mode_switch::newest)
    }

    fn epoch(&mut self) -> Epoch {
        let Switch { mode, histograms, .. } = self.switch();
        let ticks_per_ns = config::ticks_per_second() / 1e9;
        let samples = (self.samples - self.samples_base).max(1);
        Epoch {
            mode,
            histograms: histograms && matches!(mode, Mode::Exact | Mode::Adaptive),
            timed_ticks: self.session.timed_ns.0 * ticks_per_ns,
            timed_within_ticks: self.session.timed_ns.1 * ticks_per_ns,
            period_ticks: self.since_reset_ns() as f64 * ticks_per_ns / samples as f64,
        }
    }

    fn since_reset_ns(&self) -> u64 {
        os::monotonic_ns().saturating_sub(self.reset_ns.unwrap_or(config::get().started_ns))
    }

    /// Looks where each thread is, and gives it the time since the last look: sampled mode.
    pub(crate) fn sample(&mut self) {
        // Whoever decided to look may have waited for the collector's state while the mode was switched.
        if self.switch().mode != Mode::Sampled {
            return;
        }
        let now = config::now();
        // Also for a thread that has begun since: another that ended since was not met at all, and on average both come out.
        let passed = now.saturating_sub(self.sampled_at.replace(now).unwrap_or(now));
        self.samples += 1;
        for block in registry::living() {
            let tid = block.tid.load(Ordering::Acquire);
            let address = std::ptr::from_ref(block).addr();
            let thread = self.live.entry(address).or_insert_with(|| LiveThread::new(tid));
            thread.sample(block, passed);
        }
    }

    /// Measures in another way from now on, in a new reset epoch; gives the snapshot that closes the old one. None
    /// where nothing changes.
    pub(crate) fn switch_to(&mut self, mode: Mode, histograms: bool) -> Option<Snapshot> {
        let before = self.switch();
        if (before.mode, before.histograms) == (mode, histograms) {
            return None;
        }
        if before.mode == Mode::Sampled {
            self.sample();
        }
        let closing = self.reset();
        self.forget_undo();
        let tick = config::now();
        registry::switch_to(mode, histograms, tick);
        site_table::update_states();
        self.epoch = Some(mode_switch::newest());
        self.sampled_at = Some(tick);
        for thread in self.live.values_mut() {
            thread.reader.forget();
        }
        Some(closing)
    }

    /// The same by the program itself: the publisher is going to fetch the closing snapshot.
    pub(crate) fn switch_by_program(&mut self, mode: Mode, histograms: bool) {
        if let Some(closing) = self.switch_to(mode, histograms) {
            self.keep_closing(&closing);
        }
    }

    /// Switches sites off or on; gives how many sites match so far, none where there are too many rules.
    pub(crate) fn rule(&mut self, pattern: Pattern, off: bool) -> Option<usize> {
        self.rules.add(pattern, off)
    }

    /// Applies the rules to sites met since the last look.
    pub(crate) fn look_at_sites(&mut self) {
        self.rules.look();
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
        };
        snapshot.clock = ClockInfo {
            source: clock.source(),
            ticks_per_second: config::ticks_per_second(),
            reason: config.chosen.reason.into(),
            errors: lost.clock_errors,
            epoch: config::CLOCK_RATE.breaks(),
        };
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
            dropped: lost.dropped + registry::dropped_calls(),
            unbalanced: lost.unbalanced,
            cost: self.session.cost,
            viewers: self.session.viewers,
        };
    }

    /// Begins a new reset epoch; gives the snapshot that closes the old one.
    pub(crate) fn reset(&mut self) -> Snapshot {
        let closing = self.capture(CaptureKind::Closing);
        for thread in self.live.values_mut() {
            thread.baseline.reset();
        }
        self.folded.reset();
        self.undo = Some((self.reset_epoch, self.reset_ns, self.samples_base));
        self.samples_base = self.samples;
        self.withdrawn = None;
        self.reset_epoch += 1;
        self.reset_ns = Some(os::monotonic_ns());
        closing
    }

    /// A reset by the program itself: the publisher is going to fetch the closing snapshot.
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

    /// The last reset cannot be taken back any more: its ticks are of another kind.
    pub(crate) fn forget_undo(&mut self) {
        self.undo = None;
    }

    /// The publisher comes or goes: nobody fetches what was closed for the one before.
    pub(crate) fn set_publishing(&mut self, publishing: bool) {
        self.session.publishing = publishing;
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
        let Some((epoch, reset_ns, samples_base)) = self.undo.take() else {
            return false;
        };
        for thread in self.live.values_mut() {
            thread.baseline.undo();
        }
        self.folded.undo();
        self.withdrawn = Some(epoch);
        self.reset_epoch += 1;
        self.reset_ns = reset_ns;
        self.samples_base = samples_base;
        true
    }

    /// A thread ends: what it counted goes to the finished threads of its name, and its block is given back, both under
    /// the lock, so that it counts once. Its tree gets no more events.
    pub(crate) fn fold(&mut self, block: &'static Block, kernel_name: [u8; 16], cpu_ns: u64) {
        // Under the lock, so that no capture has seen a later tick than the one that is charged here.
        block.tree.catch_up_if_alarmed(config::exact_path());
        block.tree.end_all(config::now);
        let name = kernel_name.split(|&byte| byte == 0).next().unwrap_or_default();
        let name = String::from_utf8_lossy(name);
        let address = std::ptr::from_ref(block).addr();
        let tid = block.tid.load(Ordering::Relaxed);
        let new = || LiveThread::named(thread_name(tid, &name));
        let mut thread = self.live.remove(&address).unwrap_or_else(new);
        let reading = thread.read(block, &mut self.sites, Some(cpu_ns));
        let most = config::get().max_process_nodes;
        let pruned = self.sites.id(&PRUNED);
        self.folded.add(
            &thread.name,
            &thread.reader.rows,
            &thread.baseline,
            reading.lost,
            most,
            pruned,
        );
        registry::forget(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_decided_on_before_a_switch_gave_time_to_another_mode() {
        let mut state = lock().unwrap();
        for (mode, looks) in [(Mode::Exact, 0), (Mode::Sampled, 1), (Mode::Off, 0)] {
            state.epoch = Some(Switch {
                mode,
                ..mode_switch::newest()
            });
            let before = state.samples;
            state.sample();
            assert_eq!(state.samples - before, looks, "{mode:?}");
        }
        state.epoch = None;
    }
}
