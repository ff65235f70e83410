//! How far a recording is: one line on a terminal, drawn over itself.

use std::io;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use tickscope_format::file::open::Liveness;
use tickscope_format::recording::Writer;

use super::copier::{bytes, records};
use crate::source::status::state_of;
use crate::text::clock_time::running;

/// Between two drawings of the line.
const PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(super) struct Progress {
    shown: bool,
    /// When the line was drawn last.
    drawn: Option<Duration>,
}

impl Progress {
    /// A line on standard error, if that is a terminal and the line is wanted there.
    pub(super) fn on_stderr(wanted: bool) -> Self {
        Self {
            shown: wanted && io::stderr().is_terminal(),
            drawn: None,
        }
    }

    pub(super) fn show(&mut self, elapsed: Duration, writer: &Writer, liveness: &Liveness) {
        if !self.shown || self.drawn.is_some_and(|drawn| elapsed < drawn + PAUSE) {
            return;
        }
        self.drawn = Some(elapsed);
        let line = format!(
            "{}  {}  {}  {}  (Ctrl-C ends it)",
            running(elapsed.as_nanos() as u64),
            records(writer.records()),
            bytes(writer.bytes()),
            state_of(liveness).as_str(),
        );
        draw(&line);
    }

    /// The next line begins where this one stood.
    pub(super) fn clear(&mut self) {
        if self.drawn.take().is_some() {
            draw("");
        }
    }
}

fn draw(line: &str) {
    let mut out = io::stderr().lock();
    // Without standard error the line cannot be shown.
    let _ = write!(out, "\r{line}\x1b[K").and_then(|()| out.flush());
}
