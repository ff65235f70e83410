//! This program again, as the load that is watched, and as what stands between a terminal and a viewer.

use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::load;

/// Says that this process is a child; what it is to do follows.
pub(crate) const FLAG: &str = "--child";
/// The load: its name, and whether it resets itself, follow.
pub(crate) const LOAD: &str = "load";
/// A program in the terminal that standard input is: the program and its arguments follow.
pub(crate) const TERMINAL: &str = "terminal";

/// The child's part.
///
/// # Errors
/// Why it could not do it.
pub(crate) fn run(words: &[String]) -> Result<(), String> {
    match words {
        [what, name, by_itself] if what == LOAD => load::run(name, by_itself == "true"),
        [what, program, arguments @ ..] if what == TERMINAL => Err(become_program(program, arguments)),
        _ => Err("what is this child to do?".to_owned()),
    }
}

/// Becomes a program whose terminal standard input is; gives why it could not.
fn become_program(program: &str, arguments: &[String]) -> String {
    let taken = rustix::process::setsid().and_then(|_| rustix::process::ioctl_tiocsctty(std::io::stdin()));
    match taken {
        Ok(()) => format!("{program}: {}", Command::new(program).args(arguments).exec()),
        Err(error) => format!("the terminal cannot be taken: {error}"),
    }
}
