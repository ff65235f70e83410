#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test, which prints what it counts"
)]
//! Counts the instructions of a scope, a counter, a value, a gauge and a poll of a future by callgrind. The count is the
//! same every time, under any load.

use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Waker};

use tickscope::Mode;
use tickscope_bench::callgrind;
use tickscope_bench::workloads::Pending;

/// An operation that is repeated, and its expected number of instructions.
struct Expected {
    name: &'static str,
    run: fn(u64),
    mode: Mode,
    histogram: bool,
    /// Instructions of one execution and the loop around it (rustc 1.95), when the execution before entered the same
    /// node: in a release build, and in a debug build that optimises tickscope. Another compiler may change the numbers
    /// a little. A change of the code that raises the numbers must explain here why.
    release: f64,
    debug: f64,
    /// Number of executions before the counted ones.
    before: u64,
}

const fn exact(name: &'static str, run: fn(u64), release: f64, debug: f64) -> Expected {
    Expected {
        name,
        run,
        mode: Mode::Exact,
        histogram: true,
        release,
        debug,
        before: 10_000,
    }
}

const fn scopes_in(name: &'static str, mode: Mode, release: f64, debug: f64) -> Expected {
    Expected {
        mode,
        ..exact(name, scopes, release, debug)
    }
}

const EXPECTED: [Expected; 10] = [
    // Sorting 32 durations at a time would take slightly fewer instructions, but lengthen the longest call.
    exact("a scope", scopes, 111.1, 133.1),
    Expected {
        histogram: false,
        ..exact("a scope without histogram", scopes, 71.0, 92.0)
    },
    Expected {
        // Adaptive mode times one call in 128 after one and a half million calls.
        before: 3_000_000,
        ..scopes_in("a scope in adaptive mode", Mode::Adaptive, 90.0, 108.0)
    },
    scopes_in("a scope in sampled mode", Mode::Sampled, 76.0, 94.0),
    scopes_in("a scope in the mode off", Mode::Off, 10.0, 29.0),
    // Of the following, only the gauge and the poll read the clock. In a debug build, adding to a counter may take more
    // instructions, because `current` is taken out before and put back after it.
    exact("a counter alone", |count| counters(count, false), 23.0, 41.0),
    exact(
        "a counter beside a scope",
        |count| counters(count, true),
        75.0,
        93.0,
    ),
    exact("a value", values, 101.0, 106.0),
    exact("a gauge", gauges, 93.0, 93.0),
    // If all polls of a call used the same slot in the buffer of durations, they would take some 50 instructions more.
    exact("a poll of a future", polls, 218.0, 279.0),
];

/// Variables for the process that callgrind watches: the index in `EXPECTED`, and the number of executions.
const WHICH: &str = "COUNT_INSTRUCTIONS_OF";
const TIMES: &str = "COUNT_INSTRUCTIONS_OF_TIMES";

/// Number of counted executions.
const COUNTED: u64 = 100_000;

#[inline(never)]
fn scopes(count: u64) {
    for scope in 0..count {
        black_box(scope);
        tickscope::scope!("counted");
    }
}

/// Executes counters. With `beside_a_scope`, a scope has the same parent, and the search for a child finds this scope first.
#[inline(never)]
fn counters(count: u64, beside_a_scope: bool) {
    tickscope::scope!("around");
    if beside_a_scope {
        tickscope::scope!("beside");
    }
    for amount in 0..count {
        tickscope::count!("counted", black_box(amount));
    }
}

#[inline(never)]
fn values(count: u64) {
    tickscope::scope!("around");
    for number in 0..count {
        tickscope::value!("given", black_box(number));
    }
}

#[inline(never)]
fn gauges(count: u64) {
    tickscope::scope!("around");
    for level in 0..count {
        tickscope::gauge!("set", black_box(level));
    }
}

#[inline(never)]
fn polls(count: u64) {
    tickscope::scope!("around");
    let mut future = pin!(tickscope::future!("polled", Pending(count)));
    let mut context = Context::from_waker(Waker::noop());
    while black_box(future.as_mut().poll(&mut context)).is_pending() {}
}

#[test]
#[ignore = "wants valgrind: .ci/nightly instructions"]
fn all_take_as_many_instructions_as_before() {
    if let (Ok(which), Ok(count)) = (std::env::var(WHICH), std::env::var(TIMES)) {
        let expected = &EXPECTED[which.parse::<usize>().unwrap()];
        callgrind::enter(expected.mode, expected.histogram);
        return (expected.run)(count.parse().unwrap());
    }
    assert!(
        callgrind::is_here(),
        "wanted valgrind (Debian: apt-get install valgrind)"
    );
    let mut wrong = Vec::new();
    for (which, expected) in EXPECTED.iter().enumerate() {
        // The two runs differ only in the counted executions.
        let [few, many] = [expected.before, expected.before + COUNTED].map(|count| {
            let this = "all_take_as_many_instructions_as_before";
            callgrind::instructions(
                &["--exact", this, "--ignored", "--test-threads=1"],
                &[(WHICH, &which.to_string()), (TIMES, &count.to_string())],
            )
            .unwrap()
        });
        let each = (many as f64 - few as f64) / COUNTED as f64;
        let wanted = if cfg!(debug_assertions) {
            expected.debug
        } else {
            expected.release
        };
        eprintln!("{}: {each:.2} instructions, {wanted} expected", expected.name);
        if !(wanted * 0.5..=wanted * 1.05).contains(&each) {
            wrong.push(expected.name);
        }
    }
    assert!(wrong.is_empty(), "more instructions than expected: {wrong:?}");
}
