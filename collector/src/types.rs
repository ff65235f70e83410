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
    /// A function of the program's own and how many ticks it makes in a second; where that is no positive number, it is
    /// measured like that of the time stamp counter, and breaks are noticed. Ticks must stay below 2^63.
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

/// Where a report at exit goes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Destination {
    /// Standard error, as text.
    Stderr,
    /// Standard output, as text.
    Stdout,
    /// A new file, in the form that its name says ([`Format`] has the endings), else as text.
    ///
    /// In its name `%p` is the process's id, `%n` the program's name and `%%` a percent sign. A file that exists is not
    /// written over: `report.html` becomes `report.2.html`, and standard error hears of it. Where the form is not built
    /// in, the snapshot is kept as it is, with `.tks` behind the name.
    File(PathBuf),
}

/// A form of a dump: see [`dump`](crate::dump). In brackets, what a file's name ends in that says this form at exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// For reading: the call tree and the top functions (`.txt`).
    Text,
    /// One page to look at and to send around, which `tickscope FILE` opens again (`.html`).
    Html,
    /// Every fact, for programs (`.json`). Needs the feature `export`.
    Json,
    /// A row for each node of each thread (`.csv`). Needs the feature `export`.
    Csv,
    /// Folded stacks, for flame graphs (`.folded`).
    Folded,
    /// For speedscope (`.speedscope.json`). Needs the feature `export`.
    Speedscope,
    /// For pprof and all that reads its `profile.proto`, gzipped (`.pb.gz`). Needs the feature `export`.
    Pprof,
    /// For `KCachegrind` and `callgrind_annotate` (`.callgrind`, or a name that begins with `callgrind.out`).
    Callgrind,
    /// The snapshot itself, from which `tickscope report FILE` makes all the others (`.tks`).
    Tks,
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
    /// Nothing is measured: the feature `enable` is on, but the program was built for a platform other than Linux.
    Unsupported,
}

/// Why [`Builder::try_start`](crate::Builder::try_start) did not begin to publish.
#[derive(Debug)]
pub struct StartError {
    pub(crate) message: String,
}

/// Why [`dump`](crate::dump) has written nothing.
#[derive(Debug)]
pub struct DumpError {
    pub(crate) message: String,
}

/// Why [`disable_sites`](crate::disable_sites) or [`enable_sites`](crate::enable_sites) has changed nothing.
#[derive(Debug)]
pub struct SitesError {
    pub(crate) message: String,
}

impl std::fmt::Display for SitesError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SitesError {}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for StartError {}

impl std::fmt::Display for DumpError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DumpError {}
