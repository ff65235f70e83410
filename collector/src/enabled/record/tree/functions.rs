//! Beginnings and ends of functions that the compiler has instrumented. The usual events are handled here without a function
//! call. The rare ones are handled like events of scopes.

use super::Tree;
use crate::enabled::platform::off_cpu;
use crate::enabled::platform::sync::{Ordering, add};
use crate::enabled::record::journal::{Kind, TICKS_MAX, event};
use crate::enabled::record::node::Node;

// The fields that most events use fill two cache lines, up to and including `frames.returned`.
const _: () = assert!(std::mem::offset_of!(Tree, frames.returned) + size_of::<u64>() == 128);

impl Tree {
    /// Returns whether the gap up to `now` can be charged without further examination, because it is short, because the thread has
    /// stayed on its CPU, or because the gap is skipped. Counts a skipped gap.
    #[inline(always)]
    pub(crate) fn is_usual_gap(&self, now: u64) -> bool {
        let gap = self.gap_until(now);
        gap <= self.limit.load(Ordering::Relaxed) || self.is_known_gap(gap, now)
    }

    /// Returns whether a gap that ends at tick `now` can be charged as it is. Does what [`Self::charge_unusual_gap`] does in this
    /// case, without a call of another function.
    #[inline(always)]
    fn is_known_gap(&self, gap: u64, now: u64) -> bool {
        let waits = &self.waits;
        let may_be = gap <= self.gap_max.load(Ordering::Relaxed)
            && self.stepped_back.load(Ordering::Relaxed) == 0
            && waits.is_wanted()
            && !self.has_drifted(now);
        if !may_be {
            return false;
        }
        let has_stayed = off_cpu::stayed();
        if has_stayed {
            waits.sure_tick.store(now, Ordering::Relaxed);
        }
        has_stayed || self.is_short_gap(gap) && waits.skips_short_gap()
    }

    /// Returns the ticks since the last event.
    #[inline(always)]
    pub(crate) fn gap_until(&self, now: u64) -> u64 {
        now.wrapping_sub(self.last.load(Ordering::Relaxed))
    }

    /// Returns whether an event of a watched call at tick `now` can be charged and recorded in the journal without further
    /// checks.
    #[inline(always)]
    pub(crate) fn may_note_usually(&self, now: u64) -> bool {
        self.is_usual_gap(now) && self.gap_until(now) <= TICKS_MAX && self.watching.journal.has_space(1)
    }

    /// Records an event of this kind in the journal of the watched call. The usual gap before the event, `ticks` long, is charged
    /// to `node`.
    #[inline(always)]
    pub(crate) fn note_usual(&self, node: &'static Node, kind: Kind, ticks: u64) {
        self.watching.journal.push(event(node.index(), kind, ticks));
    }

    /// Begins `calls` calls of `child` after a gap that is usual ([`Self::is_usual_gap`]). Must be called while `current` is taken
    /// out. `is_adaptive` says whether this is a timed call in adaptive mode.
    #[inline(always)]
    pub(crate) fn begin_usually(
        &self,
        current: &'static Node,
        child: &'static Node,
        now: u64,
        calls: u64,
        is_adaptive: bool,
    ) {
        if is_adaptive && let Some(latency) = child.latency.get() {
            add(&latency.timed, calls);
        }
        let gap = now.wrapping_sub(self.last.load(Ordering::Relaxed));
        self.charge_gap(current, gap, now);
        child.began.store(now, Ordering::Relaxed);
        add(&child.calls, calls);
        self.put(child);
    }

    /// Charges and counts the end of the innermost call, which must belong to `node`. The caller then puts the parent back as
    /// `current`. Returns false, with nothing charged and no call counted, if the gap is not usual or the duration cannot be
    /// buffered. In adaptive mode, the caller chooses the next call to time. `nth` chooses the duration's place in the buffer; if it
    /// is 0, the number of the call does. Several polls of one call would have the same place.
    #[inline(always)]
    pub(crate) fn end_usually(&self, node: &'static Node, now: u64, nth: u64, is_adaptive: bool) -> bool {
        if !self.is_usual_gap(now) {
            return false;
        }
        if let Some(latency) = node.latency.get() {
            let ticks = now.wrapping_sub(node.began.load(Ordering::Relaxed));
            let number = if is_adaptive { &latency.timed } else { &node.calls };
            let call = if nth == 0 {
                number.load(Ordering::Relaxed)
            } else {
                nth
            };
            if !(latency.buffer(call, ticks) || latency.flush_known(call, node.lasted(now))) {
                return false;
            }
            if is_adaptive {
                add(&latency.timed_ticks, ticks);
            }
        }
        self.charge_gap(node, now.wrapping_sub(self.last.load(Ordering::Relaxed)), now);
        true
    }
}
