//! `tickscope mode`: has a program measure in another way.

use tickscope_format::slots::Op;
use tickscope_format::snapshot::Mode;

use crate::cli::args::TargetArgs;
use crate::cli::commands::request;
use crate::output::console;

/// Switches a target's mode; returns once it has said so.
///
/// # Errors
/// No such target, or why it did not do it.
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
