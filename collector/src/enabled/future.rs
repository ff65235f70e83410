//! Profiled futures. Each counts as one call, from its first poll until it is ready or dropped. Each poll is a scope on the
//! thread that runs it.

use std::hint::unreachable_unchecked;
use std::mem::replace;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::enabled::call::Call;
use crate::enabled::record::current_thread;
use crate::enabled::record::node::Node;
use crate::enabled::record::site::Site;
use crate::enabled::scope;

/// A future that counts a call at its first poll and charges each poll to a site. It holds no open scope between polls, so it may
/// move to another thread. The call lasts until the future is ready or dropped.
///
/// This is a type rather than an async function, because an async function would hold the future twice: as its argument, and
/// pinned. The size would then double at each level of profiled functions that await one another.
///
/// The future is a direct field of this type, without a wrapper such as `ManuallyDrop`. The compiler computes the layout of
/// nested futures recursively, up to its recursion limit, and each type in between counts towards that limit.
#[must_use = "futures do nothing unless they are awaited or polled"]
#[allow(
    missing_debug_implementations,
    reason = "without the feature it is any future, and no other trait is known"
)]
pub enum Profiled<F> {
    #[doc(hidden)]
    Held {
        site: &'static Site,
        call: Call,
        future: F,
    },
    /// The future was dropped while its row was open. Only the rest of `drop` remains to run.
    #[doc(hidden)]
    Dropped,
}

/// Profiles a future. A value that is not a future itself is converted into one first, as `.await` does.
pub fn profile_future<F: IntoFuture>(site: &'static Site, future: F) -> Profiled<F::IntoFuture> {
    site.note_future();
    Profiled::Held {
        site,
        call: Call::NEW,
        future: future.into_future(),
    }
}

impl<F: Future> Future for Profiled<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.poll_after(None, context)
    }
}

impl<F: Future> Profiled<F> {
    /// Polls the future. `delay` is the time in ticks since the future was woken, if known. It is counted in the
    /// future's row.
    #[inline]
    pub(crate) fn poll_after(
        self: Pin<&mut Self>,
        delay: Option<u64>,
        context: &mut Context<'_>,
    ) -> Poll<F::Output> {
        // SAFETY: nothing is moved out of the pinned value here.
        let Self::Held { site, call, future } = (unsafe { self.get_unchecked_mut() }) else {
            // SAFETY: only `drop` sets `Dropped`, and a dropped value is not polled.
            unsafe { unreachable_unchecked() }
        };
        let unwinding = Unwinding { site, call };
        let (site, call) = (unwinding.site, &mut *unwinding.call);
        let is_first = call.is_new();
        let scope = scope::enter_poll(site, is_first, &call.id, delay);
        let node = scope.node;
        let polling = call.begin_poll(site, node, is_first, delay);
        // SAFETY: the future is pinned because the whole value is. Only this function and `drop` access it, neither moves it, and
        // this type is `Unpin` only if the future is.
        let future = unsafe { Pin::new_unchecked(future) };
        let poll = future.poll(context);
        let number = polling.as_ref().map_or(0, |polling| polling.number);
        drop(polling);
        scope.end_poll(number, &call.id, poll.is_ready());
        if poll.is_ready() {
            call.end(site, node, false);
        }
        std::mem::forget(unwinding);
        poll
    }
}

impl<F> Profiled<F> {
    /// Returns the future's site and call, unless the future is being dropped.
    fn held(&self) -> Option<(&'static Site, Call)> {
        match self {
            Self::Held { site, call, .. } => Some((site, *call)),
            Self::Dropped => None,
        }
    }

    /// Returns whether the future's call is counted, or will be once it is polled.
    pub(crate) fn may_count(&self) -> bool {
        self.held().is_some_and(|(_, call)| call.may_count())
    }

    /// Returns the name of the future's row.
    pub(crate) fn name(&self) -> Option<String> {
        self.held().map(|(site, _)| site.describe().name)
    }
}

impl<F> Drop for Profiled<F> {
    fn drop(&mut self) {
        // A future that is ready or was never polled needs nothing here. It is dropped as a field, after this function.
        if self.held().is_some_and(|(_, call)| call.is_in_flight()) {
            self.cancel();
        }
    }
}

impl<F> Profiled<F> {
    /// Drops the future, whose call is in flight. This is a separate function, so that the drop of a finished future does not
    /// have to save any registers.
    #[inline(never)]
    fn cancel(&mut self) {
        let Self::Held { site, call, .. } = self else {
            return;
        };
        // Inner futures are dropped while this future's row is open, so that their calls end in the rows where they
        // began.
        let _ending = Ending::of(site, call);
        // The assignment drops the future in place. Its call is already marked as over.
        *self = Self::Dropped;
    }
}

/// Ends a cancelled call when this guard is dropped, even if a destructor of the future panics.
struct Ending {
    call: Call,
    site: &'static Site,
    node: Option<&'static Node>,
    scope: Option<scope::Scope>,
}

impl Ending {
    /// Takes the call out of the future, and opens a scope in the call's row.
    fn of(site: &'static Site, call: &mut Call) -> Self {
        let call = replace(call, Call::OVER);
        let tree = current_thread::hot();
        let has_place = tree.is_none_or(|tree| scope::place(tree, site).is_some());
        let scope = has_place.then(|| scope::enter_poll(site, false, &call.id, None));
        let node = scope.as_ref().and_then(|scope| scope.node);
        // The scope is not a poll, so its duration is not counted in the latencies of polls.
        if let Some(node) = node {
            node.forget_beginning();
        }
        Self {
            call,
            site,
            node,
            scope,
        }
    }
}

/// Ends the call of a future whose poll panics. The call is then over, even if the future itself lives on.
struct Unwinding<'a> {
    site: &'static Site,
    call: &'a mut Call,
}

impl Drop for Unwinding<'_> {
    /// `end_unwound` takes the fields by value, so that they can stay in registers.
    #[inline(always)]
    fn drop(&mut self) {
        end_unwound(self.site, self.call);
    }
}

#[cold]
#[inline(never)]
fn end_unwound(site: &'static Site, call: &mut Call) {
    if call.is_in_flight() {
        drop(Ending::of(site, call));
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some(scope) = self.scope.take() {
            scope.end_poll(0, &self.call.id, true);
        }
        self.call.end(self.site, self.node, true);
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
