//! `tickscope completions`: what makes a shell complete the command line.

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};

use crate::cli::args::Cli;
use crate::cli::args::cargo::CargoCli;
use crate::output::console;

/// Prints the script for a shell, which is for both programs of this package.
///
/// # Errors
/// What the system says of standard output.
pub fn run(shell: Shell) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    generate(shell, &mut visible(&Cli::command()), "tickscope", &mut script);
    generate(
        shell,
        &mut visible(&CargoCli::command()),
        "cargo-tickscope",
        &mut script,
    );
    console::write(&String::from_utf8_lossy(&script))?;
    Ok(console::DONE)
}

/// The same command without what is hidden: the scripts would offer that as well.
fn visible(command: &Command) -> Command {
    let arguments = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let subcommands = command.get_subcommands().filter(|command| !command.is_hide_set());
    let shown = Command::new(command.get_name().to_string())
        .args(arguments.cloned())
        .subcommands(subcommands.map(visible))
        .visible_aliases(
            command
                .get_visible_aliases()
                .map(String::from)
                .collect::<Vec<_>>(),
        );
    match (command.get_about(), command.get_version()) {
        (Some(about), Some(version)) => shown.about(about.clone()).version(version.to_string()),
        (Some(about), None) => shown.about(about.clone()),
        (None, _) => shown,
    }
}
