#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test, which prints what it counts"
)]
//! Counts the instructions of a counter, a value, a gauge and a poll of a future. Only the last two read the clock.

use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Waker};

use tickscope::Mode;
use tickscope_bench::callgrind;
use tickscope_bench::workloads::Pending;

/// Variables for the process under callgrind: the kind of counter, whether there is a scope beside it, and the count.
const KIND: &str = "COUNT_INSTRUCTIONS_OF_KIND";
const BESIDE: &str = "COUNT_INSTRUCTIONS_BESIDE_A_SCOPE";
const COUNTERS: &str = "COUNT_INSTRUCTIONS_OF_COUNTERS";

/// Number of counters that are executed.
const COUNTED: u64 = 100_000;

/// Executes counters, beside a scope with the same parent if wanted. The search for a child then finds the scope first.
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
fn a_counter_takes_as_many_instructions_as_before() {
    let this = "a_counter_takes_as_many_instructions_as_before";
    let set = [KIND, BESIDE, COUNTERS].map(std::env::var);
    if let [Ok(kind), Ok(beside), Ok(count)] = set {
        callgrind::enter(Mode::Exact, true);
        let count = count.parse().unwrap();
        return match kind.as_str() {
            "value" => values(count),
            "gauge" => gauges(count),
            "poll" => polls(count),
            _ => counters(count, beside == "1"),
        };
    }
    assert!(
        callgrind::is_here(),
        "wanted valgrind (Debian: apt-get install valgrind)"
    );
    let mut wrong = Vec::new();
    // In a debug build an addition may take more instructions, because `current` is taken out and put back around it.
    for (kind, beside, name, release, debug) in [
        ("counter", "0", "a counter alone", 23.0, 41.0),
        ("counter", "1", "a counter beside a scope", 75.0, 93.0),
        ("value", "0", "a value", 101.0, 106.0),
        ("gauge", "0", "a gauge", 93.0, 93.0),
        // If all polls of a call used one place in the buffer of durations, they would take some 50 instructions more.
        ("poll", "0", "a poll of a future", 218.0, 279.0),
    ] {
        let [few, many] = [10_000, 10_000 + COUNTED].map(|count: u64| {
            let environment = [(KIND, kind), (BESIDE, beside), (COUNTERS, &count.to_string())];
            callgrind::instructions(&["--exact", this, "--ignored", "--test-threads=1"], &environment)
                .unwrap()
        });
        let per_counter = (many as f64 - few as f64) / COUNTED as f64;
        let wanted = if cfg!(debug_assertions) { debug } else { release };
        eprintln!("{name}: {per_counter:.2} instructions, {wanted} expected");
        if !(wanted * 0.5..=wanted * 1.05).contains(&per_counter) {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "more instructions than expected: {wrong:?}");
}
