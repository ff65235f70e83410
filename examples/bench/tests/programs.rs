//! Tests that the benchmarks run, end and print what they should.

#![allow(clippy::unwrap_used, reason = "a test that cannot run its program has failed")]

use tickscope_testkit::command::{stderr, stdout};

const OVERHEAD: &str = env!("CARGO_BIN_EXE_overhead");

#[test]
fn accuracy_compares_the_same_functions_in_each_mode() {
    let text = stdout(env!("CARGO_BIN_EXE_accuracy"), &["0.1"]);
    for mode in ["exact", "adaptive", "sampled"] {
        for function in ["intersect_primary", "ray_trace", "worker", "(whole)"] {
            let row = |line: &str| line.starts_with(mode) && line.contains(function);
            assert!(text.lines().any(row), "{mode} {function}: {text}");
        }
    }
    assert!(stderr(env!("CARGO_BIN_EXE_accuracy"), &["never"]).contains("never: wanted 0.1 to 3600"));
}

#[test]
fn overhead_writes_an_object_for_each_mode() {
    let text = stdout(OVERHEAD, &["--json", "--case", "empty", "--threads", "1"]);
    let modes = [
        "plain",
        "floor",
        "exact",
        "exact_nohist",
        "adaptive",
        "sampled",
        "off",
    ];
    assert_eq!(text.lines().count(), modes.len(), "{text}");
    let number = |line: &str, key: &str| -> f64 {
        let (_, rest) = line.split_once(&format!("\"{key}\":")).unwrap();
        rest[..rest.find([',', '}']).unwrap()].parse().unwrap()
    };
    for (line, mode) in text.lines().zip(modes) {
        let begin = format!(r#"{{"case":"empty","mode":"{mode}","threads":1,"ns_per_scope":"#);
        assert!(line.starts_with(&begin) && line.ends_with('}'), "{line}");
        let [low, ratio, high] = ["ratio_lo", "ratio_to_plain", "ratio_hi"].map(|key| number(line, key));
        assert!(low <= ratio && ratio <= high, "{line}");
        // On any machine, two clock reads take longer than one round of an empty loop.
        assert!(!["floor", "exact"].contains(&mode) || low > 1.0, "{line}");
    }
}

#[test]
fn overhead_says_what_is_wrong_with_its_arguments() {
    for (args, message) in [
        (
            &["--case", "fast"][..],
            "no case fast; there are: empty, work20ns",
        ),
        (&["--threads", "0"], "--threads 0: wanted 1 to 64"),
        (&["--case"], "--case needs a value; usage: overhead "),
        (&["--speed"], "what is --speed? usage: overhead "),
        (&["--child", "instructions", "empty", "fast", "1"], "no such mode"),
    ] {
        let text = stderr(OVERHEAD, args);
        assert!(text.contains(message), "{text}");
    }
}

#[test]
fn allocation_cost_compares_both_sizes() {
    let text = stdout(env!("CARGO_BIN_EXE_allocation_cost"), &["3"]);
    assert_eq!(text.lines().count(), 2 + 2, "{text}");
    assert!(stderr(env!("CARGO_BIN_EXE_allocation_cost"), &["2"]).contains("2: wanted 3 to 100000 rounds"));
}

#[test]
fn lock_cost_compares_all_locks() {
    let text = stdout(env!("CARGO_BIN_EXE_lock_cost"), &["3"]);
    let lines = text
        .lines()
        .filter(|line| line.starts_with("Mutex") || line.starts_with("RwLock"));
    assert!([3, 6].contains(&lines.count()), "{text}");
    assert!(stderr(env!("CARGO_BIN_EXE_lock_cost"), &["2"]).contains("2: wanted 3 to 100000 rounds"));
    assert!(
        stderr(env!("CARGO_BIN_EXE_lock_cost"), &["count", "Spin", "std", "1"])
            .contains("Spin: no such case")
    );
}

#[test]
fn poll_cost_compares_all_futures() {
    let text = stdout(env!("CARGO_BIN_EXE_poll_cost"), &["3"]);
    let lines = text
        .lines()
        .filter(|line| line.starts_with("poll, ") || line.starts_with("call, "));
    assert!([4, 8].contains(&lines.count()), "{text}");
    assert!(stderr(env!("CARGO_BIN_EXE_poll_cost"), &["2"]).contains("2: wanted 3 to 100000 rounds"));
    for (arguments, message) in [
        (["count", "spin", "plain", "1"], "spin: no such case"),
        (
            ["count", "poll, wait!", "plain", "0"],
            "0: wanted a number of polls",
        ),
    ] {
        assert!(stderr(env!("CARGO_BIN_EXE_poll_cost"), &arguments).contains(message));
    }
}
