//! The unit of times in a report.

/// Unit in which a report shows times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds, which text reports write as a duration.
    Ns,
    /// Ticks of the program's clock.
    Ticks,
    /// Both, in adjacent columns.
    Both,
}
