//! Tests a short run: the table is printed, no goal is missed, and nothing is left behind.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot run its program has failed; one line is for who collects the figures"
)]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

/// A run, and the lines of its output.
struct Soak {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    first: String,
}

impl Soak {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_soak"))
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        Self { child, lines, first }
    }

    /// Returns the directory of the run, if it exists.
    fn place(&self) -> Option<PathBuf> {
        let places = [PathBuf::from("/dev/shm"), std::env::temp_dir()];
        let name = format!("tickscope-soak-{}", self.child.id());
        let mut places = places.into_iter().map(|place| place.join(&name));
        places.find(|place| place.is_dir())
    }

    fn end(mut self) -> (ExitStatus, Vec<String>) {
        let lines = self.lines.map(Result::unwrap).collect();
        (self.child.wait().unwrap(), lines)
    }
}

#[test]
#[ignore = "it measures memory: .ci/nightly figures"]
fn a_short_run_reaches_its_goals_and_leaves_nothing() {
    let soak = Soak::start(&["--minutes", "0.1"]);
    assert!(
        soak.first.starts_with("soak: 0.1 min with 4 viewers;"),
        "{}",
        soak.first
    );
    let place = soak.place().unwrap();
    let (status, lines) = soak.end();
    assert!(status.success(), "{status}: {lines:#?}");
    for id in ["G1 ", "G5 ", "G7 ", "G9 ", "G10 "] {
        assert!(lines.iter().any(|line| line.starts_with(id)), "{id}: {lines:#?}");
    }
    let told = lines.iter().filter(|line| line.ends_with(" reached"));
    assert!(told.count() >= 3, "{lines:#?}");
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{lines:#?}");
    assert!(!place.exists(), "{} is still there", place.display());
    let figure = lines.last().unwrap();
    assert!(figure.starts_with("G9: 0.1 min, 4 viewers: 0 errors"), "{figure}");
    println!("{figure}");
}

#[test]
fn ctrl_c_ends_a_run_with_its_table_and_leaves_nothing() {
    let soak = Soak::start(&["--minutes", "60"]);
    let place = soak.place().unwrap();
    let interrupt = Command::new("kill")
        .args(["-INT", &soak.child.id().to_string()])
        .status();
    assert!(interrupt.unwrap().success());
    let (status, lines) = soak.end();
    assert!(status.success(), "{status}: {lines:#?}");
    assert!(lines.last().unwrap().starts_with("G9: 0."), "{lines:#?}");
    assert!(!place.exists(), "{} is still there", place.display());
}

#[test]
fn what_it_does_not_understand_it_says() {
    for (words, why) in [
        (&["--minutes", "soon"][..], "invalid float literal"),
        (&["--fast"], "usage: soak [--minutes MINUTES]"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_soak")).args(words).output();
        let output = output.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(why), "{words:?}: {said}");
    }
}
