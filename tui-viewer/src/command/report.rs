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
    compensated: bool,
) -> anyhow::Result<u8> {
    let wanted = Wanted::of(args);
    let found = fresh::find(&wanted, args.dir.as_deref(), wait)?;
    let fresh = fresh::of(&found, &wanted)?;
    let mut options = TextOptions {
        compensated,
        ..TextOptions::default()
    };
    if file.is_none()
        && let Some(width) = terminal_width()
    {
        options.width = width;
    }
    output::write(&render(&fresh, format, &options), file)?;
    Ok(output::DONE)
}

/// Cells of a line on standard output, where that is a terminal.
fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

/// The report in a form; the program's state and the character set are found here.
pub fn render(Fresh { snapshot, state }: &Fresh, format: Format, options: &TextOptions) -> String {
    match format {
        Format::Json if options.compensated => json::compensated_report(snapshot, *state),
        Format::Json => json::report(snapshot, *state),
        Format::Text => text::report(
            snapshot,
            &TextOptions {
                state: *state,
                ascii: theme::ascii_locale(|name| std::env::var(name).ok()),
                ..options.clone()
            },
        ),
    }
}
