//! The time since a tree's last event, which the next event will charge.

use crate::enabled::capture::baseline::{Counts, Measured};
use crate::enabled::platform::off_cpu::Clocks;
use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::mode_switch;
use crate::enabled::record::tree::{PAUSED, Tree};
use crate::enabled::record::waits::ticks_per_ns;

/// The gap between events that was open at the last reading.
#[derive(Debug, Default)]
pub(super) struct OpenGap {
    /// Tick of the event before the gap.
    last: u64,
    /// Ticks of the gap in which the thread was off its CPU.
    off: u64,
    /// The thread's clocks at the last reading.
    clocks: Clocks,
    /// Tick of the last reading that showed the time of a gap, and the rows that showed it.
    shown_at: u64,
    shown: Vec<Shown>,
}

/// A row that showed time of an open gap at the last reading, with the amounts that it showed.
#[derive(Debug)]
struct Shown {
    index: usize,
    ticks: u64,
    waiting: u64,
}

/// Time that the tree's next event will charge.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Ticks up to the first mode switch that the thread has not caught up with. They belong to the innermost timed call.
    pub(super) before: u64,
    /// Ticks after that switch. They belong to the innermost call, because every call is timed from then on.
    pub(super) behind: u64,
}

/// Returns the time that a tree's next event will charge: all time since the last event, at tick `last`, in modes that measure
/// time.
pub(super) fn pending(tree: &Tree, last: u64, now: u64, limit: u64) -> Pending {
    // A gap above the limit is not charged.
    let within = |ticks: u64| if ticks <= limit { ticks } else { 0 };
    let mut since = (last != PAUSED).then_some(last);
    let mut pending = Pending::default();
    let mut stretch = &mut pending.before;
    let mut known = tree.caught_up_to.load(Ordering::Acquire);
    for switch in mode_switch::after(known) {
        let tick = since.map_or(switch.tick, |since| switch.tick.max(since));
        if switch.follows(known) {
            *stretch = stretch.saturating_add(since.map_or(0, |since| within(tick - since)));
        }
        known = switch.word;
        since = (switch.is_timed() && !tree.stands_still()).then_some(tick);
        stretch = &mut pending.behind;
    }
    let last = since.map_or(0, |since| tree.without_step(within(now.saturating_sub(since))));
    *stretch = stretch.saturating_add(last);
    pending
}

impl OpenGap {
    /// Returns for how many of the `pending` ticks the thread was off its CPU, in the gap after the event at tick `last`. From the
    /// second reading of a gap on, the ticks since the previous reading are exact.
    pub(super) fn off(&mut self, tree: &Tree, last: u64, pending: u64, clocks: Clocks) -> u64 {
        let first = tree.open_wait(pending, clocks);
        self.off = match ticks_per_ns(clocks.wall_ns) {
            Some(rate) if self.last == last => {
                let wall_ns = clocks.wall_ns.saturating_sub(self.clocks.wall_ns);
                let cpu_ns = clocks.cpu_ns.saturating_sub(self.clocks.cpu_ns);
                let more = (wall_ns.saturating_sub(cpu_ns) as f64 * rate) as u64;
                self.off.saturating_add(more).max(first)
            }
            _ => first,
        };
        self.off = self.off.min(pending);
        self.last = last;
        self.clocks = clocks;
        self.off
    }

    /// Forgets what rows showed before, and begins to record what they show of a gap in a reading at tick `now`.
    pub(super) fn begin_to_show(&mut self, now: u64) {
        self.shown_at = now;
        self.shown.clear();
    }

    /// Records the amounts of a row that shows time of the gap.
    pub(super) fn show(&mut self, index: usize, counts: &[Counts], measured: &[Measured]) {
        self.shown.push(Shown {
            index,
            ticks: counts.get(index).map_or(0, |counts| counts.ticks),
            waiting: measured.get(index).map_or(0, Measured::waiting),
        });
    }

    /// Keeps each row at what it showed of the gap, unless the thread has charged time since; its last event is at tick
    /// `last`. The thread may have lost its CPU in the event that ends the gap, and then its counters lack the time of
    /// the gap.
    pub(super) fn keep(&self, last: u64, counts: &mut [Counts], measured: &mut Vec<Measured>) {
        if last >= self.shown_at {
            return;
        }
        for shown in &self.shown {
            if let Some(counts) = counts.get_mut(shown.index) {
                counts.ticks = counts.ticks.max(shown.ticks);
            }
            if shown.waiting > 0 {
                // `measured` is empty if no row had such amounts before the gap.
                measured.resize(counts.len(), Measured::default());
                if let Some(measured) = measured.get_mut(shown.index) {
                    measured.add_waiting(shown.waiting.saturating_sub(measured.waiting()));
                }
            }
        }
    }
}
