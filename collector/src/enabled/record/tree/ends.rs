//! Ends of calls: in order, out of order, and all at once.

use super::Tree;
use crate::enabled::platform::sync::{Ordering, add};
use crate::enabled::record::journal::Kind;
use crate::enabled::record::node::Node;
use crate::enabled::record::owner::Owner;

impl Tree {
    /// Ends the innermost call at the tick that `now` returns, in a mode that times all calls. Returns true if the call belongs
    /// to `node`; otherwise does nothing and returns false.
    #[inline(always)]
    pub(crate) fn end_innermost(&self, node: &'static Node, now: impl FnOnce() -> u64) -> bool {
        self.end_innermost_numbered(node, || node.calls.load(Ordering::Relaxed), now)
    }

    /// Like [`Self::end_innermost`], but the caller supplies the number of the call. Durations of calls with successive numbers
    /// go to different slots of the buffer.
    #[inline(always)]
    pub(crate) fn end_innermost_numbered(
        &self,
        node: &'static Node,
        number: impl FnOnce() -> u64,
        now: impl FnOnce() -> u64,
    ) -> bool {
        if !self.current.is(node) {
            return false;
        }
        let Some(parent) = node.parent.get() else {
            return false;
        };
        self.mark();
        let now = now();
        // Each branch ends with at most one function call, so the common branch need not save registers.
        let gap = now.wrapping_sub(self.last.load(Ordering::Relaxed));
        if gap > self.limit.load(Ordering::Relaxed) {
            self.end_oddly(node, parent, now);
            return true;
        }
        self.charge_gap(node, gap, now);
        if let Some(latency) = node.latency.get() {
            self.ended.set(Some(node));
            self.guess.copy(&latency.next);
            // If the beginning of the call is unknown, `ticks` is far too large to be buffered.
            let ticks = now.wrapping_sub(node.began.load(Ordering::Relaxed));
            if !latency.buffer(number(), ticks) {
                self.end_flushing(node, parent, now);
                return true;
            }
        } else {
            self.guess.copy(&parent.recent);
        }
        self.put(parent);
        true
    }

    #[cold]
    #[inline(never)]
    fn end_oddly(&self, node: &'static Node, parent: &'static Node, now: u64) {
        if let Some(now) = self.charge_unusual_gap(node, now)
            && let Some(latency) = node.latency.get()
        {
            let ticks = now.wrapping_sub(node.began.load(Ordering::Relaxed));
            if !latency.buffer(node.calls.load(Ordering::Relaxed), ticks) {
                latency.flush(node.lasted(now), &self.latencies);
            }
        }
        self.put(parent);
    }

    /// Ends a call whose duration cannot be buffered, because its slot in the buffer is taken or because it is too long.
    #[inline(never)]
    fn end_flushing(&self, node: &'static Node, parent: &'static Node, now: u64) {
        if let Some(latency) = node.latency.get() {
            latency.flush(node.lasted(now), &self.latencies);
        }
        self.put(parent);
    }

    /// Ends a call that is not the innermost call, at the tick that `clock` returns. All calls inside it are closed as well. If
    /// the call is not open at all, nothing is closed. Both cases are counted as unbalanced.
    #[cold]
    pub(crate) fn end_out_of_order(&self, node: &'static Node, clock: impl Fn() -> u64) {
        let Some(current) = self.take() else {
            add(&self.dropped, 1);
            return;
        };
        let now = clock();
        let leaked = current.up().position(|open| std::ptr::eq(open, node));
        match leaked.zip(node.parent.get()) {
            Some((leaked, parent)) => {
                // Functions that are still open inside the call have been unwound, so they do not count as leaked guards.
                let unwound = self.frames.close_inside(node);
                add(&self.unbalanced, (leaked as u64).saturating_sub(unwound));
                if self.watching.is_open() {
                    let charged = self.charge_noted(current, Kind::Exit, now);
                    if self.is_watched_inside(current, node) {
                        // The watched call's guard was leaked, or will be dropped later.
                        self.discard_watched();
                    }
                    return self.finish_watched(node, parent, now, charged, clock);
                }
                // Only the call of this guard has a known duration; the durations of the calls inside it are unknown.
                if let Some(now) = self.charge(Self::charged(current), now)
                    && let Some(latency) = node.latency.get()
                    && let Some(ticks) = node.lasted(now)
                {
                    latency.flush(Some(ticks), &self.latencies);
                }
                self.put(parent);
            }
            None => {
                add(&self.unbalanced, 1);
                self.put(current);
            }
        }
    }

    /// Ends all open calls at the tick that `now` returns, because the thread `has_ended` or is no longer measured.
    pub(crate) fn end_all(&'static self, has_ended: bool, now: impl FnOnce() -> u64) {
        let (Some(current), Some(root)) = (self.take(), self.root.get()) else {
            return;
        };
        self.discard_watched();
        self.charge(Self::charged(current), now());
        let row_of = |node: &'static Node| Owner::node(self, node.index()).number();
        self.frames.close_all(row_of, has_ended);
        self.slots.clear();
        self.spans.clear();
        self.put(root);
    }
}
