//! Runs this program again as a child process, for tasks that need their own process because a process can have only
//! one collector.

use std::process::{Command, Stdio};

/// The argument that makes this process a child. Its task follows.
pub const FLAG: &str = "child";

/// Returns the command that runs this program as a child with these arguments.
///
/// # Errors
/// An error if the path of this program cannot be determined.
pub fn command(words: &[&str]) -> Result<Command, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.arg(FLAG).args(words).stdin(Stdio::null());
    Ok(command)
}

/// Runs a child, and returns the `N` numbers that it prints.
///
/// # Errors
/// What the child printed to stderr if it failed, or else its output if that does not contain exactly `N` numbers.
pub fn numbers<const N: usize>(words: &[&str]) -> Result<[f64; N], String> {
    let output = command(words)?.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    parse(&String::from_utf8_lossy(&output.stdout)).map_err(|error| format!("{words:?} {error}"))
}

/// Returns the `N` numbers in a child's output.
///
/// # Errors
/// The output if it does not contain exactly `N` numbers.
pub fn parse<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let numbers: Vec<f64> = text.split_whitespace().flat_map(str::parse).collect();
    numbers.try_into().map_err(|_| format!("wrote {text:?}"))
}
