//! Measures what watching a function adds to the scopes in its calls, and to the call itself. All calls are typical.
//!
//! `watch_cost [ROUNDS]`, 101 rounds unless said otherwise.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tickscope::Over;
use tickscope_bench::pairs;
use tickscope_bench::pairs::Pair;

/// How many scopes a round opens.
const SCOPES: u64 = 100_000;

/// How many scopes a watched call opens.
const IN_A_CALL: u64 = 200;

/// Opens scopes inside the scope that is open: all of one site, or two sites in turns.
#[inline(never)]
fn inner(count: u64) {
    for number in 0..count {
        tickscope::scope!("inner");
        black_box(number);
    }
}

#[inline(never)]
fn alternating(count: u64) {
    for number in 0..count / 2 {
        tickscope::time!("one", black_box(number));
        tickscope::time!("other", black_box(number));
    }
}

/// Is pending so often, and then ready.
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

/// Polls a future until it is ready.
fn run(future: impl Future<Output = ()>) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    while black_box(future.as_mut().poll(&mut context)).is_pending() {}
}

fn plain(scopes: u64, inside: fn(u64)) {
    for _ in 0..scopes / IN_A_CALL {
        tickscope::scope!("plain");
        inside(IN_A_CALL);
    }
}

fn watched(scopes: u64, inside: fn(u64)) {
    for _ in 0..scopes / IN_A_CALL {
        tickscope::scope!("watched");
        inside(IN_A_CALL);
    }
}

const CASES: [Pair; 5] = [
    Pair {
        name: "scope inside",
        plain: |scopes| plain(scopes, inner),
        measured: |scopes| watched(scopes, inner),
    },
    Pair {
        name: "alternating",
        plain: |scopes| plain(scopes, alternating),
        measured: |scopes| watched(scopes, alternating),
    },
    Pair {
        name: "the call",
        plain: |calls| {
            for number in 0..calls {
                tickscope::scope!("plain");
                black_box(number);
            }
        },
        measured: |calls| {
            for number in 0..calls {
                tickscope::scope!("watched");
                black_box(number);
            }
        },
    },
    Pair {
        name: "poll",
        plain: |polls| {
            for _ in 0..polls / IN_A_CALL {
                run(tickscope::future!("plain", Pending(IN_A_CALL - 1)));
            }
        },
        measured: |polls| {
            for _ in 0..polls / IN_A_CALL {
                run(tickscope::future!("watched", Pending(IN_A_CALL - 1)));
            }
        },
    },
    Pair {
        name: "async call",
        plain: |calls| {
            for _ in 0..calls {
                run(tickscope::future!("plain", Pending(0)));
            }
        },
        measured: |calls| {
            for _ in 0..calls {
                run(tickscope::future!("watched", Pending(0)));
            }
        },
    },
];

/// Watches the function, and lets its threads know.
fn watch() -> Result<(), String> {
    let longest = Over::Duration(Duration::from_secs(3_600));
    tickscope::watch("watched", longest).map_err(|error| error.to_string())?;
    for case in &CASES {
        (case.measured)(IN_A_CALL);
    }
    tickscope::snapshot();
    Ok(())
}

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let rounds = pairs::rounds(words.first().map(String::as_str))?;
    let _session = tickscope::Builder::new("watch_cost")
        .mode(tickscope::Mode::Exact)
        .start();
    watch()?;
    println!(
        "A scope in a call of {IN_A_CALL} scopes, which is two events; a call with no other scope inside; a poll of an async call of \
         {IN_A_CALL} polls, and an async call of one poll: in ns, medians of {rounds} rounds; the difference with its 95 % interval:"
    );
    println!("case              plain   watched   difference");
    pairs::print_times(&CASES, rounds, SCOPES);
    let watches = tickscope::snapshot().watches;
    let calls = watches.first().map_or((0, 0), |watch| watch.calls());
    println!("{} typical and {} slow calls were watched", calls.0, calls.1);
    Ok(())
}
