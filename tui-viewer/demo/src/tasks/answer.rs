//! Passes one value from a thread to a task that waits for it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// The end that sends the value.
#[derive(Debug)]
pub(crate) struct Reply<T>(Arc<Mutex<State<T>>>);

/// The end that receives the value: a future. Its output is `None` if the sending end was dropped without sending a value.
#[derive(Debug)]
pub(crate) struct Answer<T>(Arc<Mutex<State<T>>>);

#[derive(Debug)]
struct State<T> {
    value: Option<T>,
    /// Whether the sending end has been dropped.
    closed: bool,
    waker: Option<Waker>,
}

/// Makes the sending end and the receiving end.
pub(crate) fn answer<T>() -> (Reply<T>, Answer<T>) {
    let state = Arc::new(Mutex::new(State {
        value: None,
        closed: false,
        waker: None,
    }));
    (Reply(Arc::clone(&state)), Answer(state))
}

impl<T> Reply<T> {
    /// Sends the value, which is lost if the receiving end has been dropped.
    pub(crate) fn send(self, value: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).value = Some(value);
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        let waker = {
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            state.closed = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Future for Answer<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return Poll::Ready(state.value.take());
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poll(answer: &mut Answer<u32>) -> Poll<Option<u32>> {
        Pin::new(answer).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn an_answer_is_what_was_sent_or_none() {
        let (reply, mut sent) = answer();
        assert_eq!(poll(&mut sent), Poll::Pending);
        reply.send(7);
        assert_eq!(poll(&mut sent), Poll::Ready(Some(7)));

        let (reply, mut dropped) = answer();
        drop(reply);
        assert_eq!(poll(&mut dropped), Poll::Ready(None));
    }
}
