//! Async calls made by the workload. Threads take them from a shared queue, poll them once and put them back, so that
//! calls move between threads. Some are dropped before they are ready.

use std::future::poll_fn;
use std::iter;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use tickscope::sync::{Mutex, MutexGuard, named_mutex};

use crate::account::{ATTEMPTS, DONE, made};
use crate::soak::one_in;

type Request = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Number of calls kept in flight.
const IN_FLIGHT: usize = 60;

static QUEUE: Mutex<Vec<Request>> = named_mutex("queue", Vec::new());

/// Counts the end of a call in the program's own account when this is dropped: as ended if the value is true,
/// otherwise as cancelled.
struct HasEnded(bool);

impl Drop for HasEnded {
    fn drop(&mut self) {
        DONE.did(if self.0 { "ended" } else { "cancelled" }, 1);
    }
}

/// Stays pending for `times` polls, then awaits `inner`.
async fn call(times: usize, inner: impl Future<Output = ()>) {
    made(1);
    DONE.did("started", 1);
    let mut has_ended = HasEnded(false);
    let mut polls = iter::repeat_n(Poll::Pending, times);
    poll_fn(|_| polls.next().unwrap_or(Poll::Ready(()))).await;
    inner.await;
    has_ended.0 = true;
}

/// Returns a request that stays pending for `polls` polls and then waits for an answer, which stays pending for
/// `polls_of_answer` polls.
fn request(polls: usize, polls_of_answer: usize) -> Request {
    let answer = async move { tickscope::wait!("answer", call(polls_of_answer, async {})).await };
    Box::pin(tickscope::future!("request", call(polls, answer)))
}

fn queue() -> MutexGuard<'static, Vec<Request>> {
    DONE.did(ATTEMPTS, 1);
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a call from the queue, or makes a new one if fewer than [`IN_FLIGHT`] are queued. Sometimes holds the lock
/// for longer, so that other threads have to wait.
fn next() -> Request {
    made(1);
    tickscope::scope!("next");
    let mut queue = queue();
    if one_in(10) {
        thread::sleep(Duration::from_micros(300));
    }
    if queue.len() < IN_FLIGHT {
        return request(fastrand::usize(..4), fastrand::usize(..4));
    }
    let at = fastrand::usize(..queue.len());
    queue.swap_remove(at)
}

/// Polls ten calls, and puts most of those that are still pending back into the queue. The others are cancelled.
pub(crate) fn serve() {
    for _ in 0..10 {
        let mut request = next();
        let polled = request.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if polled.is_pending() && !one_in(16) {
            queue().push(request);
        }
    }
}

/// Drops all remaining calls.
pub(crate) fn drop_all() {
    let left = std::mem::take(&mut *queue());
    drop(left);
}
