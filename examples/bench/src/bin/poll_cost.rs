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

use tickscope_bench::statistics::{interval, median, sorted};
use tickscope_bench::timing::timed;

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

/// What is measured: so many polls of a future that is pending, or so many calls of one that is ready at once.
struct Case {
    name: &'static str,
    plain: fn(u64),
    profiled: fn(u64),
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

const CASES: [Case; 4] = [
    Case {
        name: "poll, future!",
        plain: one,
        profiled: |polls| run(tickscope::future!("polled", Pending(polls - 1))),
    },
    Case {
        name: "poll, wait!",
        plain: one,
        profiled: |polls| run(tickscope::wait!("awaited", Pending(polls - 1))),
    },
    Case {
        name: "poll, task",
        plain: one,
        profiled: |polls| run(tickscope::task("spawned", Pending(polls - 1))),
    },
    Case {
        name: "call, future!",
        plain: many,
        profiled: |calls| {
            for _ in 0..calls {
                run(tickscope::future!("called", Pending(black_box(0))));
            }
        },
    },
];

/// Returns the instructions of one poll or call: the difference between two runs of this program.
fn instructions(case: &str, whose: &str) -> Result<f64, String> {
    let few = callgrind::instructions(&["count", case, whose, "1000"], &[])?;
    let many = callgrind::instructions(&["count", case, whose, "101000"], &[])?;
    Ok((many as f64 - few as f64) / 100_000.0)
}

/// Does what a run under callgrind counts.
fn count(arguments: &[String]) -> Result<(), String> {
    let [case, whose, count] = arguments else {
        return Err("wanted a case, plain or profiled, and a number".into());
    };
    let known = CASES.iter().find(|known| known.name == case);
    let known = known.ok_or_else(|| format!("{case}: no such case"))?;
    let count = match count.parse() {
        Ok(count @ 1..) => count,
        _ => return Err(format!("{count}: wanted a number of polls")),
    };
    match whose.as_str() {
        "plain" => (known.plain)(count),
        _ => (known.profiled)(count),
    }
    Ok(())
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "count") {
        return self::count(&arguments[1..]);
    }
    let rounds = match arguments.first() {
        None => 101,
        Some(word) => match word.parse() {
            Ok(rounds @ 3..=100_000) => rounds,
            _ => return Err(format!("{word}: wanted 3 to 100000 rounds")),
        },
    };
    let _session = tickscope::start("poll_cost");
    println!(
        "A poll of a pending future, and a call of one that is ready at once, in ns, medians of {rounds} rounds; the \
         difference with its 95 % interval:"
    );
    println!("case              plain   profiled  difference");
    let ns = |body: fn(u64)| timed(|| body(POLLS)) / POLLS as f64;
    for case in &CASES {
        let pairs: Vec<(f64, f64)> = (0..rounds).map(|_| (ns(case.plain), ns(case.profiled))).collect();
        let plain = sorted(pairs.iter().map(|pair| pair.0));
        let profiled = sorted(pairs.iter().map(|pair| pair.1));
        let added = sorted(pairs.iter().map(|pair| pair.1 - pair.0));
        let (low, high) = interval(&added);
        println!(
            "{:14} {:8.2} {:10.2} {:11.2} [{low:.2} {high:.2}]",
            case.name,
            median(&plain),
            median(&profiled),
            median(&added),
        );
    }
    if !callgrind::is_here() {
        println!("no valgrind: instructions are not counted");
        return Ok(());
    }
    println!("The same in instructions, by callgrind:");
    for case in &CASES {
        let plain = instructions(case.name, "plain")?;
        let profiled = instructions(case.name, "profiled")?;
        println!(
            "{:14} {plain:8.2} {profiled:10.2} {:11.2}",
            case.name,
            profiled - plain
        );
    }
    Ok(())
}
