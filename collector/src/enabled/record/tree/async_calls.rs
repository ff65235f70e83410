//! Calls of futures: how they begin at the first poll, and how they end.

use tickscope_format::snapshot::Quantity;

use super::Tree;
use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::in_flight::CallId;
use crate::enabled::record::measures::NodeMeasures;
use crate::enabled::record::node::Node;
use crate::enabled::record::site::Site;

impl Tree {
    /// Begins a call of a future, at tick `began`. The thread has just opened the scope of the call's first known poll. Returns
    /// `None` if an event of this thread is in progress.
    pub(crate) fn begin_call(&self, site: &'static Site, began: u64) -> Option<CallId> {
        let current = self.take()?;
        let call = self.slots.begin(site, began);
        self.put(current);
        Some(call)
    }

    /// Excludes earlier calls of `node` from its calls of futures. A site is treated as a function's until it is known to be a
    /// future's, so `node` may already have counted calls that are not calls of futures. They are excluded when a poll opens
    /// `node` for the first time.
    ///
    /// Must be called when a poll has just opened `node`. `is_call` says whether this poll was counted as a call.
    /// `has_begun_late` says whether the poll belongs to a call that was counted before the site was known to be a future's; that
    /// call is included again. [`Self::calls_left_out`] returns the number of excluded calls.
    #[inline]
    pub(crate) fn leave_out_calls(&self, node: &'static Node, is_call: bool, has_begun_late: bool) {
        let measures = self.measures.get(node.index());
        let is_first_poll = measures.is_none_or(|of| of.of(Quantity::Polls).load(Ordering::Relaxed) == 0);
        if is_first_poll || has_begun_late {
            self.leave_out_calls_now(node, is_first_poll, is_call, has_begun_late);
        }
    }

    #[cold]
    #[inline(never)]
    fn leave_out_calls_now(&self, node: &'static Node, is_first_poll: bool, is_call: bool, is_late: bool) {
        let Some(current) = self.take() else { return };
        let before = node.calls.load(Ordering::Relaxed).wrapping_sub(is_call.into());
        if let Some(measures) = self.measures.make(node.index()) {
            // Nodes do not use this quantity otherwise.
            let left_out = measures.of(Quantity::InFlight);
            let known = if is_first_poll {
                before
            } else {
                left_out.load(Ordering::Relaxed)
            };
            left_out.store(known.wrapping_sub(is_late.into()), Ordering::Relaxed);
        }
        self.put(current);
    }

    /// Returns how many of the `calls` calls of a node are not calls of futures. If the node has had no poll, these are all of
    /// its calls. Any thread may call this.
    pub(crate) fn calls_left_out(&self, index: u32, calls: u64) -> u64 {
        let polled = |of: &&NodeMeasures| of.of(Quantity::Polls).load(Ordering::Acquire) != 0;
        let measures = self.measures.get(index).filter(polled);
        measures.map_or(calls, |of| of.of(Quantity::InFlight).load(Ordering::Relaxed))
    }

    /// Ends a call of a future in `node`, `ticks` after the call began. The scope of its last poll must be closed already.
    /// Returns false if an event of this thread is in progress.
    #[inline]
    pub(crate) fn end_call(&self, node: &'static Node, call: CallId, ticks: u64, is_cancelled: bool) -> bool {
        let Some(current) = self.take() else {
            return false;
        };
        let index = node.index();
        // Usually the polls of the call have been counted, so the entry exists.
        let measures = self.measures.get(index).or_else(|| self.measures.make(index));
        if let Some(measures) = measures {
            measures.add([
                (Quantity::FutureEnds, (!is_cancelled).into()),
                (Quantity::FutureCancels, is_cancelled.into()),
                (Quantity::FutureTime, ticks),
            ]);
            if let Some(latency) = self.async_latencies.get_or_make(index) {
                let count = |quantity| measures.of(quantity).load(Ordering::Relaxed);
                let number = count(Quantity::FutureEnds) + count(Quantity::FutureCancels);
                if !latency.buffer(number, ticks) {
                    latency.flush(Some(ticks), &self.async_latencies);
                }
            }
        }
        self.slots.end(call);
        self.put(current);
        true
    }

    /// Returns the tick at which a call of `node` has just ended. Returns `None` if it is unknown because the end skipped the clock,
    /// because no time is charged, or because the call had been closed before.
    pub(crate) fn end_tick(&self, node: &'static Node) -> Option<u64> {
        let is_innermost = node.parent.get().is_some_and(|parent| self.current.is(parent));
        let last = self.last.load(Ordering::Relaxed);
        (is_innermost && node.is_timed() && last != super::PAUSED).then_some(last)
    }
}
