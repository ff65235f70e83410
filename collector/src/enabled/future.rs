//! Profiled futures: each counts one call, from its first poll until it is ready or dropped. Each poll is a scope of the
//! thread that runs it.

use std::fmt;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

use tickscope_format::snapshot::Quantity;

use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::current_thread;
use crate::enabled::record::in_flight::{self, CallId, Slot};
use crate::enabled::record::node::Node;
use crate::enabled::record::site::Site;
use crate::enabled::record::tree::Tree;
use crate::enabled::runtime::config;
use crate::enabled::scope;

/// A future that counts a call at its first poll and charges each poll to a site. Between polls it holds no open scope, so
/// the future may move to another thread. The call lasts until the future is ready or dropped.
///
/// This is a type and not an async function, which would hold the future twice: as its argument and pinned. Each level
/// of profiled functions that await each other would then double the size.
#[must_use = "futures do nothing unless they are awaited or polled"]
pub struct Profiled<F> {
    site: &'static Site,
    call: Call,
    future: ManuallyDrop<F>,
}

/// The call of a profiled future.
struct Call {
    /// The tick of the first poll, or [`NOT_POLLED`], or [`NOT_COUNTED`].
    began: u64,
    /// Its place among the calls in flight.
    id: CallId,
}

/// There was no poll yet. No clock reaches it.
const NOT_POLLED: u64 = u64::MAX;

/// The call has ended, or began while its site was disabled, or on a thread that does not count.
const NOT_COUNTED: u64 = 0;

/// A poll in progress. It ends when this is dropped, also by a panic.
struct Polling {
    tree: &'static Tree,
    /// Where it is noted that the call is polled; `None` if the table was full.
    slot: Option<&'static Slot>,
    /// The call that the thread polled before.
    outer: CallId,
    /// The number of the poll in its row, as far as it is at hand.
    number: u64,
}

/// Profiles a future, or the future that `.await` makes of a value.
pub fn profile_future<F: IntoFuture>(site: &'static Site, future: F) -> Profiled<F::IntoFuture> {
    site.note_future();
    Profiled {
        site,
        call: Call {
            began: NOT_POLLED,
            id: 0,
        },
        future: ManuallyDrop::new(future.into_future()),
    }
}

impl<F: Future> Future for Profiled<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.poll_after(None, context)
    }
}

impl<F: Future> Profiled<F> {
    /// Polls it. If it is known how many ticks ago it was woken, its row has them.
    #[inline]
    pub(crate) fn poll_after(
        self: Pin<&mut Self>,
        delay: Option<u64>,
        context: &mut Context<'_>,
    ) -> Poll<F::Output> {
        // SAFETY: nothing is moved out of it here.
        let this = unsafe { self.get_unchecked_mut() };
        let is_first = this.call.began == NOT_POLLED;
        let scope = scope::enter_counting(this.site, is_first.into());
        let node = scope.node();
        let polling = this.call.begin_poll(this.site, node, is_first, delay);
        // SAFETY: the future is pinned as part of the whole. Only this function and `drop` reach it, neither moves it, and the
        // type is `Unpin` only where the future is.
        let future = unsafe { Pin::new_unchecked(&mut *this.future) };
        let poll = future.poll(context);
        let number = polling.as_ref().map_or(0, |polling| polling.number);
        drop(polling);
        scope.end_poll(number);
        if poll.is_ready() {
            this.call.end(this.site, node, false);
        }
        poll
    }
}

impl<F> Profiled<F> {
    /// Returns whether its call counts or may begin to.
    pub(crate) fn may_count(&self) -> bool {
        self.call.began != NOT_COUNTED
    }

    /// Returns the name of its row.
    pub(crate) fn name(&self) -> String {
        self.site.describe().name
    }
}

impl<F> Drop for Profiled<F> {
    fn drop(&mut self) {
        if !self.call.is_in_flight() {
            // SAFETY: this is the only place that drops it, once.
            return unsafe { ManuallyDrop::drop(&mut self.future) };
        }
        // What it awaits is dropped in its row, so that calls which end with it end where they began.
        let tree = current_thread::hot();
        let has_place = tree.is_none_or(|tree| scope::place(tree, self.site).is_some());
        let scope = has_place.then(|| scope::enter_counting(self.site, 0));
        let node = scope.as_ref().and_then(scope::Scope::node);
        // It is no poll, so it is not among the latencies of polls.
        if let Some(node) = node {
            node.forget_beginning();
        }
        let ending = Ending {
            call: &mut self.call,
            site: self.site,
            node,
            scope,
        };
        // SAFETY: this is the only place that drops it, once.
        unsafe { ManuallyDrop::drop(&mut self.future) };
        drop(ending);
    }
}

/// Ends a cancelled call when it is dropped, also where a destructor of its future panics.
struct Ending<'a> {
    call: &'a mut Call,
    site: &'static Site,
    node: Option<&'static Node>,
    scope: Option<scope::Scope>,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.scope.take();
        self.call.end(self.site, self.node, true);
    }
}

impl Call {
    fn is_in_flight(&self) -> bool {
        self.began != NOT_POLLED && self.began != NOT_COUNTED
    }

    /// Begins a poll in `node`, whose scope is open.
    #[inline]
    fn begin_poll(
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
        // At its first poll a call has its slot as one that is polled.
        if let Some(slot) = slot.filter(|_| !is_first) {
            slot.set_polled(true);
        }
        let call = match self.id {
            // Calls inside belong to the call around this one, which has no place of its own.
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

    /// Ends the call, in `node` if its scope was open just now.
    fn end(&mut self, site: &'static Site, node: Option<&'static Node>, is_cancelled: bool) {
        if !self.is_in_flight() {
            return;
        }
        let began = std::mem::replace(&mut self.began, NOT_COUNTED);
        let tree = current_thread::hot();
        let ended = tree.is_some_and(|tree| {
            // The end of its scope was just now.
            let tick = node.and_then(|_| tree.last_event()).unwrap_or_else(config::now);
            let node = node.or_else(|| scope::place(tree, site));
            let ticks = tick.saturating_sub(began);
            node.is_some_and(|node| tree.end_call(node, self.id, ticks, is_cancelled))
        });
        if !ended {
            // The call was counted where it began. Here there is no room for its row, or this is a signal handler.
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

impl<F> fmt::Debug for Profiled<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Profiled")
            .field("name", &self.site.describe().name)
            .field("polled", &(self.call.began != NOT_POLLED))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static SITE: Site = Site::named("future", module_path!(), file!(), line!());

    #[test]
    fn a_profiled_future_holds_the_future_once() {
        let bytes = [0u8; 1000];
        let future = async move {
            std::future::pending::<()>().await;
            std::hint::black_box(&bytes);
        };
        let size = size_of_val(&future).next_multiple_of(align_of::<Profiled<()>>());
        let own = size_of::<Profiled<()>>();
        assert!(size_of_val(&profile_future(&SITE, future)) <= size + own);
    }

    #[test]
    fn a_profiled_future_goes_where_its_future_may_go() {
        fn goes<T: Send + Sync + Unpin>(_: &T) {}
        goes(&profile_future(&SITE, std::future::ready(1)));
    }
}
