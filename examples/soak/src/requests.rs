//! Async calls of the load: threads take them from a queue behind a lock, poll them once, and put them back, so that calls move
//! between threads. Some are dropped before they are ready.

use std::future::Future;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use tickscope::sync::{Mutex, MutexGuard, named_mutex};

use crate::account::{ATTEMPTS, CANCELLED, ENDED, MADE, STARTED};
use crate::over::Over;
use crate::random::Random;

type Request = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How many calls are in flight at once.
const IN_FLIGHT: usize = 60;

static QUEUE: Mutex<Vec<Request>> = named_mutex("queue", Vec::new());

/// A call by the load's own account. It is cancelled if it is dropped before [`Self::ends`].
struct Call {
    has_ended: bool,
}

/// Is pending so many times.
struct Pending(u64);

impl Future for Pending {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        match self.0.checked_sub(1) {
            None => Poll::Ready(()),
            Some(left) => {
                self.0 = left;
                Poll::Pending
            }
        }
    }
}

impl Call {
    fn begin() -> Self {
        MADE.add(1);
        STARTED.add(1);
        Self { has_ended: false }
    }

    fn ends(mut self) {
        self.has_ended = true;
        ENDED.add(1);
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.has_ended {
            CANCELLED.add(1);
        }
    }
}

/// A request that waits for an answer, each for some polls.
fn request(polls: u64, polls_of_answer: u64) -> Request {
    Box::pin(tickscope::future!("request", async move {
        let call = Call::begin();
        Pending(polls).await;
        let answer = async move {
            let call = Call::begin();
            Pending(polls_of_answer).await;
            call.ends();
        };
        tickscope::wait!("answer", answer).await;
        call.ends();
    }))
}

fn queue() -> MutexGuard<'static, Vec<Request>> {
    ATTEMPTS.add(1);
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes one call out, and sometimes keeps the others waiting meanwhile.
fn next(random: &mut Random) -> Request {
    MADE.add(1);
    tickscope::scope!("next");
    let mut queue = queue();
    if random.one_in(10) {
        thread::sleep(Duration::from_micros(300));
    }
    if queue.len() < IN_FLIGHT {
        return request(random.below(4), random.below(4));
    }
    let at = random.below(queue.len() as u64) as usize;
    queue.swap_remove(at)
}

/// Serves calls until it is over.
pub(crate) fn serve(random: &mut Random, over: &Over) {
    while !over.is_set() {
        for _ in 0..10 {
            let mut request = next(random);
            let polled = request.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            if polled.is_pending() && !random.one_in(16) {
                queue().push(request);
            }
        }
        thread::sleep(Duration::from_millis(4));
    }
}

/// Drops all calls that are left.
pub(crate) fn drop_all() {
    let left = std::mem::take(&mut *queue());
    drop(left);
}
