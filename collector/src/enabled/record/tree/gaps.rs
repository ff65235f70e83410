//! Charges the gap between two events to a node, or to no node if the clock went backward or too far forward.

use super::{PAUSED, Tree};
use crate::enabled::platform::sync::{Ordering, add};
use crate::enabled::record::node::Node;

impl Tree {
    /// Charges the time since the last event to `node`. Returns the tick from which time is charged next. This is `now`, unless
    /// examining the gap took time. In that case it is a later tick, and the beginnings of the open calls have been moved forward
    /// by the time that the examination took. Returns `None` if the gap could not be charged.
    #[inline(always)]
    pub(crate) fn charge(&self, node: &'static Node, now: u64) -> Option<u64> {
        let gap = now.wrapping_sub(self.last.load(Ordering::Relaxed));
        let is_usual = gap <= self.limit.load(Ordering::Relaxed);
        if is_usual {
            self.charge_gap(node, gap, now);
            return Some(now);
        }
        self.charge_unusual_gap(node, now)
    }

    /// Charges the time between the last event and a mode switch at tick `then`.
    pub(crate) fn charge_past(&self, node: &'static Node, then: u64) {
        let gap = then.wrapping_sub(self.last.load(Ordering::Relaxed));
        if gap > self.gap_max.load(Ordering::Relaxed) {
            self.refuse_gap(node, then);
            return;
        }
        let gap = self.take_step_out(gap);
        self.place_past_wait(node, gap, then);
        self.charge_gap(node, gap, then);
    }

    /// Lowers the limit up to which gaps are charged without further examination.
    pub(crate) fn lower_limit(&self, limit: u64) {
        let limit = limit.min(self.gap_max.load(Ordering::Relaxed));
        self.limit_set.store(limit, Ordering::Relaxed);
        if self.last.load(Ordering::Relaxed) != PAUSED {
            self.limit.store(limit, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    pub(super) fn charge_gap(&self, node: &'static Node, gap: u64, now: u64) {
        add(&node.self_ticks, gap);
        // SYNC POINT: the counters are stored before `last`.
        self.last.store(now, Ordering::Release);
    }

    /// Handles gaps in which the thread may have been off its CPU, and gaps that are not charged. A gap is not charged if the
    /// thread is paused, or if the clock went backward or too far forward. Returns the same as [`Self::charge`].
    #[cold]
    #[inline(never)]
    pub(super) fn charge_unusual_gap(&self, node: &'static Node, now: u64) -> Option<u64> {
        let gap = now.wrapping_sub(self.last.load(Ordering::Relaxed));
        if gap > self.gap_max.load(Ordering::Relaxed) {
            self.refuse_gap(node, now);
            return None;
        }
        let gap = self.take_step_out(gap);
        let looked = self.place_wait(node, gap, now);
        self.charge_gap(node, gap, now);
        if looked > 0 {
            self.leave_out(node, now, looked);
        }
        Some(now + looked)
    }

    /// Excludes a period that belongs to no scope from the call of `innermost` and the calls around it, by moving their
    /// beginnings forward. The period begins at tick `then` and lasts for `ticks`. No call inside `innermost` may have a known
    /// beginning.
    pub(crate) fn leave_out(&self, innermost: &'static Node, then: u64, ticks: u64) {
        for node in innermost.up() {
            if let Some(began) = node.known_beginning() {
                node.began.store(began + ticks, Ordering::Relaxed);
            }
        }
        self.last.store(then + ticks, Ordering::Release);
    }

    fn refuse_gap(&self, node: &'static Node, now: u64) {
        let last = self.last.load(Ordering::Relaxed);
        if last == PAUSED {
            return;
        }
        self.lose_gap(node);
        if let Some(back) = last.checked_sub(now) {
            let step = self.stepped_back.load(Ordering::Relaxed).saturating_add(back);
            self.stepped_back.store(step, Ordering::Relaxed);
            // Lowers the limit, so that a later step forward of the clock is examined even if it is as short as a usual gap.
            let limit = self.limit_set.load(Ordering::Relaxed);
            self.limit.store(limit.min(step - 1), Ordering::Relaxed);
        }
        self.last.store(now, Ordering::Release);
    }

    /// If the clock has stepped backward, a gap may include the step forward that makes up for it. Returns the gap without this
    /// step forward. Otherwise the time before the step backward would be charged twice.
    pub(crate) fn without_step(&self, gap: u64) -> u64 {
        let step = self.stepped_back.load(Ordering::Relaxed);
        gap.checked_sub(step).unwrap_or(gap)
    }

    fn take_step_out(&self, gap: u64) -> u64 {
        let without = self.without_step(gap);
        if without != gap {
            self.forget_step();
        }
        without
    }

    pub(super) fn forget_step(&self) {
        self.stepped_back.store(0, Ordering::Relaxed);
        self.limit
            .store(self.limit_set.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Counts a gap that could not be charged, as an error of `node`.
    #[cold]
    pub(crate) fn lose_gap(&self, node: &'static Node) {
        if let Some(errors) = self.errors.make(node.index()) {
            add(errors, 1);
        }
        add(&self.clock_errors, 1);
    }

    /// Returns how many gaps of a node were not charged.
    pub(crate) fn errors_of(&self, index: u32) -> u64 {
        self.errors
            .get(index)
            .map_or(0, |errors| errors.load(Ordering::Relaxed))
    }

    /// Returns the node to which time is charged: the innermost node whose call is timed.
    pub(crate) fn charged(node: &'static Node) -> &'static Node {
        let mut at = node;
        while !at.is_timed()
            && let Some(parent) = at.parent.get()
        {
            at = parent;
        }
        at
    }
}
