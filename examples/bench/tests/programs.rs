//! Tests that the benchmarks run to the end and print the expected text.

#![allow(clippy::unwrap_used, reason = "a test that cannot run its program has failed")]

use tickscope_testkit::command;

const BENCH: &str = env!("CARGO_BIN_EXE_bench");

/// Runs a benchmark that must succeed, and returns its output.
fn stdout(words: &[&str]) -> String {
    command::stdout(BENCH, words)
}

/// Returns the number that a line of JSON has for this key.
fn number(line: &str, key: &str) -> f64 {
    let (_, rest) = line.split_once(&format!("\"{key}\":")).unwrap();
    rest[..rest.find([',', '}']).unwrap()].parse().unwrap()
}

/// Returns the lines whose JSON object is of this kind.
fn of_kind<'a>(text: &'a str, kind: &str) -> Vec<&'a str> {
    let begin = format!(r#"{{"kind":"{kind}","#);
    text.lines().filter(|line| line.starts_with(&begin)).collect()
}

#[test]
fn accuracy_compares_costs_with_those_that_are_claimed() {
    let text = stdout(&["accuracy", "cost", "--seconds", "0.1", "--case", "work20ns"]);
    let rows = of_kind(&text, "cost");
    // There are rows for one thread, for two threads, without histograms, and in adaptive mode.
    assert_eq!(rows.len(), 4, "{text}");
    for row in rows {
        for name in ["claimed", "measured"] {
            let [low, middle, high] =
                ["_low_ns", "_ns", "_high_ns"].map(|end| number(row, &format!("{name}{end}")));
            assert!(low <= middle && middle <= high, "{row}");
        }
    }
    let [summary] = of_kind(&text, "cost-summary")[..] else {
        panic!("{text}")
    };
    assert_eq!(number(summary, "cases"), 4.0);
    assert!(number(summary, "inside") <= number(summary, "overlapping"));
}

/// If perf is not available, the program only prints a message that says so.
#[test]
fn accuracy_compares_shares_with_those_that_perf_sees() {
    let words = ["accuracy", "share", "--seconds", "0.5", "--case", "sphereflake"];
    let output = command::run(BENCH, &words);
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
fn overhead_makes_a_table_of_each_figure() {
    let text = stdout(&[
        "overhead",
        "--case",
        "empty",
        "--threads",
        "1",
        "--no-instructions",
    ]);
    assert_eq!(text.matches("| | empty |").count(), 3, "{text}");
    for mode in [
        "plain",
        "floor",
        "exact",
        "exact_nohist",
        "adaptive",
        "sampled",
        "off",
        "exact+viewer",
    ] {
        assert_eq!(
            text.matches(&format!("\n| {mode} | ")).count(),
            3,
            "{mode}: {text}"
        );
    }
    // On any machine, two clock reads take longer than one iteration of an empty loop.
    for mode in ["floor", "exact"] {
        let row = text
            .lines()
            .rfind(|line| line.starts_with(&format!("| {mode} | ")));
        let (ratio, interval) = row.unwrap().split_once(" (").unwrap();
        let ratio: f64 = ratio.rsplit(' ').next().unwrap().parse().unwrap();
        let low: f64 = interval.split(' ').next().unwrap().parse().unwrap();
        assert!(1.0 < low && low <= ratio, "{mode}: {text}");
    }
}

#[test]
fn small_things_are_compared_with_the_same_without_tickscope() {
    for (what, cases) in [
        ("allocations", &["64 bytes", "4096 bytes"][..]),
        ("locks", &["Mutex", "RwLock, read", "RwLock, write"]),
        (
            "polls",
            &["poll, future!", "poll, wait!", "poll, task", "call, future!"],
        ),
        (
            "spans",
            &[
                "scope!",
                "bare",
                "bare, field",
                "layer",
                "times layer",
                "empty layer",
            ],
        ),
    ] {
        let text = stdout(&["cost", what, "3"]);
        for case in cases {
            let lines = text
                .lines()
                .filter(|line| line.starts_with(&format!("{case:14} ")));
            assert_eq!(lines.count(), 1, "{case}: {text}");
        }
    }
}

#[test]
fn lines_are_compared_in_turns() {
    let text = stdout(&["lines", "3"]);
    assert!(text.starts_with("lines take "), "{text}");
    assert!(text.contains("1000 samples a second were asked for"), "{text}");
}

#[test]
fn waits_are_shown_beside_those_of_the_kernel() {
    let text = stdout(&["waits"]);
    for case in ["sleep 10 ms", "contended lock", "preempted sleeper"] {
        assert!(text.lines().any(|line| line.starts_with(case)), "{case}: {text}");
    }
}

#[test]
fn records_starts_and_first_visits_are_measured() {
    let text = stdout(&["publish", "1000"]);
    assert_eq!(text.lines().count(), 2 + 4, "{text}");
    assert_eq!(stdout(&["first-visit"]).lines().count(), 2 + 4);
    let text = stdout(&["start"]);
    assert_eq!(text.matches("\nexit of the process ").count(), 2, "{text}");
}

#[test]
fn what_is_not_understood_is_said() {
    let table = "
        overhead --case fast => [possible values: empty, work20ns,
        overhead --threads 0 => 0 is not in 1..=64
        overhead --case => a value is required for '--case <CASE>'
        overhead --speed => unexpected argument '--speed'
        accuracy cost --case busy20us => [possible values: empty, work20ns,
        accuracy share --seconds 0 => wanted 0.1 to 3600 seconds
        accuracy speed => [possible values: cost, share, errors]
        cost speed => [possible values: allocations, locks, polls, spans]
        cost locks 2 => 2 is not in 3..=100000
        lines 2 => 2 is not in 3..=100000
        child instructions empty fast 1 => fast: no such mode
        child times locks Spin 1 => Spin: no such case
        child spin => what is this child to do?
    ";
    for line in table.trim().lines().map(str::trim) {
        let (words, message) = line.split_once(" => ").unwrap();
        let output = command::run(BENCH, &words.split(' ').collect::<Vec<_>>());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{words}");
        assert!(said.contains(message), "{words}: {said}");
    }
}
