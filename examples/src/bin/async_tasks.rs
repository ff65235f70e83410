//! Async functions. A call is counted once, at its first poll, and its time is the time spent in its polls. Waiting
//! between polls is not charged to any function, so when four clients wait on one thread at the same time, the same
//! second is not counted four times.
//!
//! The executor below is minimal, so that this example needs no runtime: its tasks wait only for timers. With tokio or
//! any other runtime, the profiled functions look the same.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
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
        let bytes = request.bytes();
        bytes.fold(sum, |sum: u64, byte| sum.rotate_left(5) ^ u64::from(byte) ^ round)
    })
}

/// Works three times, and waits in between: one call, three polls.
#[tickscope::profile]
async fn answer(request: &str) -> u64 {
    let found = checksum(request);
    sleep(Duration::from_millis(1)).await;
    let checked = checksum(request);
    sleep(Duration::from_millis(1)).await;
    found ^ checked ^ checksum(request)
}

/// Serves one client until `end`, but handles at least one request.
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

/// A future that the executor owns.
type Task<'t> = Pin<Box<dyn Future<Output = ()> + 't>>;

thread_local! {
    /// When the most recently polled task wants to be polled again.
    static UNTIL: Cell<Instant> = Cell::new(Instant::now());
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

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.until {
            return Poll::Ready(());
        }
        UNTIL.set(self.until);
        Poll::Pending
    }
}

/// Runs the tasks on the calling thread until all are done. A pending task is polled again when its sleep is over.
fn run(tasks: Vec<Task<'_>>) {
    let mut tasks: Vec<(Instant, Task<'_>)> = tasks.into_iter().map(|task| (Instant::now(), task)).collect();
    let mut context = Context::from_waker(Waker::noop());
    while let Some(earliest) = (0..tasks.len()).min_by_key(|&index| tasks[index].0) {
        let (until, mut task) = tasks.swap_remove(earliest);
        thread::sleep(until.saturating_duration_since(Instant::now()));
        if task.as_mut().poll(&mut context).is_pending() {
            tasks.push((UNTIL.get(), task));
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
