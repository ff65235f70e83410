//! What the calling API takes and gives beside sessions; the same with and without `enable`.

use std::path::PathBuf;

/// A clock for scopes. The default is [`Clock::Tsc`].
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum Clock {
    /// The CPU's time stamp counter, where it is fit to measure with; else the monotonic clock, and every
    /// snapshot says why. A read may overlap with the work around it.
    #[default]
    Tsc,
    /// The same behind a fence: a read waits for all work before it. For scopes of a few nanoseconds.
    TscOrdered,
    /// The operating system's monotonic clock, in nanoseconds.
    Monotonic,
    /// A function of the program's own and how many ticks it makes in a second. Ticks must stay below 2^63.
    /// It is called at every begin and end, on every thread; it must not open scopes.
    Custom(fn() -> u64, f64),
}

/// How scopes are measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Two clock reads a scope.
    #[default]
    Exact,
    /// Exact counts; calls of short functions are timed now and then, and their times are estimates.
    Adaptive,
    /// Exact counts and no clock reads; the publisher looks where each thread is, up to 1000 times a second.
    Sampled,
    /// Nothing: one branch a scope.
    Off,
}

/// Which threads count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// Each from its first scope on, but those that call [`thread::exclude`](crate::thread::exclude).
    #[default]
    All,
    /// Only those that call [`thread::include`](crate::thread::include).
    OptIn,
}

/// Where a report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Destination {
    /// Standard error.
    Stderr,
    /// Standard output.
    Stdout,
    /// A new file; one that exists is not written over.
    File(PathBuf),
}

/// How it stands with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The ring is being made.
    Starting,
    /// Viewers can attach.
    Publishing,
    /// Scopes are counted, but nothing is published; the warnings say why.
    Counting,
    /// Nothing is measured: `TICKSCOPE=off`, or the feature `enable` is not on.
    Off,
}

/// Why [`Builder::try_start`](crate::Builder::try_start) did not begin to publish.
#[derive(Debug)]
pub struct StartError {
    pub(crate) message: String,
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StartError {}
