//! The types of the calling API that are the same with and without the feature `enable`.

use std::path::PathBuf;
use std::time::Duration;

/// The clock that scopes read. The default is [`Clock::Tsc`].
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum Clock {
    /// The CPU's time stamp counter, if it ticks at one rate on all CPUs. Otherwise the monotonic clock is used, and
    /// every snapshot says why. The CPU may read the counter before earlier instructions have finished.
    #[default]
    Tsc,
    /// The time stamp counter after a fence: a read waits for all work before it. Such a read costs more and suits
    /// scopes of a few nanoseconds.
    TscOrdered,
    /// The operating system's monotonic clock. One tick is one nanosecond.
    Monotonic,
    /// A function of the program that returns ticks, and the number of ticks in a second. If that number is not
    /// positive and finite, the rate is measured, and breaks of the clock are noticed, as for the time stamp counter.
    ///
    /// Ticks must stay below 2^63. The function is called at every beginning and end of a scope, on every thread, and
    /// must not open scopes.
    Custom(fn() -> u64, f64),
}

/// How scopes are measured. The default is [`Mode::Adaptive`]; the crate page compares the modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Every call is timed, with two clock reads per scope.
    Exact,
    /// All calls are counted. Calls of short functions are timed now and then, and their times are estimates. While a
    /// session publishes, its thread also samples where each thread is, which improves the estimates.
    #[default]
    Adaptive,
    /// All calls are counted and no call reads the clock. While a session publishes, its thread samples up to 1000
    /// times a second where each thread is; times are estimates from these samples.
    Sampled,
    /// Nothing is measured. A scope costs one branch.
    Off,
}

/// Which threads count. The default is [`Threads::All`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// Every thread counts from its first scope on, unless it calls [`thread::exclude`](crate::thread::exclude).
    #[default]
    All,
    /// Only threads that call [`thread::include`](crate::thread::include) count.
    OptIn,
}

/// Which calls of a watched function are slow: see [`watch`](crate::watch). The default is [`Over::Tail`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Over {
    /// Calls above the widest gap in the slowest 10 % of the durations. If there is no gap, the slowest 1 % of calls.
    /// Needs 200 calls and histograms.
    #[default]
    Tail,
    /// The slowest 1 % of calls. Needs 200 calls and histograms.
    P99,
    /// The slowest 0.1 % of calls. Needs 200 calls and histograms.
    P999,
    /// Calls that take at least this long.
    Duration(Duration),
}

/// Where a report at exit is written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Destination {
    /// Standard error, as text. Needs the feature `report`; without it the snapshot is kept as a `.tks` file next to
    /// the ring, and standard error says where.
    Stderr,
    /// Standard output, as text. Needs the feature `report`, as [`Destination::Stderr`] does.
    Stdout,
    /// A new file. The ending of its name chooses the form ([`Format`] lists the endings); any other ending gives text.
    ///
    /// In the name, `%p` becomes the process id, `%n` the program's name and `%%` a percent sign. An existing file is
    /// never overwritten: `report.html` becomes `report.2.html`, and a line on standard error says so. If the form is
    /// not built in, the snapshot is kept instead, with `.tks` appended to the name.
    File(PathBuf),
}

/// The form of a report, for [`dump`](crate::dump) and for reports at exit. The ending in brackets chooses the form of
/// a report at exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Text to read: the call tree and the top functions (`.txt`). Needs the feature `report`.
    Text,
    /// One page for a browser, which `tickscope FILE` opens as well (`.html`). Needs the feature `report`.
    Html,
    /// All data as JSON, for other programs (`.json`). Needs the feature `export`.
    Json,
    /// Folded stacks, for flame graphs (`.folded`). Needs the feature `report`.
    Folded,
    /// A profile for speedscope (`.speedscope.json`). Needs the feature `export`.
    Speedscope,
    /// A profile for pprof and other readers of `profile.proto`, gzipped (`.pb.gz`). Needs the feature `export`.
    Pprof,
    /// A profile for `KCachegrind` and `callgrind_annotate` (`.callgrind`, or a name that begins with `callgrind.out`).
    /// Needs the feature `report`.
    Callgrind,
    /// The snapshot itself, from which `tickscope report FILE` makes all other forms (`.tks`). Needs the feature
    /// `enable` alone.
    Tks,
}

/// The state of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// Viewers can attach.
    Publishing,
    /// Scopes are counted, but nothing is published. [`Session::warnings`](crate::Session::warnings) says why.
    Counting,
    /// Nothing is measured: `TICKSCOPE=off`, or the feature `enable` is not on.
    Off,
    /// Nothing is measured: the feature `enable` is on, but the program was built for a platform other than Linux, or
    /// with `--cfg tickscope_unsupported`.
    Unsupported,
}

/// Declares error types that contain a message.
macro_rules! errors_with_messages {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name {
            pub(crate) message: String,
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.message)
            }
        }

        impl std::error::Error for $name {}
    )*};
}

errors_with_messages! {
    /// The reason why [`Builder::try_start`](crate::Builder::try_start) could not publish.
    StartError;

    /// The reason why [`dump`](crate::dump) wrote nothing.
    DumpError;

    /// The reason why [`watch`](crate::watch) watches nothing.
    WatchError;

    /// The reason why [`disable_sites`](crate::disable_sites) or [`enable_sites`](crate::enable_sites) changed nothing.
    SitesError;
}
