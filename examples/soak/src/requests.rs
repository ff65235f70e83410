//! Async calls of the load: threads take them from a queue behind a lock, poll them once, and put them back, so that calls move
//! between threads. Some are dropped before they are ready.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use tickscope::sync::{Mutex, MutexGuard, named_mutex};

use crate::account::{ATTEMPTS, CANCELLED, ENDED, MADE, STARTED};
use crate::soak::one_in;

type Request = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How many calls are in flight at once.
const IN_FLIGHT: usize = 60;

static QUEUE: Mutex<Vec<Request>> = named_mutex("queue", Vec::new());

/// A call by the load's own account: cancelled if it is dropped before it is set.
struct HasEnded(bool);

impl Drop for HasEnded {
    fn drop(&mut self) {
        if self.0 { &ENDED } else { &CANCELLED }.add(1);
    }
}

/// A call that is pending so many times, and then waits for another one.
async fn call(mut times: u64, inner: impl Future<Output = ()>) {
    MADE.add(1);
    STARTED.add(1);
    let mut has_ended = HasEnded(false);
    let pending = |_: &mut Context<'_>| match times.checked_sub(1) {
        None => Poll::Ready(()),
        Some(left) => {
            times = left;
            Poll::Pending
        }
    };
    poll_fn(pending).await;
    inner.await;
    has_ended.0 = true;
}

/// A request that waits for an answer, each for some polls.
fn request(polls: u64, polls_of_answer: u64) -> Request {
    let answer = async move { tickscope::wait!("answer", call(polls_of_answer, async {})).await };
    Box::pin(tickscope::future!("request", call(polls, answer)))
}

fn queue() -> MutexGuard<'static, Vec<Request>> {
    ATTEMPTS.add(1);
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes one call out, and sometimes keeps the others waiting meanwhile.
fn next(random: &mut Rng) -> Request {
    MADE.add(1);
    tickscope::scope!("next");
    let mut queue = queue();
    if one_in(random, 10) {
        thread::sleep(Duration::from_micros(300));
    }
    if queue.len() < IN_FLIGHT {
        return request(random.u64(..4), random.u64(..4));
    }
    let at = random.usize(..queue.len());
    queue.swap_remove(at)
}

/// Polls some calls.
pub(crate) fn serve(random: &mut Rng) {
    for _ in 0..10 {
        let mut request = next(random);
        let polled = request.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if polled.is_pending() && !one_in(random, 16) {
            queue().push(request);
        }
    }
}

/// Drops all calls that are left.
pub(crate) fn drop_all() {
    let left = std::mem::take(&mut *queue());
    drop(left);
}
