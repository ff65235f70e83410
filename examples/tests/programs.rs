//! Tests that the programs run, end and print the expected text.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot run its program has failed"
)]

use std::path::Path;
use std::process::Command;

use tickscope_analysis::compare::diff::Diff;
use tickscope_analysis::compare::gate::{Condition, Judged, judge};
use tickscope_format::Snapshot;
use tickscope_format::file::open::{Liveness, RingFile};
use tickscope_testkit::command::{run, stderr, stdout};

const SPHEREFLAKE: &str = env!("CARGO_BIN_EXE_sphereflake");

/// Runs a program with a session directory of its own. Returns its standard output and its last snapshot.
fn snapshot(program: &str, args: &[&str]) -> (String, Snapshot) {
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new(program);
    command.args(args).env("TICKSCOPE_DIR", directory.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut files = std::fs::read_dir(directory.path()).unwrap();
    let ring = files.find_map(|file| {
        Some(file.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "ring"))
    });
    let file = RingFile::open(&ring.unwrap()).unwrap();
    assert!(matches!(file.liveness(), Ok(Liveness::Exited { .. })));
    let (_, snapshot) = file.newest_snapshot().unwrap();
    (String::from_utf8(output.stdout).unwrap(), snapshot)
}

/// Returns the rows of the table in README.md: the name of each example, and the arguments in its command.
fn index() -> Vec<(&'static str, Vec<&'static str>)> {
    let rows = include_str!("../README.md")
        .lines()
        .filter(|line| line.starts_with("| ["));
    let parse = |row: &'static str| {
        let (name, rest) = row.strip_prefix("| [")?.split_once("](src/bin/")?;
        let rest = rest.strip_prefix(&format!("{name}.rs) | "))?;
        let command = rest.strip_suffix("` |")?.rsplit('`').next()?;
        let begin = format!("cargo run --release -p tickscope-examples --bin {name}");
        let arguments = command.strip_prefix(&begin)?;
        let words = match arguments {
            "" => "",
            _ => arguments.strip_prefix(" -- ")?,
        };
        Some((name, words.split(' ').filter(|word| !word.is_empty()).collect()))
    };
    let checked = |row: &'static str| {
        let parsed = parse(row);
        assert!(parsed.is_some(), "not as a row of the index should be: {row}");
        parsed.unwrap()
    };
    rows.map(checked).collect()
}

#[test]
fn the_index_names_every_example() {
    let mut indexed: Vec<String> = index().iter().map(|(name, _)| format!("{name}.rs")).collect();
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/bin")).unwrap();
    let mut files: Vec<String> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    indexed.sort();
    files.sort();
    assert_eq!(indexed, files);
}

#[test]
fn each_example_of_the_index_runs_with_the_arguments_of_its_command() {
    for (name, arguments) in index() {
        // Shorten the runs: fewer seconds, frames and pairs.
        let shorter = |word| match word {
            "60" => "0",
            "2000" => "40",
            "8" => "1",
            _ => word,
        };
        let mut arguments: Vec<&str> = arguments.into_iter().map(shorter).collect();
        if name == "sphereflake" {
            arguments.extend(["--size", "64"]);
        }
        let program = Path::new(SPHEREFLAKE).with_file_name(name);
        let said = stdout(program.to_str().unwrap(), &arguments);
        assert!(!said.is_empty(), "{name}");
    }
}

#[test]
fn programs_that_run_for_a_while_say_how_to_look_inside() {
    for (program, looks) in [
        (env!("CARGO_BIN_EXE_hello"), "tickscope hello"),
        (env!("CARGO_BIN_EXE_threads"), "tickscope threads"),
        (env!("CARGO_BIN_EXE_groups"), "tickscope log groups"),
        (env!("CARGO_BIN_EXE_async_tasks"), "tickscope async_tasks"),
        (env!("CARGO_BIN_EXE_spans"), "tickscope spans"),
    ] {
        assert!(stdout(program, &["0"]).contains(looks), "{program}");
        assert!(stderr(program, &["soon"]).contains("not `soon`"), "{program}");
    }
}

#[test]
fn frames_are_the_same_however_they_search_and_comparing_them_tells() {
    let frames = env!("CARGO_BIN_EXE_frames");
    let gate: Condition = "calls > 1%".parse().unwrap();
    let (picture, before) = snapshot(frames, &["40"]);
    for (args, slower) in [
        (["40", "--linear"], true),
        (["40", "40"], false),
        (["80", "80"], false),
    ] {
        let (after_picture, after) = snapshot(frames, &args);
        if args[0] == "40" {
            assert_eq!(picture, after_picture, "whatever the search, the same");
        }
        let diff = Diff::of(std::slice::from_ref(&before), &[after], Some("frame")).unwrap();
        let verdict = judge(&diff, &gate).unwrap();
        let failed: Vec<&str> = verdict
            .failures
            .iter()
            .filter_map(|failure| match failure.of {
                Judged::Function(id) => Some(diff.functions.get(id).name.as_str()),
                Judged::Whole => None,
            })
            .collect();
        assert_eq!(failed, if slower { vec!["compare"] } else { vec![] }, "{args:?}");
    }
    assert!(stderr(frames, &["many"]).contains("usage: frames"));
}

#[test]
fn resets_anywhere_lose_no_call() {
    let text = stdout(env!("CARGO_BIN_EXE_reset_anywhere"), &[]);
    assert!(
        text.ends_with("3200000 calls in 31 epochs, 3200000 were made\n"),
        "{text}"
    );
}

#[test]
fn sphereflake_renders_the_same_with_scopes_and_without() {
    let picture = |args: &[&str]| {
        let text = stdout(SPHEREFLAKE, &[&["--level", "3", "--size", "48"], args].concat());
        text.lines()
            .filter_map(|line| line.split_once("picture "))
            .map(|(_, sum)| sum.to_owned())
            .collect()
    };
    let plain: Vec<String> = picture(&["--plain"]);
    let scoped: Vec<String> = picture(&["--threads", "3", "--frames", "2"]);
    assert_eq!([&plain[..], &plain[..]].concat(), scoped);
}

#[test]
fn sphereflake_compares_in_turns() {
    let text = stdout(SPHEREFLAKE, &["--level", "2", "--size", "16", "--compare", "3"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[2].starts_with("pair 3: plain "), "{text}");
    assert!(lines[3].starts_with("median ratio "), "{text}");
    assert!(lines[3].ends_with(", 3 pairs"), "{text}");
}

#[test]
fn sphereflake_says_what_is_wrong_with_its_arguments() {
    assert!(stdout(SPHEREFLAKE, &["--help"]).contains("--compare <COMPARE>"));
    for (args, message) in [
        (&["--level", "9"][..], "9 is not in 1..=8"),
        (&["--frames", "0"], "0 is not in 1..="),
        (&["--size"], "a value is required for '--size <SIZE>'"),
        (&["--speed", "2"], "unexpected argument '--speed'"),
        (&["--plain", "--compare", "2"], "cannot be used with"),
    ] {
        let output = run(SPHEREFLAKE, args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(message), "{said}");
    }
    let pgm = ["--plain", "--level", "1", "--size", "4", "--pgm", "/"];
    assert!(stderr(SPHEREFLAKE, &pgm).contains("cannot write /: "));
}
