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
        meaning(mode),
        done.epoch
    );
    console::write(&line)?;
    Ok(console::DONE)
}

fn meaning(mode: Mode) -> &'static str {
    match mode {
        Mode::Exact => "every call is timed",
        Mode::Adaptive => "calls of short functions are timed now and then",
        Mode::Sampled => "calls are counted and times sampled",
        Mode::Off => "nothing is measured",
        // One of a later format, whose name alone is known.
        _ => mode.as_str(),
    }
}
