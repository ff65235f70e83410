#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test, which prints what it counts"
)]
//! Counts with callgrind how many instructions a scope, a counter, a value, a gauge and a poll of a future take. The
//! counts are the same in every run, under any load.

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
    /// Instructions for one operation and the loop around it (rustc 1.95) when the previous operation entered the same
    /// node: in a release build, and in a debug build in which tickscope itself is optimised. Another compiler may
    /// change these numbers slightly. Any code change that increases them must be justified here.
    release: f64,
    debug: f64,
    /// Number of operations before the counted ones.
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
    // Sorting 32 durations at a time would take slightly fewer instructions on average, but would make the longest call
    // longer.
    exact("a scope", scopes, 111.1, 133.1),
    Expected {
        histogram: false,
        ..exact("a scope without histogram", scopes, 71.0, 92.0)
    },
    Expected {
        // After one and a half million calls, adaptive mode times only one call in 128.
        before: 3_000_000,
        ..scopes_in("a scope in adaptive mode", Mode::Adaptive, 90.0, 108.0)
    },
    scopes_in("a scope in sampled mode", Mode::Sampled, 76.0, 94.0),
    scopes_in("a scope in the mode off", Mode::Off, 10.0, 29.0),
    // Of the operations below, only the gauge and the poll read the clock. In a debug build, adding to a counter may
    // take more instructions, because `current` is taken out before it and put back afterwards.
    exact("a counter alone", |count| counters(count, false), 23.0, 41.0),
    exact(
        "a counter beside a scope",
        |count| counters(count, true),
        75.0,
        93.0,
    ),
    exact("a value", values, 101.0, 106.0),
    exact("a gauge", gauges, 93.0, 93.0),
    // If all polls of a call used the same slot in the buffer of durations, each poll would take about 50 more instructions.
    exact("a poll of a future", polls, 218.0, 279.0),
];

/// Environment variables for the process that callgrind observes: the index in `EXPECTED`, and the number of operations.
const WHICH: &str = "COUNT_INSTRUCTIONS_OF";
const TIMES: &str = "COUNT_INSTRUCTIONS_OF_TIMES";

/// Number of operations that are counted.
const COUNTED: u64 = 100_000;

#[inline(never)]
fn scopes(count: u64) {
    for scope in 0..count {
        black_box(scope);
        tickscope::scope!("counted");
    }
}

/// Adds to a counter repeatedly. With `beside_a_scope`, there is also a scope with the same parent, which the search
/// for the counter's node meets first.
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
        // The two runs differ only in the operations to be counted.
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
