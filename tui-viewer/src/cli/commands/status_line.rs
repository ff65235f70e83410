//! Progress of a slow command: one line on a terminal, drawn over itself.

use std::borrow::Cow;
use std::io;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use tickscope_command::console::is_ascii;

use crate::cli::commands::report::terminal_width;
use crate::text::cells::cut_end;
use crate::text::glyphs::Glyphs;

/// Time between two drawings of the line.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) struct StatusLine {
    shown: bool,
    /// Time of the last drawing.
    drawn: Option<Duration>,
}

impl StatusLine {
    /// Returns a line on standard error, if it is a terminal and the line is wanted there.
    pub(crate) fn on_stderr(wanted: bool) -> Self {
        Self {
            shown: wanted && io::stderr().is_terminal(),
            drawn: None,
        }
    }

    /// Draws the line, unless it was drawn just now. `elapsed` is the time since the command began.
    pub(crate) fn show(&mut self, elapsed: Duration, line: impl FnOnce() -> String) {
        if !self.shown || self.drawn.is_some_and(|drawn| elapsed < drawn + PAUSE) {
            return;
        }
        self.drawn = Some(elapsed);
        draw(&fitting(&line(), terminal_width(io::stderr())));
    }

    /// Clears the line, so that the next text begins in its place.
    pub(crate) fn clear(&mut self) {
        if self.drawn.take().is_some() {
            draw("");
        }
    }
}

/// Cuts a line, because a line that continues in the next row could not be drawn over.
fn fitting(line: &str, columns: Option<usize>) -> Cow<'_, str> {
    match columns {
        Some(columns) => cut_end(line, columns.saturating_sub(1), Glyphs::of(is_ascii()).cut),
        None => Cow::Borrowed(line),
    }
}

fn draw(line: &str) {
    let mut out = io::stderr().lock();
    // Without standard error the line cannot be shown.
    let _ = write!(out, "\r{line}\x1b[K").and_then(|()| out.flush());
}
