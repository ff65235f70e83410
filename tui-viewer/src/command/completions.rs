//! `tickscope completions`: what makes a shell complete the command line.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::args::Cli;
use crate::command::output;

/// Prints the script for a shell.
///
/// # Errors
/// What the system says of standard output.
pub fn run(shell: Shell) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "tickscope", &mut script);
    output::write(&String::from_utf8_lossy(&script), None)?;
    Ok(output::DONE)
}
