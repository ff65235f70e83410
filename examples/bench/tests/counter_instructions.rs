#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test, which says why it is skipped"
)]
//! How many instructions a counter takes, as callgrind counts them: none of them is a look at the clock.

use std::hint::black_box;

use tickscope::Mode;

#[path = "../src/bin/overhead/callgrind.rs"]
mod callgrind;

/// Set in the process that callgrind watches: whether there is a scope beside the counters, and how many to count.
const BESIDE: &str = "COUNT_INSTRUCTIONS_BESIDE_A_SCOPE";
const COUNTERS: &str = "COUNT_INSTRUCTIONS_OF_COUNTERS";

/// Counters that are counted.
const COUNTED: u64 = 100_000;

/// Counters beside a scope that is a child of the same: none of them is the child looked at first.
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
    // A debug build takes the mark out and puts it back: an addition may be more than one instruction there.
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
