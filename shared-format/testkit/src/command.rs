//! Runs programs that a test waits for.

use std::path::Path;
use std::process::{Command, Output};

/// Copies the program `from` to `to` with the command `install`. If this process wrote the copy, a child that another
/// test starts at the same time could inherit the open file, and as long as that child has it open for writing, running
/// the program would fail with "Text file busy".
pub fn install(from: &Path, to: &Path) {
    let installed = Command::new("install")
        .args(["-m", "755"])
        .args([from, to])
        .status();
    assert!(installed.unwrap().success(), "{from:?} as {to:?}");
}

/// Makes `to` an executable bash script with this text. The script is also written by another process, for the reason
/// given at [`install`].
pub fn script(to: &Path, text: &str) {
    let lines = to.with_extension("lines");
    std::fs::write(&lines, format!("#!/bin/bash\n{text}\n")).unwrap();
    install(&lines, to);
}

/// Runs a program until it ends. If it is profiled, it creates its ring in a temporary directory.
pub fn run(program: &str, args: &[&str]) -> Output {
    let directory = tempfile::tempdir().unwrap();
    Command::new(program)
        .args(args)
        .env("TICKSCOPE_DIR", directory.path())
        .output()
        .unwrap()
}

/// Runs a program that must succeed, and returns its standard output.
pub fn stdout(program: &str, args: &[&str]) -> String {
    let output = run(program, args);
    assert!(output.status.success(), "{program} {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a program that must fail with exit code 1, and returns its standard error.
pub fn stderr(program: &str, args: &[&str]) -> String {
    let output = run(program, args);
    assert_eq!(output.status.code(), Some(1), "{program} {args:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}
