//! The collector's state apart from the trees, and the order of steps in captures, resets and mode switches.
//!
//! A counter is written only by the thread that it belongs to, so a reset does not write counters. Instead, the state
//! keeps a baseline for each node. A snapshot shows the counter minus the baseline, and a reset raises the baseline by
//! the amount *shown*. An amount that a capture missed is therefore shown in the next epoch, and the sum over all
//! epochs is exactly the lifetime total.
//!
//! The invariants of a field are documented in the file that defines its type. Two invariants span several fields: all
//! fields begin an epoch together, right after a capture, and each thread is counted in exactly one of `live` and
//! `finished`.

use tickscope_format::Snapshot;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{
    BORDER_NS, CaptureInfo, CaptureKind, ClockInfo, Measuring, Mode, Over, Thread,
};

use crate::enabled::capture::estimate::CALLEES_NS;
use crate::enabled::capture::finished_threads::{FinishedThreads, PRUNED};
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use crate::enabled::capture::function_sums::FunctionSums;
use crate::enabled::capture::functions;
use crate::enabled::capture::lines::Lines;
use crate::enabled::capture::live_threads::LiveThreads;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use crate::enabled::capture::lost_futures;
use crate::enabled::capture::reset_epochs::ResetEpochs;
use crate::enabled::capture::row::{Epoch, Lost};
use crate::enabled::capture::sampling::{Sampling, wants_samples};
use crate::enabled::capture::session_info::SessionInfo;
use crate::enabled::capture::site_ids::SiteIds;
use crate::enabled::capture::snapshot_rows::{ThreadTree, append};
use crate::enabled::capture::task_reader::TaskReader;
use crate::enabled::capture::waiting_looks::{self, Looks};
use crate::enabled::capture::waits_in::named;
use crate::enabled::capture::watches::Watches;
use crate::enabled::platform::os;
use crate::enabled::platform::sync::Ordering;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use crate::enabled::record::calls_by_future;
use crate::enabled::record::live_blocks::{self, Live};
use crate::enabled::record::mode_switch::{self, Switch};
use crate::enabled::record::numbers;
use crate::enabled::record::owner::Owner;
use crate::enabled::record::registry::{self, Block};
use crate::enabled::record::site_table::{self, Rules};
use crate::enabled::runtime::clock_rate::Moment;
use crate::enabled::runtime::config;

/// The state; `capture_lock` guards it.
#[derive(Debug, Default)]
pub(crate) struct CollectorState {
    pub(crate) session: SessionInfo,
    pub(crate) epochs: ResetEpochs,
    sites: SiteIds,
    rules: Rules,
    sampling: Sampling,
    live: LiveThreads,
    finished: FinishedThreads,
    tasks: TaskReader,
    pub(crate) watches: Watches,
    pub(crate) lines: Lines,
    /// Number of snapshots so far.
    captures: u64,
}

impl CollectorState {
    /// Captures a snapshot. The amounts that it shows are also stored with the baselines, for the next reset.
    pub(crate) fn capture(&mut self, kind: CaptureKind) -> Snapshot {
        self.capture_with(kind, kind != CaptureKind::Periodic)
    }

    /// Captures a snapshot. If `is_whole` is true, the snapshot contains everything that was kept about watched calls,
    /// and the calls in flight are read anew.
    pub(crate) fn capture_with(&mut self, kind: CaptureKind, is_whole: bool) -> Snapshot {
        #[cfg(all(feature = "functions", target_arch = "x86_64"))]
        for row in lost_futures::end(is_whole) {
            self.finished.count_vanished(row);
        }
        let mut snapshot = Snapshot::default();
        let epoch = self.epoch();
        let lost = self.show_threads(&mut snapshot, &epoch);
        if is_whole {
            self.tasks = TaskReader::default();
        }
        snapshot.tasks = self.tasks.read(&mut self.sites, config::now());
        self.show_sites(&mut snapshot, &epoch, lost);
        self.describe(&mut snapshot, kind, lost);
        self.watches.show(&mut snapshot, is_whole, &mut self.sites);
        self.lines.show(&mut snapshot, is_whole);
        snapshot.sites = self.sites.list();
        snapshot
    }

    /// Returns how the rows of this epoch were measured.
    fn epoch(&mut self) -> Epoch {
        let Switch { mode, histograms, .. } = self.epochs.switch();
        let ticks_per_ns = config::ticks_per_second() / 1e9;
        let since_reset = self.epochs.since_reset_ns() as f64 * ticks_per_ns;
        Epoch {
            mode,
            histograms: histograms && mode.charges_time(),
            timed_ticks: self.session.timed_ns.0 * ticks_per_ns,
            timed_within_ticks: self.session.timed_ns.1 * ticks_per_ns,
            period_ticks: self.sampling.period_ticks(mode, since_reset),
            doubt_ticks: self.session.doubt_ns() * ticks_per_ns,
            border_ticks: BORDER_NS * ticks_per_ns,
            callees_ticks: CALLEES_NS * ticks_per_ns,
        }
    }

