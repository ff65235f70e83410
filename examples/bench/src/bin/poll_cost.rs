//! Measures what a profiled future adds to its polls and to its call: the time, and the instructions where valgrind is
//! installed. An executor that does nothing else polls them, on one thread.
//!
//! `poll_cost [ROUNDS]`, 101 rounds unless said otherwise.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

#[expect(dead_code, reason = "the benchmark of scopes also switches modes")]
#[path = "overhead/callgrind.rs"]
mod callgrind;

use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tickscope_bench::pairs;
use tickscope_bench::pairs::Pair;

/// How many polls a round makes.
const POLLS: u64 = 100_000;

/// Is pending so often, and then ready.
struct Pending(u64);

impl Future for Pending {
    type Output = ();

    #[inline(never)]
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

/// Polls a future until it is ready.
#[inline(always)]
fn run(future: impl Future<Output = ()>) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    while black_box(future.as_mut().poll(&mut context)).is_pending() {}
}

/// One future with so many polls.
fn one(polls: u64) {
    run(Pending(polls - 1));
}

/// So many futures with one poll each.
fn many(calls: u64) {
    for _ in 0..calls {
        run(Pending(black_box(0)));
    }
}

const CASES: [Pair; 4] = [
    Pair {
        name: "poll, future!",
        plain: one,
        measured: |polls| run(tickscope::future!("polled", Pending(polls - 1))),
    },
    Pair {
        name: "poll, wait!",
        plain: one,
        measured: |polls| run(tickscope::wait!("awaited", Pending(polls - 1))),
    },
    Pair {
        name: "poll, task",
        plain: one,
        measured: |polls| run(tickscope::task("spawned", Pending(polls - 1))),
    },
    Pair {
        name: "call, future!",
        plain: many,
        measured: |calls| {
            for _ in 0..calls {
                run(tickscope::future!("called", Pending(black_box(0))));
            }
        },
    },
];

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|first| first == "count") {
        return pairs::count(&CASES, "polls", &words[1..]);
    }
    let rounds = pairs::rounds(words.first().map(String::as_str))?;
    let _session = tickscope::Builder::new("poll_cost")
        .mode(tickscope::Mode::Exact)
        .start();
    println!(
        "A poll of a pending future, and a call of one that is ready at once, in ns, medians of {rounds} rounds; the \
         difference with its 95 % interval:"
    );
    println!("case              plain   profiled  difference");
    pairs::print_times(&CASES, rounds, POLLS);
    if !callgrind::is_here() {
        println!("no valgrind: instructions are not counted");
        return Ok(());
    }
    pairs::print_instructions(&CASES, |words| callgrind::instructions(words, &[]))
}
