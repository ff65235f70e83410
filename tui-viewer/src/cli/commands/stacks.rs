//! `tickscope stacks`: prints the open scopes of each thread, or what async calls are waiting for.

use tickscope_command::console;
use tickscope_report::stacks::stacks;
use tickscope_report::tasks::tasks;

use crate::cli::args::TargetArgs;
use crate::cli::commands::live_snapshot;
use crate::cli::commands::live_snapshot::Reader;

/// Prints the open scopes of every thread, or the async calls that are in flight.
///
/// # Errors
/// There is no such target, or it cannot be read.
pub fn run(args: &TargetArgs, of_tasks: bool) -> anyhow::Result<u8> {
    let wanted = args.wanted();
    let found = live_snapshot::find(args, Reader::Person, None)?;
    let live = live_snapshot::of(&found, &wanted)?;
    let (state, ascii) = (live.state, console::is_ascii());
    let text = match of_tasks {
        true => tasks(&live.snapshot, state, ascii),
        false => stacks(&live.snapshot, state, ascii),
    };
    console::write(&text)?;
    Ok(console::DONE)
}