    /// Reads all threads into a snapshot, and returns what they have lost.
    fn show_threads(&mut self, snapshot: &mut Snapshot, epoch: &Epoch) -> Lost {
        let mut lost = self.finished.lost;
        lost.losses.dropped += registry::dropped_calls();
        let live = Live::read();
        let (mut waits_in, mut doing) = (Vec::new(), Vec::new());
        self.watches.begin_reading();
        self.lines.drain();
        for block in registry::living() {
            let tid = block.tid.load(Ordering::Relaxed);
            let thread = self.live.of(block);
            let reading = thread.read(block, &mut self.sites, os::cpu_ns_of(tid));
            self.watches.read(block, &mut self.sites, false);
            lost += reading.lost;
            let does = waiting_looks::doing(block, thread.looked, config::now());
            doing.extend(does.map(|does| (snapshot.threads.len() as u32, does)));
            let facts = Thread {
                name: thread.name.clone(),
                tid,
                state: reading.state,
                count: 1,
                cpu_ns: thread.baseline.cpu_shown(),
                ..Thread::default()
            };
            let tree = ThreadTree {
                rows: &thread.reader.rows,
                open: &reading.open,
                live: &live.of(Owner::of_tree(&block.tree)),
                sampled: &self.lines.of(Owner::of_tree(&block.tree)),
            };
            append(snapshot, &mut waits_in, facts, tree, &mut thread.baseline, epoch);
        }
        self.finished
            .show(snapshot, &mut waits_in, &live, &self.lines, epoch);
        snapshot.waits = config::get().waits && epoch.mode.charges_time();
        if snapshot.waits {
            snapshot.waits_in = named(&waits_in, &doing);
        }
        lost
    }

    /// Describes in a snapshot which sites are measured, and how.
    fn show_sites(&mut self, snapshot: &mut Snapshot, epoch: &Epoch, lost: Lost) {
        self.rules.look();
        let mut off_sites = Vec::new();
        for site in site_table::met() {
            // Every site that the program has reached is listed, even if it has no row.
            let id = self.sites.id(site);
            if site.is_ruled_off() {
                off_sites.push(id);
            }
        }
        let reset_ns = self.epochs.reset_ns();
        let was_off = site_table::met().chain(site_table::unmet_functions());
        let was_off = was_off.filter(|site| site.was_off_since(reset_ns));
        snapshot.was_off = was_off.map(|site| self.sites.id(site)).collect();
        snapshot.functions = lost.ends.described(&self.session.functions, &mut self.sites);
        // Functions that are off from the start have no row in any thread.
        off_sites.extend(snapshot.over_budget().iter().map(|over| over.site));
        let is_estimated = epoch.mode.has_estimated_times();
        snapshot.measuring = Measuring {
            histograms: epoch.histograms,
            sampling_hz: if is_estimated {
                self.session.sampling_hz
            } else {
                0.0
            },
            samples: self.sampling.looks(),
            rules: self.rules.list(),
            off_sites,
        };
        snapshot.settle_off_sites();
        snapshot.seen_cost = is_estimated.then(|| self.sampling.seen_cost());
    }

    /// Describes in a snapshot where, when and how it was made.
    fn describe(&mut self, snapshot: &mut Snapshot, kind: CaptureKind, lost: Lost) {
        self.captures += 1;
        let chosen = &config::get().chosen;
        let now = Moment::now(chosen.clock);
        snapshot.process = self.session.process(now.ns);
        snapshot.clock = ClockInfo {
            source: chosen.clock.source(),
            ticks_per_second: config::ticks_per_second(),
            reason: chosen.reason.into(),
            errors: lost.clock_errors,
            epoch: config::CLOCK_RATE.breaks(),
        };
        snapshot.drains_ns = self.session.drains_ns;
        snapshot.capture = CaptureInfo {
            kind,
            seq: self.captures,
            tick: now.tick,
            unix_ns: os::unix_ns(),
            interval_ns: self.session.interval_ns,
            losses: lost.losses,
            cost: self.session.cost,
            viewers: self.session.viewers,
            ..self.epochs.described()
        };
    }

    /// Returns the sums of each function over all threads, including ended threads.
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    pub(crate) fn function_sums(&self, mode: Mode) -> FunctionSums {
        let mut sums = self.finished.functions.clone();
        for block in registry::living() {
            sums.add(&block.tree, mode, self.live.sampled(block));
        }
        sums
    }

    /// Finds the current node of each thread, and adds the time since the last sample to this node.
    pub(crate) fn sample(&mut self) {
        // The mode may have been switched while the publisher waited for the lock.
        let mode = self.epochs.switch().mode;
        if !wants_samples(mode) {
            return;
        }
        let passed = self.sampling.look(mode, self.session.sampling_hz);
        for block in registry::living() {
            if !self.live.of(block).sample(block, passed, mode) {
                self.sampling.meet_event(passed);
            }
        }
    }

    /// Finds the system calls in which threads are waiting, if the mode of this epoch charges time.
    pub(crate) fn look_at_waits(&mut self, looks: &mut Looks) {
        if self.epochs.switch().mode.charges_time() {
            self.live.look_at_waits(looks);
        }
    }

