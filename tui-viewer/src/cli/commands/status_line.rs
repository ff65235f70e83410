//! Progress of a slow command: one line on a terminal, which each update overwrites.

use std::borrow::Cow;
use std::io;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use tickscope_command::console::is_ascii;

use crate::cli::commands::report::terminal_width;
use crate::text::cells::cut_end;
use crate::text::glyphs::Glyphs;

/// Minimum time between two updates of the line.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) struct StatusLine {
    shown: bool,
    /// Time of the last update since the command began; `None` if the line is clear.
    drawn: Option<Duration>,
}

impl StatusLine {
    /// Returns a status line on standard error. It is shown only if `wanted`, and if standard error is a terminal.
    pub(crate) fn on_stderr(wanted: bool) -> Self {
        Self {
            shown: wanted && io::stderr().is_terminal(),
            drawn: None,
        }
    }

    /// Updates the line, unless it was updated less than [`PAUSE`] ago. `elapsed` is the time since the command began.
    pub(crate) fn show(&mut self, elapsed: Duration, line: impl FnOnce() -> String) {
        if !self.shown || self.drawn.is_some_and(|drawn| elapsed < drawn + PAUSE) {
            return;
        }
        self.drawn = Some(elapsed);
        draw(&fitting(&line(), terminal_width(io::stderr())));
    }

    /// Clears the line, and leaves the cursor at its start for the next text.
    pub(crate) fn clear(&mut self) {
        if self.drawn.take().is_some() {
            draw("");
        }
    }
}

/// Cuts a line to the terminal's width, because a wrapped line cannot be overwritten.
fn fitting(line: &str, columns: Option<usize>) -> Cow<'_, str> {
    match columns {
        Some(columns) => cut_end(line, columns.saturating_sub(1), Glyphs::of(is_ascii()).cut),
        None => Cow::Borrowed(line),
    }
}

fn draw(line: &str) {
    let mut out = io::stderr().lock();
    // If standard error is closed, there is no other way to show the line.
    let _ = write!(out, "\r{line}\x1b[K").and_then(|()| out.flush());
}
