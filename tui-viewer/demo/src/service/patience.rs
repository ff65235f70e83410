//! A future with a time limit.

use std::pin::Pin;
use std::task::{Context, Poll};

/// A future that gives its output, or none if the limit was there first. The inner future is dropped then.
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
