//! A future with a time limit.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Waits for a future, but only until `limit` completes. Returns the future's output, or `None` if `limit` completed
/// first. Drops the future in both cases.
pub(crate) async fn within<F: Future>(limit: impl Future<Output = ()>, future: F) -> Option<F::Output> {
    let mut limit = pin!(limit);
    let mut future = pin!(future);
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => limit.as_mut().poll(context).map(|()| None),
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Waker};

    use super::*;

    fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn the_output_goes_before_the_limit() {
        assert_eq!(poll(pin!(within(ready(()), ready(7)))), Poll::Ready(Some(7)));
        assert_eq!(poll(pin!(within(pending(), ready(7)))), Poll::Ready(Some(7)));
        assert_eq!(poll(pin!(within(pending(), pending::<u32>()))), Poll::Pending);
    }

    #[test]
    fn at_the_limit_the_future_is_dropped() {
        let held = Arc::new(());
        let holder = Arc::clone(&held);
        let mut waiting = pin!(within(ready(()), async move {
            let _holder = holder;
            pending::<u32>().await
        }));
        assert_eq!(poll(waiting.as_mut()), Poll::Ready(None));
        assert_eq!(Arc::strong_count(&held), 1);
    }
}
