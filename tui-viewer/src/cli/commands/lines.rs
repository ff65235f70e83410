//! `tickscope lines`: switches the sampling of a program's threads on or off.

use tickscope_command::console;
use tickscope_format::Snapshot;
use tickscope_format::slots::Op;
use tickscope_format::snapshot::LinesState;

use crate::cli::args::{LinesArgs, OnOff};
use crate::cli::commands::request;

/// Makes the program start or stop sampling. Returns once the program has confirmed it.
///
/// # Errors
/// There is no such target, or it cannot sample.
pub fn run(args: &LinesArgs) -> anyhow::Result<u8> {
    let hz = match args.wanted {
        OnOff::On => args.rate,
        OnOff::Off => 0,
    };
    let done = request::ask(&args.target, Op::Lines(hz), "sample")?;
    let said = match args.wanted {
        OnOff::Off => "the program counter is no longer sampled".to_owned(),
        OnOff::On => {
            said(done.snapshot().as_ref(), hz).map_err(|why| anyhow::anyhow!("{}: {why}", done.who()))?
        }
    };
    console::write(&format!("{}: {said}\n", done.who()))?;
    Ok(console::DONE)
}

/// Describes the new state. The error is the reason why the program does not sample.
fn said(now: Option<&Snapshot>, hz: u32) -> Result<String, String> {
    let state = now.map(|now| now.lines.state);
    // SIGPROF has the same number on all architectures that can be sampled.
    let sigprof = rustix::process::Signal::PROF.as_raw().cast_unsigned();
    let by = match state {
        Some(LinesState::On(signal)) if signal == sigprof => " by SIGPROF".to_owned(),
        Some(LinesState::On(signal)) => format!(" by signal {signal}, as the program uses SIGPROF"),
        Some(state @ (LinesState::NoSignal | LinesState::NoTimers(_) | LinesState::Unsupported)) => {
            return Err(tickscope_report::text::without_samples(state));
        }
        Some(LinesState::Off | _) | None => String::new(),
    };
    Ok(format!(
        "the program counter is sampled{by}, {hz} times a second of CPU time if the kernel's clock allows; the lines: tickscope report \
         --view source"
    ))
}
