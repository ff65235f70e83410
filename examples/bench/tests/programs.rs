//! Tests that the benchmarks run, end and print what they should.

#![allow(clippy::unwrap_used, reason = "a test that cannot run its program has failed")]

use tickscope_testkit::command::{run, stderr, stdout};

const OVERHEAD: &str = env!("CARGO_BIN_EXE_overhead");
const ACCURACY: &str = env!("CARGO_BIN_EXE_accuracy");

/// Returns the number of a member in a line of JSON.
fn number(line: &str, key: &str) -> f64 {
    let (_, rest) = line.split_once(&format!("\"{key}\":")).unwrap();
    rest[..rest.find([',', '}']).unwrap()].parse().unwrap()
}

/// Returns the lines of a kind.
fn of_kind<'a>(text: &'a str, kind: &str) -> Vec<&'a str> {
    let begin = format!(r#"{{"kind":"{kind}","#);
    text.lines().filter(|line| line.starts_with(&begin)).collect()
}

#[test]
fn accuracy_compares_the_same_functions_in_each_mode() {
    let text = stdout(ACCURACY, &["0.1"]);
    for mode in ["exact", "adaptive", "sampled"] {
        for function in ["intersect_primary", "ray_trace", "worker", "(whole)"] {
            let row = |line: &str| line.starts_with(mode) && line.contains(function);
            assert!(text.lines().any(row), "{mode} {function}: {text}");
        }
    }
    assert!(stderr(ACCURACY, &["never"]).contains("never: wanted 0.1 to 3600"));
}

#[test]
fn accuracy_compares_costs_with_those_that_are_claimed() {
    let text = stdout(
        ACCURACY,
        &["--json", "--seconds", "0.1", "--case", "work20ns", "cost"],
    );
    let rows = of_kind(&text, "cost");
    // One and two threads, without histograms, and in adaptive mode.
    assert_eq!(rows.len(), 4, "{text}");
    for row in rows {
        for name in ["claimed", "measured"] {
            let [low, middle, high] =
                ["_low_ns", "_ns", "_high_ns"].map(|end| number(row, &format!("{name}{end}")));
            assert!(low <= middle && middle <= high, "{row}");
        }
        assert!(number(row, "off_ns").is_finite(), "{row}");
    }
    let [summary] = of_kind(&text, "cost-summary")[..] else {
        panic!("{text}")
    };
    assert_eq!(number(summary, "cases"), 4.0);
    assert!(number(summary, "inside") <= number(summary, "overlapping"));
}

/// Without perf there is only the word that says so.
#[test]
fn accuracy_compares_shares_with_those_that_perf_sees() {
    let words = ["--json", "--seconds", "0.5", "--case", "sphereflake", "share"];
    let output = run(ACCURACY, &words);
    let [text, errors] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success(), "{errors}");
    if text.is_empty() {
        assert!(
            errors.contains("sphereflake: shares are not compared, as perf"),
            "{errors}"
        );
        println!("shares are not run: {errors}");
        return;
    }
    let rows = of_kind(&text, "share");
    for mode in ["exact", "adaptive", "sampled"] {
        let of_mode = rows
            .iter()
            .filter(|row| row.contains(&format!(r#""mode":"{mode}""#)));
        let functions: Vec<&&str> = of_mode.collect();
        assert_eq!(functions.len(), 5, "{text}");
        for of in ["truth", "shown"] {
            let sum: f64 = functions.iter().map(|row| number(row, of)).sum();
            assert!((0.99..1.01).contains(&sum), "{mode} {of} {sum}: {text}");
        }
    }
    let [truth] = of_kind(&text, "truth")[..] else {
        panic!("{text}")
    };
    assert!(
        number(truth, "looks") > 10.0 * number(truth, "elsewhere"),
        "{truth}"
    );
}

#[test]
fn accuracy_says_what_is_wrong_with_its_arguments() {
    for (args, message) in [
        (
            &["--json", "--case", "fast"][..],
            "no case fast; there are: empty, work20ns",
        ),
        (
            &["--json", "--seconds"],
            "--seconds needs a value; usage: accuracy ",
        ),
        (&["--json", "--seconds", "0"], "0: wanted 0.1 to 3600 seconds"),
        (&["--json", "speed"], "what is speed? usage: accuracy "),
        (&["1", "2"], "what is 1 2? usage: accuracy "),
    ] {
        let text = stderr(ACCURACY, args);
        assert!(text.contains(message), "{text}");
    }
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
fn lines_cost_compares_turns() {
    let text = stdout(env!("CARGO_BIN_EXE_lines_cost"), &["3"]);
    assert!(
        text.starts_with("lines take ") && text.contains("1000 samples a second were asked for"),
        "{text}"
    );
    assert!(stderr(env!("CARGO_BIN_EXE_lines_cost"), &["2"]).contains("2: wanted 3 to 100000 rounds"));
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
