//! Calls of futures. Such a call begins when its future is first polled, and lasts until the future is ready or
//! dropped.

use tickscope_format::snapshot::Quantity;

use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::current_thread;
use crate::enabled::record::in_flight::{self, CallId, Slot};
use crate::enabled::record::node::Node;
use crate::enabled::record::site::Site;
use crate::enabled::record::tree::Tree;
use crate::enabled::runtime::config;
use crate::enabled::scope;

/// The call of a future.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The tick of the first poll, or [`NOT_POLLED`], or [`NOT_COUNTED`].
    pub(crate) began: u64,
    /// Id of the call among the calls in flight; 0 if the call has no slot.
    pub(crate) id: CallId,
}

/// Value of `began` before the first poll. No clock reaches it.
const NOT_POLLED: u64 = u64::MAX;

/// Value of `began` for a call that has ended, or that began while its site was disabled or on a thread that is not
/// measured.
const NOT_COUNTED: u64 = 0;

/// A poll in progress. The poll ends when this guard is dropped, even during a panic.
pub(crate) struct Polling {
    pub(crate) tree: &'static Tree,
    /// The call's slot, which records that the call is being polled; `None` if no slot was free.
    slot: Option<&'static Slot>,
    /// The call that the thread polled before this poll began.
    pub(crate) outer: CallId,
    /// Sequence number of this poll among the polls of its row, starting at 1; 0 if it is unknown.
    pub(crate) number: u64,
}

impl Call {
    /// The call of a future that has not been polled yet.
    pub(crate) const NEW: Self = Self {
        began: NOT_POLLED,
        id: 0,
    };

    /// A call that has ended, that is not counted, or whose beginning was not seen.
    pub(crate) const OVER: Self = Self {
        began: NOT_COUNTED,
        id: 0,
    };

    /// Returns whether the future has not been polled yet.
    #[inline]
    pub(crate) fn is_new(self) -> bool {
        self.began == NOT_POLLED
    }

    /// Returns whether the call is being counted, or may be counted once it begins.
    pub(crate) fn may_count(self) -> bool {
        self.began != NOT_COUNTED
    }

    #[inline]
    pub(crate) fn is_in_flight(self) -> bool {
        self.began != NOT_POLLED && self.began != NOT_COUNTED
    }

    /// Begins a poll in `node`, whose scope is open.
    #[inline]
    pub(crate) fn begin_poll(
        &mut self,
        site: &'static Site,
        node: Option<&'static Node>,
        is_first: bool,
        delay: Option<u64>,
    ) -> Option<Polling> {
        let tree = current_thread::hot();
        if is_first {
            self.began = NOT_COUNTED;
            let (tree, node) = tree.zip(node)?;
            let began = node.known_beginning().unwrap_or_else(config::now);
            if let Some(id) = tree.begin_call(site, began) {
                self.began = began.max(NOT_COUNTED + 1);
                self.id = id;
            }
        }
        let tree = tree.filter(|_| self.is_in_flight())?;
        let mut number = 0;
        if node.is_some() {
            let counted = tree.measure([(Quantity::Polls, 1)], config::exact_path);
            number = counted.map_or(0, |counted| counted.of(Quantity::Polls).load(Ordering::Relaxed));
            if let Some(ticks) = delay {
                let delayed = [(Quantity::ScheduledTime, ticks), (Quantity::ScheduledPolls, 1)];
                tree.measure(delayed, config::exact_path);
            }
        }
        let slot = in_flight::slot_of(self.id);
        // A new slot is already marked as polled, so the first poll need not do this.
        if let Some(slot) = slot.filter(|_| !is_first) {
            slot.set_polled(true);
            slot.set_awaited_by(tree.slots.polled());
        }
        let call = match self.id {
            // This call has no slot, so inner calls are recorded under the call that encloses this one.
            0 => tree.slots.polled(),
            id => id,
        };
        Some(Polling {
            tree,
            slot,
            outer: tree.slots.poll(call),
            number,
        })
    }

    /// Ends the call. If the scope of the call's last poll has just ended, `node` is the call's row.
    pub(crate) fn end(&mut self, site: &'static Site, node: Option<&'static Node>, is_cancelled: bool) {
        // If the scope of the last poll has just ended, the call ends at the same tick.
        let tick = node.and_then(|node| current_thread::hot()?.end_tick(node));
        self.end_at(tick, site, node, is_cancelled);
    }

    /// Ends the call at `tick`, or now if `tick` is `None`. Counts the end in `node`, or else in the site's node below
    /// the thread's open scope.
    pub(crate) fn end_at(
        &mut self,
        tick: Option<u64>,
        site: &'static Site,
        node: Option<&'static Node>,
        is_cancelled: bool,
    ) {
        if !self.is_in_flight() {
            return;
        }
        let began = std::mem::replace(&mut self.began, NOT_COUNTED);
        let tree = current_thread::hot();
        let ended = tree.is_some_and(|tree| {
            let tick = tick.unwrap_or_else(config::now);
            let node = node.or_else(|| scope::place(tree, site));
            let ticks = tick.saturating_sub(began);
            node.is_some_and(|node| tree.end_call(node, self.id, ticks, is_cancelled))
        });
        if !ended {
            // This thread is not measured, has no space for a row, or is in a signal handler. The row where the call
            // began still counts it as in flight.
            in_flight::end_without_tree(self.id);
        }
    }
}

impl Drop for Polling {
    #[inline]
    fn drop(&mut self) {
        self.tree.slots.poll(self.outer);
        if let Some(slot) = self.slot {
            slot.set_polled(false);
        }
    }
}