    /// Switches to another mode, in a new reset epoch. Returns the snapshot that closes the old epoch, or `None` if
    /// nothing changes.
    pub(crate) fn switch_to(&mut self, mode: Mode, histograms: bool) -> Option<Snapshot> {
        let before = self.epochs.switch();
        if (before.mode, before.histograms) == (mode, histograms) {
            return None;
        }
        if before.mode.has_estimated_times() {
            self.sample();
        }
        let closing = self.reset();
        self.epochs.forget_undo();
        let tick = config::now();
        registry::switch_to(mode, histograms, tick);
        site_table::update_states();
        functions::follow();
        self.epochs.set_switch(Some(mode_switch::newest()));
        self.sampling.looked_at = Some(tick);
        for thread in self.live.all() {
            thread.reader.forget();
        }
        Some(closing)
    }

    /// Switches the mode at the program's own request, and keeps the closing snapshot for the publisher.
    pub(crate) fn switch_by_program(&mut self, mode: Mode, histograms: bool) {
        if let Some(closing) = self.switch_to(mode, histograms) {
            self.epochs.keep_closing(&closing);
        }
    }

    /// Forgets the mode and the last sampling round. Nothing has been counted yet, so the program may still choose
    /// another mode.
    pub(crate) fn forget_beginning(&mut self) {
        self.epochs.set_switch(None);
        self.sampling.looked_at = None;
    }

    /// Begins a new reset epoch, and returns the snapshot that closes the old epoch.
    pub(crate) fn reset(&mut self) -> Snapshot {
        // A value recorded during this capture may belong to either epoch, so the capture gets a stretch of its own
        // (see `record/numbers.rs`).
        numbers::begin_stretch();
        let closing = self.capture(CaptureKind::Closing);
        numbers::begin_stretch();
        for thread in self.live.all() {
            thread.baseline.reset();
        }
        self.finished.reset();
        self.watches.reset();
        self.lines.reset();
        self.sampling.sums.reset();
        self.epochs.reset();
        closing
    }

    /// Resets at the program's own request, and keeps the closing snapshot for the publisher.
    pub(crate) fn reset_by_program(&mut self) -> Snapshot {
        let closing = self.reset();
        self.epochs.keep_closing(&closing);
        closing
    }

    /// Undoes the last reset. Returns false if there is no reset to undo.
    pub(crate) fn undo_reset(&mut self) -> bool {
        if !self.epochs.undo() {
            return false;
        }
        for thread in self.live.all() {
            thread.baseline.undo();
        }
        self.finished.undo();
        self.lines.undo();
        self.sampling.sums.undo();
        true
    }

    /// Enables or disables sites. Returns how many known sites match, or `None` if there are too many rules.
    pub(crate) fn rule(&mut self, pattern: Pattern, off: bool) -> Option<usize> {
        let matched = self.rules.add(pattern, off);
        functions::follow();
        matched
    }

    pub(crate) fn forget_rule(&mut self, pattern: Pattern) {
        self.rules.forget(pattern);
        functions::follow();
    }

    /// Applies the rules to sites that the program has reached since the last call.
    pub(crate) fn look_at_sites(&mut self) {
        self.rules.look();
        functions::follow();
    }

    /// Watches the functions that a pattern matches, and switches them on if they are off. Returns false if the maximum
    /// number of patterns is already watched.
    pub(crate) fn watch(&mut self, pattern: Pattern, over: Over) -> bool {
        let is_watched = self.watches.add(pattern, over);
        for pattern in self.watches.switched_off() {
            self.rule(pattern, false);
        }
        is_watched
    }

    /// Merges an ended thread into the finished threads of its name, and gives its block back. Both happen under the lock, so
    /// that the thread is counted exactly once. The tree must not receive any more events.
    pub(crate) fn finish_thread(&mut self, block: &'static Block, kernel_name: [u8; 16], cpu_ns: u64) {
        // Time is charged up to now. Because the lock is held, no capture can have shown any time after that.
        block.tree.catch_up_if_alarmed(config::exact_path());
        block.tree.end_all(true, config::now);
        self.watches.read(block, &mut self.sites, true);
        let mut thread = self.live.remove(block, &kernel_name);
        #[cfg(all(feature = "functions", target_arch = "x86_64"))]
        if functions::have_a_budget() {
            let mode = self.epochs.switch().mode;
            self.finished.functions.add(&block.tree, mode, &thread.sampled);
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

    #[test]
    fn a_look_decided_on_before_a_switch_gave_time_to_another_mode() {
        let mut state = CollectorState::default();
        for (mode, looks) in [
            (Mode::Exact, 0),
            (Mode::Adaptive, 1),
            (Mode::Sampled, 1),
            (Mode::Off, 0),
        ] {
            state.epochs.set_switch(Some(Switch {
                mode,
                ..mode_switch::newest()
            }));
            let before = state.sampling.looks();
            state.sample();
            assert_eq!(state.sampling.looks() - before, looks, "{mode:?}");
        }
    }
}
