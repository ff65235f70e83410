//! Async calls of the load: threads take them from a queue behind a lock, poll them once, and put them back, so that calls move
//! between threads. Some are dropped before they are ready.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use tickscope::sync::{Mutex, MutexGuard, named_mutex};

use crate::load::{ATTEMPTS, DONE, made};
use crate::soak::one_in;

type Request = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How many calls are in flight at once.
const IN_FLIGHT: usize = 60;

static QUEUE: Mutex<Vec<Request>> = named_mutex("queue", Vec::new());

/// A call by the load's own account: cancelled if it is dropped before it is set.
struct HasEnded(bool);

impl Drop for HasEnded {
    fn drop(&mut self) {
        DONE.did(if self.0 { "ended" } else { "cancelled" }, 1);
    }
}

/// A call that is pending so many times, and then waits for another one.
async fn call(times: u64, inner: impl Future<Output = ()>) {
    made(1);
    DONE.did("started", 1);
    let mut has_ended = HasEnded(false);
    for _ in 0..times {
        let mut polls = [Poll::Pending, Poll::Ready(())].into_iter();
        poll_fn(|_| polls.next().unwrap_or(Poll::Ready(()))).await;
    }
    inner.await;
    has_ended.0 = true;
}

/// A request that waits for an answer, each for some polls.
fn request(polls: u64, polls_of_answer: u64) -> Request {
    let answer = async move { tickscope::wait!("answer", call(polls_of_answer, async {})).await };
    Box::pin(tickscope::future!("request", call(polls, answer)))
}

fn queue() -> MutexGuard<'static, Vec<Request>> {
    DONE.did(ATTEMPTS, 1);
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes one call out, and sometimes keeps the others waiting meanwhile.
fn next() -> Request {
    made(1);
    tickscope::scope!("next");
    let mut queue = queue();
    if one_in(10) {
        thread::sleep(Duration::from_micros(300));
    }
    if queue.len() < IN_FLIGHT {
        return request(fastrand::u64(..4), fastrand::u64(..4));
    }
    let at = fastrand::usize(..queue.len());
    queue.swap_remove(at)
}

/// Polls some calls.
pub(crate) fn serve() {
    for _ in 0..10 {
        let mut request = next();
        let polled = request.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if polled.is_pending() && !one_in(16) {
            queue().push(request);
        }
    }
}

/// Drops all calls that are left.
pub(crate) fn drop_all() {
    let left = std::mem::take(&mut *queue());
    drop(left);
}
