//! Tests benchmarks as a user would write them. The test starts this program again as `cargo bench` would, and checks
//! the report files.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![allow(clippy::print_stdout, reason = "it says what it found")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::thread;

use criterion::{BenchmarkId, Criterion};
use tickscope::__private::spans::IS_MEASURED;
use tickscope_criterion::{Format, TickscopeProfiler, tickscope};
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot_file;
use tickscope_testkit::suite;

fn words(input: &str) -> usize {
    tickscope::scope!("words");
    input.split(' ').map(letters).sum()
}

fn letters(word: &str) -> usize {
    tickscope::scope!("letters");
    word.len()
}

fn benchmarks() {
    // This call must not be in the report of the first benchmark that is profiled.
    words("before any benchmark");
    let mut criterion = Criterion::default()
        .with_profiler(TickscopeProfiler::new(Format::Tks).and(Format::Folded))
        .configure_from_args();
    criterion.bench_function("one", |bencher| bencher.iter(|| words("one")));
    let mut group = criterion.benchmark_group("group/of");
    for count in [3, 5] {
        let input = vec!["word"; count].join(" ");
        group.bench_with_input(BenchmarkId::new("words", count), &input, |bencher, input| {
            bencher.iter(|| words(input));
        });
    }
    group.finish();
    assert_eq!(tickscope::mode(), tickscope::Mode::Off);
    words("behind all benchmarks");
    drop(criterion);
}

fn run(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("TICKSCOPE") {
            command.env_remove(name);
        }
    }
    let rings = directory.join("rings");
    let output = command
        .current_dir(directory)
        .env("TICKSCOPE_DIR", rings)
        .env("CRITERION_HOME", directory.join("criterion"))
        .env("BENCHMARKS", "1")
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

fn main() -> ExitCode {
    if std::env::var_os("BENCHMARKS").is_none() {
        return suite::main(&[TESTS]);
    }
    benchmarks();
    ExitCode::SUCCESS
}

tickscope_testkit::tests![each_benchmark_has_a_report_of_its_own];

fn each_benchmark_has_a_report_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let profiles = [("one", 1), ("group_of/words/3", 3), ("group_of/words/5", 5)];
    let is_there = |benchmark: &str, ending: &str| file(directory, benchmark, ending).exists();
    // With `--test`, criterion runs the benchmarks but does not profile them, so no report is written.
    run(directory, &["--test"]);
    assert!(!profiles.iter().any(|(benchmark, _)| is_there(benchmark, "tks")));
    // A report replaces the one of an earlier run.
    let earlier = file(directory, "one", "tks");
    if IS_MEASURED {
        fs::create_dir_all(earlier.parent().unwrap()).unwrap();
        fs::write(&earlier, "an earlier report").unwrap();
    }
    // Criterion profiles each benchmark for at least a second, so the two of the group run beside the other one.
    thread::scope(|scope| {
        for only in ["group", "one"] {
            scope.spawn(move || run(directory, &["--bench", "--profile-time", "1", only]));
        }
    });
    if !IS_MEASURED {
        assert!(!profiles.iter().any(|(benchmark, _)| is_there(benchmark, "tks")));
        return;
    }
    // The report has the first name if the feature `report` is on, and otherwise the second.
    assert!(
        profiles
            .iter()
            .all(|(benchmark, _)| is_there(benchmark, "folded") != is_there(benchmark, "folded.tks"))
    );
    let found = profiles.map(|(benchmark, words)| calls(&file(directory, benchmark, "tks"), words));
    println!("calls: {found:?}");
}

fn file(directory: &Path, benchmark: &str, ending: &str) -> PathBuf {
    directory.join(format!("criterion/{benchmark}/profile/tickscope.{ending}"))
}

/// Checks that a report has only the calls of one benchmark, and returns the number of calls of `words`.
fn calls(file: &Path, words: u64) -> u64 {
    let snapshot = snapshot_file::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let rows: Vec<(&str, u64)> = (0..snapshot.nodes.len() as u32)
        .map(|row| {
            (
                snapshot.site_of(NodeId(row)).name.as_str(),
                snapshot.nodes.calls[row as usize],
            )
        })
        .filter(|(_, calls)| *calls > 0)
        .collect();
    let [("words", calls), ("letters", inner)] = rows[..] else {
        panic!("{}: {rows:?}", file.display());
    };
    assert_eq!(inner, words * calls, "{}", file.display());
    calls
}
