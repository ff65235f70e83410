#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test, which says why it is skipped"
)]
//! Counts the instructions of a counter by callgrind. None of them reads the clock.

use std::hint::black_box;

use tickscope::Mode;

#[path = "../src/bin/overhead/callgrind.rs"]
mod callgrind;

/// Set in the process that callgrind watches: whether there is a scope beside the counters, and how many to count.
const BESIDE: &str = "COUNT_INSTRUCTIONS_BESIDE_A_SCOPE";
const COUNTERS: &str = "COUNT_INSTRUCTIONS_OF_COUNTERS";

/// The number of counters that are executed.
const COUNTED: u64 = 100_000;

/// Executes counters, beside a scope with the same parent if wanted. The scope is then the child that is looked at
/// first.
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

#[test]
fn a_counter_takes_as_many_instructions_as_before() {
    let this = "a_counter_takes_as_many_instructions_as_before";
    if let (Ok(beside), Ok(count)) = (std::env::var(BESIDE), std::env::var(COUNTERS)) {
        callgrind::enter(Mode::Exact, true);
        return counters(count.parse().unwrap(), beside == "1");
    }
    if !callgrind::is_here() {
        eprintln!("skipped: there is no valgrind here (Debian: apt-get install valgrind)");
        return;
    }
    let mut wrong = Vec::new();
    // In a debug build an addition may take more than one instruction, so `current` is taken out and put back around
    // it.
    for (beside, name, release, debug) in [("0", "alone", 23.0, 41.0), ("1", "beside a scope", 75.0, 93.0)] {
        let [few, many] = [10_000, 10_000 + COUNTED].map(|count: u64| {
            let environment = [(BESIDE, beside), (COUNTERS, &count.to_string())];
            callgrind::instructions(&["--exact", this, "--test-threads=1"], &environment).unwrap()
        });
        let per_counter = (many as f64 - few as f64) / COUNTED as f64;
        let wanted = if cfg!(debug_assertions) { debug } else { release };
        eprintln!("{name}: {per_counter:.2} instructions a counter, {wanted} expected");
        if !(wanted * 0.5..=wanted * 1.05).contains(&per_counter) {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "more instructions than expected: {wrong:?}");
}
