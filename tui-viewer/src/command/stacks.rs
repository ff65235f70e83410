//! `tickscope stacks`: where each thread is right now.

use tickscope_report::stacks::{StacksOptions, stacks};

use crate::args::TargetArgs;
use crate::command::{fresh, output};
use crate::target::Wanted;

/// Prints every thread's open path.
///
/// # Errors
/// No such target, or why it cannot be read.
pub fn run(args: &TargetArgs) -> anyhow::Result<u8> {
    let wanted = Wanted::of(args);
    let found = fresh::find(&wanted, args.dir.as_deref(), None)?;
    let fresh = fresh::of(&found, &wanted)?;
    let ascii = output::is_ascii();
    let text = stacks(
        &fresh.snapshot,
        &StacksOptions {
            state: fresh.state,
            ascii,
            thread: None,
        },
    );
    output::write(&text)?;
    Ok(output::DONE)
}
