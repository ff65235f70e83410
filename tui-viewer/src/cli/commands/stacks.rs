//! `tickscope stacks`: where each thread is right now.

use tickscope_report::stacks::{StacksOptions, stacks};

use crate::cli::args::TargetArgs;
use crate::cli::commands::live_snapshot;
use crate::output::console;
use crate::source::target::wanted::Wanted;

/// Prints every thread's open path.
///
/// # Errors
/// No such target, or why it cannot be read.
pub fn run(args: &TargetArgs) -> anyhow::Result<u8> {
    let wanted = Wanted::of(args);
    let found = live_snapshot::find(&wanted, args.dir.as_deref(), None)?;
    let live = live_snapshot::of(&found, &wanted)?;
    let ascii = console::is_ascii();
    let text = stacks(
        &live.snapshot,
        &StacksOptions {
            state: live.state,
            ascii,
            thread: None,
        },
    );
    console::write(&text)?;
    Ok(console::DONE)
}
