//! The unit of times in a report.

/// Nanoseconds, ticks of the program's clock, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds, in texts as durations.
    Ns,
    /// Ticks of the program's clock.
    Ticks,
    /// Both, in columns of their own.
    Both,
}
