//! Runs this program again, as the load that is watched, and as the process between a terminal and a viewer.

use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::load;

/// The argument that makes this process a child; its task follows.
pub(crate) const FLAG: &str = "--child";
/// The load. Its name, and whether it resets itself, follow.
pub(crate) const LOAD: &str = "load";
/// A program in the terminal that standard input is. The program and its arguments follow.
pub(crate) const TERMINAL: &str = "terminal";

/// Runs the task of a child.
///
/// # Errors
/// The reason why it failed.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    match words {
        [what, name, by_itself] if what == LOAD => load::run(name, by_itself == "true"),
        [what, program, arguments @ ..] if what == TERMINAL => Err(become_program(program, arguments)),
        _ => Err("what is this child to do?".to_owned()),
    }
}

/// Becomes a program whose terminal is standard input. Returns the reason if that fails.
fn become_program(program: &str, arguments: &[String]) -> String {
    let taken = rustix::process::setsid().and_then(|_| rustix::process::ioctl_tiocsctty(std::io::stdin()));
    match taken {
        Ok(()) => format!("{program}: {}", Command::new(program).args(arguments).exec()),
        Err(error) => format!("the terminal cannot be taken: {error}"),
    }
}
