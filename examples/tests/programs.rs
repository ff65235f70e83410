//! The programs run, end and say what they should.

#![allow(clippy::unwrap_used, reason = "a test that cannot run its program has failed")]

use std::process::{Command, Output};

use tickscope_format::file::open::RingFile;
use tickscope_format::profile::diff::Diff;
use tickscope_format::profile::gate::{Condition, Judged, judge};

const SPHEREFLAKE: &str = env!("CARGO_BIN_EXE_sphereflake");

/// Runs a program whose session, if it starts one, keeps to a directory of its own.
fn run(program: &str, args: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    Command::new(program)
        .args(args)
        .env("TICKSCOPE_DIR", directory.path())
        .output()
        .unwrap()
}

/// What a program that succeeds writes to its standard output.
fn stdout(program: &str, args: &[&str]) -> String {
    let output = run(program, args);
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// What a program that fails writes to its standard error.
fn stderr(program: &str, args: &[&str]) -> String {
    let output = run(program, args);
    assert_eq!(output.status.code(), Some(1), "{program} {args:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn hello_and_threads_end_when_their_time_is_over() {
    assert!(stdout(env!("CARGO_BIN_EXE_hello"), &["0"]).contains("tickscope hello"));
    assert!(stdout(env!("CARGO_BIN_EXE_threads"), &["0"]).contains("tickscope threads"));
    assert!(stdout(env!("CARGO_BIN_EXE_groups"), &["0"]).contains("tickscope log groups"));
    assert!(stderr(env!("CARGO_BIN_EXE_hello"), &["soon"]).contains("not `soon`"));
    assert!(stderr(env!("CARGO_BIN_EXE_threads"), &["soon"]).contains("not `soon`"));
}

#[test]
fn frames_are_the_same_however_they_search_and_comparing_them_tells() {
    let frames = env!("CARGO_BIN_EXE_frames");
    let kept = |args: &[&str]| {
        let directory = tempfile::tempdir().unwrap();
        let mut program = Command::new(frames);
        program.args(args).env("TICKSCOPE_DIR", directory.path());
        let output = program.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let mut files = std::fs::read_dir(directory.path()).unwrap();
        let ring = files.find_map(|file| {
            Some(file.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "ring"))
        });
        let (_, snapshot) = RingFile::open(&ring.unwrap()).unwrap().newest_snapshot().unwrap();
        (String::from_utf8(output.stdout).unwrap(), snapshot)
    };
    let gate: Condition = "calls > 1%".parse().unwrap();
    let (picture, before) = kept(&["40"]);
    for (args, slower) in [
        (["40", "--linear"], true),
        (["40", "40"], false),
        (["80", "80"], false),
    ] {
        let (after_picture, after) = kept(&args);
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
    assert!(
        lines[3].starts_with("median ratio ") && lines[3].ends_with(", 3 pairs"),
        "{text}"
    );
}

#[test]
fn sphereflake_says_what_is_wrong_with_its_arguments() {
    assert!(stdout(SPHEREFLAKE, &["--help"]).contains("--compare N"));
    for (args, message) in [
        (
            &["--level", "9"][..],
            "--level takes a whole number from 1 to 8, not `9`",
        ),
        (
            &["--frames", "0"],
            "--frames takes a whole number of 1 or more, not `0`",
        ),
        (&["--size"], "--size needs a value"),
        (&["--speed", "2"], "unknown argument `--speed`"),
        (&["--plain", "--compare", "2"], "leave out --plain"),
        (
            &["--plain", "--level", "1", "--size", "4", "--pgm", "/"],
            "cannot write /: ",
        ),
    ] {
        let text = stderr(SPHEREFLAKE, args);
        assert!(
            text.starts_with("sphereflake: ") && text.contains(message),
            "{text}"
        );
    }
}
