//! `tickscope mode`: switches a program to another mode of measuring.

use tickscope_command::console;
use tickscope_format::slots::Op;
use tickscope_format::snapshot::Mode;

use crate::cli::args::TargetArgs;
use crate::cli::commands::request;

/// Switches the mode of a target. Returns once the program has confirmed it.
///
/// # Errors
/// There is no such target, or it did not switch.
pub fn run(args: &TargetArgs, mode: Mode) -> anyhow::Result<u8> {
    let done = request::ask(args, Op::Mode(mode), "switch")?;
    let line = format!(
        "{}: mode {} from now on, {}; epoch {}\n",
        done.who(),
        mode.as_str(),
        mode.traits().meaning,
        done.epoch
    );
    console::write(&line)?;
    Ok(console::DONE)
}
