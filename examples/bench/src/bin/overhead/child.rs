//! Runs this program again where something needs its own process.

use std::process::Command;

use crate::{instructions, life, series, sizes};

/// The argument that makes this process a child; its task follows.
pub(crate) const FLAG: &str = "--child";

pub(crate) const INSTRUCTIONS: &str = "instructions";
pub(crate) const NODES: &str = "nodes";
pub(crate) const THREADS: &str = "threads";
pub(crate) const LIFE: &str = "life";
pub(crate) const HARM: &str = "harm";

/// Runs the task of a child.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    match words {
        [what, words @ ..] if what == INSTRUCTIONS => instructions::run(words),
        [what, words @ ..] if what == NODES => sizes::nodes(words),
        [what, words @ ..] if what == THREADS => sizes::threads(words),
        [what, words @ ..] if what == HARM => series::run(words),
        [what] if what == LIFE => life::run(),
        _ => Err("what is this child to do?".to_owned()),
    }
}

/// Runs a child, and returns the numbers that it prints.
pub(crate) fn numbers<const N: usize>(words: &[&str]) -> Result<[f64; N], String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program).arg(FLAG).args(words).output();
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = text.split_whitespace().flat_map(str::parse).collect();
    numbers.try_into().map_err(|_| format!("{words:?} wrote {text}"))
}
