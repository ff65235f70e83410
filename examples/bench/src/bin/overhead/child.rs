//! This program again, where something needs a process of its own.

use std::process::Command;

use crate::{instructions, life, series, sizes};

/// Says that this process is a child; what it is to do follows.
pub(crate) const FLAG: &str = "--child";

pub(crate) const INSTRUCTIONS: &str = "instructions";
pub(crate) const NODES: &str = "nodes";
pub(crate) const THREADS: &str = "threads";
pub(crate) const LIFE: &str = "life";
pub(crate) const HARM: &str = "harm";

/// The child's part.
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

/// The parent's part: has a child do something, and gives the numbers that it writes.
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
