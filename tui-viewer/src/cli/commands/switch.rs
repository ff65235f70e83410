//! `tickscope off` and `tickscope on`: which sites are measured.

use tickscope_format::pattern::Pattern;
use tickscope_format::slots::Op;

use crate::cli::args::TargetArgs;
use crate::cli::commands::request;
use crate::output::console;
use crate::output::console::printable;
use crate::output::switched::{Switch, outcome};

/// Switches the sites that a pattern chooses; returns once the program has said so.
///
/// # Errors
/// No such target, or why it did not do it.
pub fn run(args: &TargetArgs, pattern: Pattern, switch: Switch) -> anyhow::Result<u8> {
    let op = match switch {
        Switch::Off => Op::SitesOff(pattern),
        Switch::On => Op::SitesOn(pattern),
    };
    let done = request::ask(args, op, "switch")?;
    let line = match done.snapshot() {
        Some(snapshot) => outcome(&snapshot, &pattern, switch),
        None => format!("{} is in force", printable(pattern.as_str())),
    };
    console::write(&format!("{}: {line}\n", done.who()))?;
    Ok(console::DONE)
}
