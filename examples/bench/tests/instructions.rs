#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test, which prints what it counts"
)]
//! Counts the instructions of a scope by callgrind. The count is the same every time, under any load.

use std::hint::black_box;

use tickscope::Mode;
use tickscope_bench::callgrind;

/// A way to measure, and the expected result.
struct Expected {
    name: &'static str,
    mode: Mode,
    histogram: bool,
    /// Instructions of a begin and an end with the loop around them (rustc 1.95), if the child was entered last: in a
    /// release build, and in a debug build that optimises tickscope. Another compiler may change them a little. A
    /// change of the code that raises them must explain here why.
    release: f64,
    debug: f64,
    /// Scopes before the counted ones, because adaptive mode times one call in 128 after one and a half million calls.
    before: u64,
}

const EXPECTED: [Expected; 5] = [
    Expected {
        name: "exact",
        mode: Mode::Exact,
        histogram: true,
        // This is a little more than with durations sorted 32 at a time, in exchange for a shorter longest call.
        release: 111.1,
        debug: 133.1,
        before: 10_000,
    },
    Expected {
        name: "exact without histogram",
        mode: Mode::Exact,
        histogram: false,
        release: 71.0,
        debug: 92.0,
        before: 10_000,
    },
    Expected {
        name: "adaptive",
        mode: Mode::Adaptive,
        histogram: true,
        release: 90.0,
        debug: 108.0,
        before: 3_000_000,
    },
    Expected {
        name: "sampled",
        mode: Mode::Sampled,
        histogram: true,
        release: 76.0,
        debug: 94.0,
        before: 10_000,
    },
    Expected {
        name: "off",
        mode: Mode::Off,
        histogram: true,
        release: 10.0,
        debug: 29.0,
        before: 10_000,
    },
];

/// Variables for the process that callgrind watches: the index in `EXPECTED`, and the number of scopes to open.
const WHICH: &str = "COUNT_INSTRUCTIONS_OF";
const SCOPES: &str = "COUNT_INSTRUCTIONS_OF_SCOPES";

/// Number of scopes that are counted.
const COUNTED: u64 = 100_000;

#[inline(never)]
fn scopes(count: u64) {
    for scope in 0..count {
        black_box(scope);
        tickscope::scope!("counted");
    }
}

#[test]
#[ignore = "wants valgrind: .ci/nightly instructions"]
fn a_scope_takes_as_many_instructions_as_before() {
    if let (Ok(which), Ok(count)) = (std::env::var(WHICH), std::env::var(SCOPES)) {
        let expected = &EXPECTED[which.parse::<usize>().unwrap()];
        callgrind::enter(expected.mode, expected.histogram);
        return scopes(count.parse().unwrap());
    }
    assert!(
        callgrind::is_here(),
        "wanted valgrind (Debian: apt-get install valgrind)"
    );
    let mut wrong = Vec::new();
    for (which, expected) in EXPECTED.iter().enumerate() {
        // The two runs differ in the scopes alone.
        let [few, many] = [expected.before, expected.before + COUNTED].map(|count| {
            let this = "a_scope_takes_as_many_instructions_as_before";
            callgrind::instructions(
                &["--exact", this, "--ignored", "--test-threads=1"],
                &[(WHICH, &which.to_string()), (SCOPES, &count.to_string())],
            )
            .unwrap()
        });
        let per_scope = (many as f64 - few as f64) / COUNTED as f64;
        let wanted = if cfg!(debug_assertions) {
            expected.debug
        } else {
            expected.release
        };
        eprintln!(
            "{}: {per_scope:.2} instructions a scope, {wanted} expected",
            expected.name
        );
        if !(wanted * 0.5..=wanted * 1.05).contains(&per_scope) {
            wrong.push(expected.name);
        }
    }
    assert!(wrong.is_empty(), "more instructions than expected: {wrong:?}");
}
