//! Calls of futures: their beginning at the first poll, and their end.

use tickscope_format::snapshot::Quantity;

use super::{Path, Tree};
use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::in_flight::CallId;
use crate::enabled::record::node::Node;
use crate::enabled::record::site::Site;

impl Tree {
    /// Begins a call of a future at tick `began`, in which the thread has just opened the scope of its first poll. Returns
    /// none if an event of this thread is in progress.
    pub(crate) fn begin_call(&self, site: &'static Site, began: u64) -> Option<CallId> {
        let current = self.take()?;
        let call = self.slots.begin(site, began);
        self.put(current);
        Some(call)
    }

    /// Ends a call of a future in `node` at the tick that `now` reads. The scope of its last poll is closed. Returns false if
    /// an event of this thread is in progress.
    pub(crate) fn end_call(
        &self,
        node: &'static Node,
        call: CallId,
        began: u64,
        is_cancelled: bool,
        now: impl FnOnce() -> u64,
    ) -> bool {
        let Some(current) = self.take() else {
            return false;
        };
        let ticks = self.last_event().unwrap_or_else(now).saturating_sub(began);
        if let Some(measures) = self.measures.make(node.index()) {
            measures.add([
                (Quantity::FutureEnds, 1),
                (Quantity::FutureCancels, is_cancelled.into()),
                (Quantity::FutureTime, ticks),
            ]);
            if let Some(latency) = self.async_latencies.get_or_make(node.index()) {
                let number = measures.of(Quantity::FutureEnds).load(Ordering::Relaxed);
                if !latency.buffer(number, ticks) {
                    latency.flush(Some(ticks), &self.async_latencies);
                }
            }
        }
        self.slots.end(call);
        self.put(current);
        true
    }

    /// Returns the tick of the last event where that is known: just now, if a scope was closed just now.
    fn last_event(&self) -> Option<u64> {
        let is_exact = self.is(Path::Fast) || self.is(Path::Exact);
        let last = self.last.load(Ordering::Relaxed);
        (is_exact && last != super::PAUSED).then_some(last)
    }
}
