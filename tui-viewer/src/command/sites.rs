//! `tickscope sites`: what was met, what is switched off, and by which rules.

use tickscope_report::{json, sites};

use crate::args::{Format, TargetArgs};
use crate::command::{fresh, output};
use crate::target::Wanted;

/// Prints the sites of a target.
///
/// # Errors
/// No such target, or why it cannot be read.
pub fn run(args: &TargetArgs, format: Format) -> anyhow::Result<u8> {
    let wanted = Wanted::of(args);
    let found = fresh::find(&wanted, args.dir.as_deref(), None)?;
    let fresh = fresh::of(&found, &wanted)?;
    let text = match format {
        Format::Json => json::sites(&fresh.snapshot, fresh.state),
        Format::Text => {
            let ascii = output::is_ascii();
            sites::sites(&fresh.snapshot, fresh.state, ascii)
        }
    };
    output::write(&text)?;
    Ok(output::DONE)
}
