//! Runs this program again for tasks that need their own process, because a process has one collector.

use std::process::{Command, Stdio};

/// Argument that makes this process a child; its task follows.
pub const FLAG: &str = "child";

/// Returns the command of a child.
///
/// # Errors
/// An error if this program's file is not known.
pub fn command(words: &[&str]) -> Result<Command, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.arg(FLAG).args(words).stdin(Stdio::null());
    Ok(command)
}

/// Runs a child, and returns the numbers that it prints.
///
/// # Errors
/// The child's message when it fails, or its output if that is not `N` numbers.
pub fn numbers<const N: usize>(words: &[&str]) -> Result<[f64; N], String> {
    let output = command(words)?.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    parse(&String::from_utf8_lossy(&output.stdout)).map_err(|error| format!("{words:?} {error}"))
}

/// Returns the numbers in the output of a child.
///
/// # Errors
/// The output if that is not `N` numbers.
pub fn parse<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let numbers: Vec<f64> = text.split_whitespace().flat_map(str::parse).collect();
    numbers.try_into().map_err(|_| format!("wrote {text:?}"))
}
