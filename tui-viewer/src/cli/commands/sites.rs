//! `tickscope sites`: prints the sites that the program has reached so far, which of them are switched off, and the rules.

use tickscope_command::console;
use tickscope_report::{json, sites};

use crate::cli::args::{Format, TargetArgs};
use crate::cli::commands::live_snapshot;
use crate::cli::commands::live_snapshot::Reader;

/// Prints the sites of a target.
///
/// # Errors
/// There is no such target, or it cannot be read.
pub fn run(args: &TargetArgs, format: Format) -> anyhow::Result<u8> {
    let wanted = args.wanted();
    let found = live_snapshot::find(args, Reader::of_text(format == Format::Text), None)?;
    let live = live_snapshot::of(&found, &wanted)?;
    let text = match format {
        Format::Json => json::sites(&live.snapshot, live.state),
        Format::Exclude => sites::exclude(&live.snapshot),
        Format::Text => {
            let ascii = console::is_ascii();
            sites::sites(&live.snapshot, live.state, ascii)
        }
    };
    console::write(&text)?;
    Ok(console::DONE)
}
