//! Charges the gap between two events to a node, or to no node if the clock went backward or too far forward.

use super::{PAUSED, Tree};
use crate::enabled::platform::sync::{Ordering, add};
use crate::enabled::record::node::Node;

impl Tree {
    /// Charges the time since the last event to `node`. Returns the tick from which on time counts again: `now`, or a later tick
    /// if examining the gap took time. The beginnings of the open calls are then moved forward by this time. Returns `None` if
    /// the gap could not be charged.
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

    /// Charges the time from the last event to tick `then`, at which the mode was switched.
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

    /// Lowers the limit of gaps that are charged without being examined.
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
        // SYNC POINT: the counters before `last`.
        self.last.store(now, Ordering::Release);
    }

    /// Handles gaps in which the thread may have been off its CPU, and gaps that are not charged. A gap is not charged if
    /// the thread is paused, or the clock went backward or too far forward. Returns the same as [`Self::charge`].
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

    /// Excludes the `ticks` after tick `then`, which belong to no scope, from the call of `innermost` and the calls around it. No
    /// call inside `innermost` may have a known beginning.
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
            // Lowers the limit, so that the clock's later step forward is examined even if it is as short as a usual gap.
            let limit = self.limit_set.load(Ordering::Relaxed);
            self.limit.store(limit.min(step - 1), Ordering::Relaxed);
        }
        self.last.store(now, Ordering::Release);
    }

    /// Returns a gap without the step forward that has made up for the clock's step backward. Otherwise the time before
    /// the step backward would be charged again.
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

    /// Counts a gap of `node` that is unknown or not charged.
    #[cold]
    pub(crate) fn lose_gap(&self, node: &'static Node) {
        if let Some(errors) = self.errors.make(node.index()) {
            add(errors, 1);
        }
        add(&self.clock_errors, 1);
    }

    /// Returns the number of gaps of a node that were not charged.
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
