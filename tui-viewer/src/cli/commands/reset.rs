//! `tickscope reset`: sets a program's counters to zero and waits for its answer.

use std::thread;
use std::time::Duration;

use tickscope_command::console;
use tickscope_format::slots::Op;

use crate::cli::args::TargetArgs;
use crate::cli::commands::request;

/// Resets a target. Returns once the program has confirmed it.
///
/// # Errors
/// There is no such target, or it did not reset.
pub fn run(args: &TargetArgs, after: Option<Duration>) -> anyhow::Result<u8> {
    thread::sleep(after.unwrap_or_default());
    let done = request::ask(args, Op::Reset, "reset")?;
    let line = format!(
        "{}: counters at zero from now on; epoch {}\n",
        done.who(),
        done.epoch
    );
    console::write(&line)?;
    Ok(console::DONE)
}
