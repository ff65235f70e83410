//! Profiled futures: each counts one call, and its time is the sum of its polls.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::enabled::record::site::Site;
use crate::enabled::scope;

/// A future that counts a call at its first poll and charges each poll to a site. Between polls it holds no open scope,
/// so waiting is not charged, and the future may move to another thread.
///
/// This is a type and not an async function, which would hold the future twice: as its argument and pinned. Each level
/// of profiled functions that await each other would then double the size.
#[must_use = "futures do nothing unless they are awaited or polled"]
pub struct Profiled<F> {
    site: &'static Site,
    /// The calls that the next poll counts: 1 for the first, then 0.
    calls: u64,
    future: F,
}

/// Profiles a future, or the future that `.await` makes of a value.
pub fn profile_future<F: IntoFuture>(site: &'static Site, future: F) -> Profiled<F::IntoFuture> {
    Profiled {
        site,
        calls: 1,
        future: future.into_future(),
    }
}

impl<F: Future> Future for Profiled<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: nothing is moved out of it here.
        let this = unsafe { self.get_unchecked_mut() };
        let _scope = scope::enter_counting(this.site, std::mem::take(&mut this.calls));
        // SAFETY: the future is pinned as part of the whole. Only this function reaches it, the type has no `Drop`, and it is
        // `Unpin` only where the future is.
        let future = unsafe { Pin::new_unchecked(&mut this.future) };
        future.poll(context)
    }
}

impl<F> fmt::Debug for Profiled<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Profiled")
            .field("name", &self.site.describe().name)
            .field("polled", &(self.calls == 0))
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
