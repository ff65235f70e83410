//! Threads of several kinds: a pool of named threads, short-lived threads that share a name, and a thread without a
//! name.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::error::Error;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

/// Returns the sum of the primes below `limit`.
#[tickscope::profile]
fn sum_primes(limit: u64) -> u64 {
    (2..limit).filter(|&number| is_prime(number)).sum()
}

#[tickscope::profile]
fn is_prime(number: u64) -> bool {
    (2..)
        .take_while(|factor| factor * factor <= number)
        .all(|factor| !number.is_multiple_of(factor))
}

/// Returns the next job of the pool; `None` when there are no more.
#[tickscope::profile]
fn wait_for_job(jobs: &Mutex<Receiver<u64>>) -> Option<u64> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().nth(1).unwrap_or("10".to_owned());
    let seconds = seconds
        .parse()
        .map_err(|_| format!("usage: threads [SECONDS], not `{seconds}`"))?;
    let _tickscope = tickscope::start("threads");
    println!("Working for {seconds} s. To look inside, in another terminal: tickscope threads");
    let end = Instant::now() + Duration::from_secs(seconds);

    let (sender, jobs) = mpsc::channel();
    let jobs = Mutex::new(jobs);
    thread::scope(|scope| {
        // Move the sender into this closure. If an error below ends the closure early, the sender is dropped, and the
        // pool ends too.
        let sender = sender;
        let work = || std::iter::from_fn(|| wait_for_job(&jobs)).for_each(|limit| _ = sum_primes(limit));
        for index in 0..3 {
            Builder::new()
                .name(format!("pool-{index}"))
                .spawn_scoped(scope, work)?;
        }
        scope.spawn(move || {
            while Instant::now() < end {
                sum_primes(500);
                thread::sleep(Duration::from_millis(5));
            }
        });
        while Instant::now() < end {
            (1..=3).try_for_each(|size| sender.send(size * 1000))?;
            // These threads are short-lived and run one after another. Finished threads with the same name share a
            // tree.
            Builder::new()
                .name("errand".to_owned())
                .spawn_scoped(scope, || sum_primes(2000))?;
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    })
}
