//! `tickscope off` and `tickscope on`: switch sites off and on.

use tickscope_command::console;
use tickscope_command::console::printable;
use tickscope_format::pattern::Pattern;
use tickscope_format::slots::Op;
use tickscope_programs::known_functions::KnownFunctions;

use crate::cli::args::TargetArgs;
use crate::cli::commands::request;
use crate::outcome::switched::{Switch, outcome};

/// Switches the sites that a pattern selects. Returns once the program has confirmed it.
///
/// # Errors
/// There is no such target, or it did not switch.
pub fn run(args: &TargetArgs, pattern: Pattern, switch: Switch) -> anyhow::Result<u8> {
    let op = match switch {
        Switch::Off => Op::SitesOff(pattern),
        Switch::On => Op::SitesOn(pattern),
        Switch::Back => Op::ForgetRule(pattern),
    };
    let done = request::ask(args, op, "switch")?;
    let line = match done.snapshot() {
        Some(snapshot) => {
            let known = snapshot.functions.as_ref().map(|functions| functions.known);
            let known = known.and_then(|known| KnownFunctions::of_process(done.ring.header().pid, known));
            let unmet = known.map_or(0, |known| known.unmet(&snapshot, &pattern));
            outcome(&snapshot, unmet, &pattern, switch)
        }
        None => format!("{} is in force", printable(pattern.as_str())),
    };
    console::write(&format!("{}: {line}\n", done.who()))?;
    Ok(console::DONE)
}
