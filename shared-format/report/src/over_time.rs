//! What a program did over time, for tools that draw tracks: for each interval between two snapshots the share of each function,
//! its calls, the CPU time, waiting, and the program's own counters.
//!
//! ```text
//! windows of one run, one after the other -> OverTime -> chrome   counter events: Perfetto, chrome://tracing
//!                                                     -> firefox  counters, and a thread for each function
//! ```

mod chrome;
mod firefox;
mod intervals;

use std::io::{self, Write};

pub use self::intervals::OverTime;

/// A form of what a program did over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverTimeForm {
    /// Trace events as JSON, for Perfetto and `chrome://tracing`.
    Chrome,
    /// The Firefox Profiler's processed format.
    Firefox,
}

impl OverTimeForm {
    /// Writes it, with tracks of so many functions: those with the most self time in all intervals together.
    ///
    /// # Errors
    /// The error of writing to `out`.
    pub fn write(self, over_time: &OverTime, top: usize, out: &mut impl Write) -> io::Result<()> {
        let top = over_time.top(top);
        match self {
            Self::Chrome => chrome::write(over_time, &top, out)?,
            Self::Firefox => firefox::write(over_time, &top, out)?,
        }
        out.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests;
