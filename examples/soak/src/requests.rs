//! Async calls of the load: threads take them from a queue behind a lock, poll them once, and put them back, so that
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

/// Number of calls that are kept in flight.
const IN_FLIGHT: usize = 60;

static QUEUE: Mutex<Vec<Request>> = named_mutex("queue", Vec::new());

/// Adds the end of a call to the load's own counts, when it is dropped. The call counts as ended if the value is true,
/// else as cancelled.
struct HasEnded(bool);

impl Drop for HasEnded {
    fn drop(&mut self) {
        DONE.did(if self.0 { "ended" } else { "cancelled" }, 1);
    }
}

/// Makes a call that is pending `times` times, and then awaits `inner`.
async fn call(times: usize, inner: impl Future<Output = ()>) {
    made(1);
    DONE.did("started", 1);
    let mut has_ended = HasEnded(false);
    let mut polls = iter::repeat_n(Poll::Pending, times);
    poll_fn(|_| polls.next().unwrap_or(Poll::Ready(()))).await;
    inner.await;
    has_ended.0 = true;
}

/// Returns a request that waits for an answer. The request and the answer take some polls each.
fn request(polls: usize, polls_of_answer: usize) -> Request {
    let answer = async move { tickscope::wait!("answer", call(polls_of_answer, async {})).await };
    Box::pin(tickscope::future!("request", call(polls, answer)))
}

fn queue() -> MutexGuard<'static, Vec<Request>> {
    DONE.did(ATTEMPTS, 1);
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes one call out of the queue, or makes a new one if there are too few. Sometimes keeps the lock for longer.
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

/// Polls some calls, and puts most of those that are pending back into the queue.
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
