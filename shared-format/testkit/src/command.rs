//! Programs that a test runs to their end.

use std::path::Path;
use std::process::{Command, Output};

/// Copies the program `from` to `to`. Another process (`install`) writes the copy: a child that another test starts meanwhile
/// would otherwise hold the file open for writing, and running the program would fail with "Text file busy".
pub fn install(from: &Path, to: &Path) {
    let installed = Command::new("install")
        .args(["-m", "755"])
        .args([from, to])
        .status();
    assert!(installed.unwrap().success(), "{from:?} as {to:?}");
}

/// Makes `to` an executable bash script of these lines. Another process writes the script, as in [`install`].
pub fn script(to: &Path, text: &str) {
    let lines = to.with_extension("lines");
    std::fs::write(&lines, format!("#!/bin/bash\n{text}\n")).unwrap();
    install(&lines, to);
}

/// Runs a program. If it starts a session, the session uses a temporary directory.
pub fn run(program: &str, args: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    Command::new(program)
        .args(args)
        .env("TICKSCOPE_DIR", directory.path())
        .output()
        .unwrap()
}

/// Returns the standard output of a program that succeeds.
pub fn stdout(program: &str, args: &[&str]) -> String {
    let output = run(program, args);
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the standard error of a program that fails with code 1.
pub fn stderr(program: &str, args: &[&str]) -> String {
    let output = run(program, args);
    assert_eq!(output.status.code(), Some(1), "{program} {args:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}
