//! `tickscope report`: the call tree and the top functions, as text or JSON.

use std::path::Path;
use std::time::Duration;

use tickscope_format::render::text::TextOptions;
use tickscope_format::render::{json, text};

use crate::args::{Format, TargetArgs};
use crate::command::fresh::{self, Fresh};
use crate::command::output;
use crate::target::Wanted;
use crate::theme;

/// Writes the report on a target.
///
/// # Errors
/// No such target, or why it cannot be read or written.
pub fn run(
    args: &TargetArgs,
    format: Format,
    file: Option<&Path>,
    wait: Option<Duration>,
) -> anyhow::Result<u8> {
    let wanted = Wanted::of(args);
    let found = fresh::find(&wanted, args.dir.as_deref(), wait)?;
    let fresh = fresh::of(&found, &wanted)?;
    output::write(&render(&fresh, format), file)?;
    Ok(output::DONE)
}

/// The report in a form.
pub fn render(Fresh { snapshot, state }: &Fresh, format: Format) -> String {
    match format {
        Format::Json => json::report(snapshot, *state),
        Format::Text => {
            let ascii = theme::ascii_locale(|name| std::env::var(name).ok());
            text::report(
                snapshot,
                &TextOptions {
                    state: *state,
                    ascii,
                    ..TextOptions::default()
                },
            )
        }
    }
}
