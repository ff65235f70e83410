//! The time since the last event in a tree. It is charged to a node only when the next event occurs.

use crate::enabled::capture::baseline::{Counts, Measured};
use crate::enabled::platform::off_cpu::Clocks;
use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::mode_switch;
use crate::enabled::record::tree::{PAUSED, Tree};
use crate::enabled::record::waits::ticks_per_ns;

/// The gap that was open at the last reading. A gap is the time between two events.
#[derive(Debug, Default)]
pub(super) struct OpenGap {
    /// Tick of the event that began the gap.
    last: u64,
    /// Ticks of the gap that the thread spent off its CPU.
    off: u64,
    /// The thread's clocks at the last reading.
    clocks: Clocks,
    /// Tick of the last reading that added the time of an open gap to rows, and the rows to which it was added.
    shown_at: u64,
    shown: Vec<Shown>,
}

/// A row to which the last reading added time of an open gap, with the resulting amounts.
#[derive(Debug)]
struct Shown {
    index: usize,
    ticks: u64,
    waiting: u64,
}

/// Time that will be charged at the tree's next event.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Ticks up to the first mode switch that the thread has not caught up with yet. They belong to the innermost timed call.
    pub(super) before: u64,
    /// Ticks after that switch. They belong to the innermost call, because from then on every call is timed.
    pub(super) behind: u64,
}

/// Returns the time that will be charged at the tree's next event. This is the time since the last event, which was at tick
/// `last`, except for periods in modes that do not measure time.
pub(super) fn pending(tree: &Tree, last: u64, now: u64, limit: u64) -> Pending {
    // A gap that is longer than the limit is not charged.
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
    /// Returns how many of the `pending` ticks the thread spent off its CPU during the gap that began with the event at tick
    /// `last`. If an earlier reading has already seen this gap, the ticks since that reading are exact.
    pub(super) fn off(&mut self, tree: &Tree, last: u64, pending: u64, clocks: Clocks) -> u64 {
        let first = tree.open_wait(pending, clocks);
        self.off = match ticks_per_ns(clocks.wall_ns) {
            Some(rate) if self.last == last => {
                let since = Clocks {
                    wall_ns: clocks.wall_ns.saturating_sub(self.clocks.wall_ns),
                    cpu_ns: clocks.cpu_ns.saturating_sub(self.clocks.cpu_ns),
                };
                let more = (since.off_ns() as f64 * rate) as u64;
                self.off.saturating_add(more).max(first)
            }
            _ => first,
        };
        self.off = self.off.min(pending);
        self.last = last;
        self.clocks = clocks;
        self.off
    }

    /// Discards what earlier readings added to rows, and starts recording what the reading at tick `now` adds.
    pub(super) fn begin_to_show(&mut self, now: u64) {
        self.shown_at = now;
        self.shown.clear();
    }

    /// Records the amounts of a row after time of the gap was added to it.
    pub(super) fn show(&mut self, index: usize, counts: &[Counts], measured: &[Measured]) {
        self.shown.push(Shown {
            index,
            ticks: counts.get(index).map_or(0, |counts| counts.ticks),
            waiting: measured.get(index).map_or(0, Measured::waiting),
        });
    }

    /// Keeps rows from falling below what the last reading showed, unless the thread has since charged the time of the
    /// gap. `last` is the tick of the thread's last event. The thread may have been preempted in the middle of the
    /// event that ends the gap, in which case its counters still lack the time of the gap.
    pub(super) fn keep(&self, last: u64, counts: &mut [Counts], measured: &mut Vec<Measured>) {
        if last >= self.shown_at {
            return;
        }
        for shown in &self.shown {
            if let Some(counts) = counts.get_mut(shown.index) {
                counts.ticks = counts.ticks.max(shown.ticks);
            }
            if shown.waiting > 0 {
                // `measured` is empty if nothing was measured before the gap.
                measured.resize(counts.len(), Measured::default());
                if let Some(measured) = measured.get_mut(shown.index) {
                    measured.add_waiting(shown.waiting.saturating_sub(measured.waiting()));
                }
            }
        }
    }
}
