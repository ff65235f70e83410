//! Async functions: a call counts once, at its first poll, and its time is the sum of its polls. Waiting between polls
//! is charged to no function, so four clients that wait at the same time on one thread do not count the same second
//! four times.
//!
//! The executor below is minimal, so that this example needs no runtime. With tokio or any other, the profiled
//! functions look the same.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// Number of clients that are served at the same time, each by its own future.
const CLIENTS: u64 = 4;

/// Waits for the network, which is a timer here.
#[tickscope::profile]
async fn receive(client: u64, number: u64) -> String {
    sleep(Duration::from_millis(2 + client)).await;
    format!("client {client} asks for number {number}")
}

/// Works without waiting: an ordinary function that an async function calls.
#[tickscope::profile]
fn checksum(request: &str) -> u64 {
    (0..200).fold(7, |sum, round| {
        request
            .bytes()
            .fold(sum, |sum, byte| sum.rotate_left(5) ^ u64::from(byte) ^ round)
    })
}

/// Works, waits, and works again: one call, three polls.
#[tickscope::profile]
async fn answer(request: &str) -> u64 {
    let found = checksum(request);
    sleep(Duration::from_millis(1)).await;
    let checked = checksum(request);
    sleep(Duration::from_millis(1)).await;
    found ^ checked ^ checksum(request)
}

/// Serves one client until `end`, but at least one request.
#[tickscope::profile]
async fn serve(client: u64, end: Instant, served: &Cell<u64>) {
    for number in 0.. {
        let request = receive(client, number).await;
        std::hint::black_box(answer(&request).await);
        served.set(served.get() + 1);
        if Instant::now() >= end {
            return;
        }
    }
}

/// A future that an executor owns.
type Task<'t> = Pin<Box<dyn Future<Output = ()> + 't>>;

/// Indices of the tasks that can continue.
type Ready = Arc<Mutex<VecDeque<usize>>>;

/// Waker that adds its task to the tasks that can continue.
struct TaskWaker {
    index: usize,
    ready: Ready,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        ready.push_back(self.index);
    }
}

thread_local! {
    /// Timers that the tasks of this thread wait for.
    static TIMERS: RefCell<Vec<(Instant, Waker)>> = const { RefCell::new(Vec::new()) };
}

/// A future that is ready at `until`.
struct Sleep {
    until: Instant,
}

fn sleep(time: Duration) -> Sleep {
    Sleep {
        until: Instant::now() + time,
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.until {
            return Poll::Ready(());
        }
        TIMERS.with_borrow_mut(|timers| timers.push((self.until, context.waker().clone())));
        Poll::Pending
    }
}

/// Sleeps until the earliest timer is due and wakes its task. Returns false if there is no timer.
fn wait_for_a_timer() -> bool {
    let earliest = TIMERS.with_borrow_mut(|timers| {
        let index = (0..timers.len()).min_by_key(|&index| timers[index].0)?;
        Some(timers.swap_remove(index))
    });
    let Some((until, waker)) = earliest else {
        return false;
    };
    thread::sleep(until.saturating_duration_since(Instant::now()));
    waker.wake();
    true
}

/// Runs the tasks on the calling thread until no task can continue and no timer is left.
fn run(tasks: Vec<Task<'_>>) {
    let ready: Ready = Arc::new(Mutex::new((0..tasks.len()).collect()));
    let wakers = (0..tasks.len()).map(|index| {
        let ready = Arc::clone(&ready);
        Waker::from(Arc::new(TaskWaker { index, ready }))
    });
    let mut tasks: Vec<(Option<Task<'_>>, Waker)> = tasks.into_iter().map(Some).zip(wakers).collect();
    let next = || ready.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    loop {
        while let Some(index) = next() {
            let (task, waker) = &mut tasks[index];
            let polled = task
                .as_mut()
                .map(|task| task.as_mut().poll(&mut Context::from_waker(waker)));
            if polled.is_some_and(|polled| polled.is_ready()) {
                *task = None;
            }
        }
        if !wait_for_a_timer() {
            return;
        }
    }
}

fn main() -> Result<(), String> {
    let seconds = std::env::args().nth(1).unwrap_or("10".to_owned());
    let seconds = seconds
        .parse()
        .map_err(|_| format!("usage: async_tasks [SECONDS], not `{seconds}`"))?;
    let _tickscope = tickscope::start("async_tasks");
    println!("Working for {seconds} s. To look inside, in another terminal: tickscope async_tasks");
    let end = Instant::now() + Duration::from_secs(seconds);

    let served = Cell::new(0);
    let client = |number| -> Task<'_> { Box::pin(serve(number, end, &served)) };
    run((0..CLIENTS).map(client).collect());
    println!("{} requests of {CLIENTS} clients", served.get());
    Ok(())
}
