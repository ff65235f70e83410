//! A future with a time limit.

use std::pin::Pin;
use std::task::{Context, Poll};

/// A future with the output of another one, or `None` if the limit comes first. The other future is dropped then.
pub(crate) struct Within<F, L> {
    future: Option<Pin<Box<F>>>,
    limit: L,
}

/// Waits for a future, but not longer than for `limit`.
pub(crate) fn within<F: Future, L: Future<Output = ()> + Unpin>(limit: L, future: F) -> Within<F, L> {
    Within {
        future: Some(Box::pin(future)),
        limit,
    }
}

impl<F: Future, L: Future<Output = ()> + Unpin> Future for Within<F, L> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(future) = &mut self.future
            && let Poll::Ready(output) = future.as_mut().poll(context)
        {
            return Poll::Ready(Some(output));
        }
        Pin::new(&mut self.limit).poll(context).map(|()| {
            self.future = None;
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::Arc;
    use std::task::Waker;

    use super::*;

    fn poll<F: Future + Unpin>(mut future: F) -> Poll<F::Output> {
        Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn the_output_goes_before_the_limit() {
        assert_eq!(poll(within(ready(()), ready(7))), Poll::Ready(Some(7)));
        assert_eq!(poll(within(pending(), ready(7))), Poll::Ready(Some(7)));
        assert_eq!(poll(within(pending(), pending::<u32>())), Poll::Pending);
    }

    #[test]
    fn at_the_limit_the_future_is_dropped() {
        let held = Arc::new(());
        let holder = Arc::clone(&held);
        let mut waiting = within(ready(()), async move {
            let _holder = holder;
            pending::<u32>().await
        });
        assert_eq!(poll(&mut waiting), Poll::Ready(None));
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
