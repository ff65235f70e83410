//! The public types that are the same with and without the feature `enable`.

use std::path::PathBuf;
use std::time::Duration;

/// The clock that scopes read. The default is [`Clock::Tsc`].
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum Clock {
    /// The CPU's time stamp counter, if it ticks at one rate on all CPUs. Otherwise the monotonic clock is used, and
    /// every snapshot gives the reason. The CPU may read the counter before earlier instructions have finished.
    #[default]
    Tsc,
    /// The time stamp counter, read after a fence, so that all earlier instructions have finished. Such a read costs
    /// more, and is meant for scopes of a few nanoseconds.
    TscOrdered,
    /// The operating system's monotonic clock. One tick is one nanosecond.
    Monotonic,
    /// The program's own clock: a function that returns ticks, and the number of ticks per second. If that number is
    /// not positive and finite, the rate is measured and changes of the rate are detected, as for the time stamp
    /// counter. Adaptive mode does not subtract the cost of its own clock reads, because a clock of the program's own
    /// may stand still during them.
    ///
    /// Ticks must stay below 2^63. The function is called whenever a scope begins or ends, on every thread, and must
    /// not open scopes.
    Custom(fn() -> u64, f64),
}

/// How scopes are measured. The default is [`Mode::Adaptive`]; the crate page compares the modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// Every call is timed, with two clock reads per scope.
    Exact,
    /// All calls are counted. Only some calls of short functions are timed, and the times of these functions are
    /// estimates. While a session publishes, its thread also samples which scope each thread is in, which improves the
    /// estimates.
    #[default]
    Adaptive,
    /// All calls are counted, and no call reads the clock. While a session publishes, its thread samples, up to 1000
    /// times a second, which scope each thread is in. Times are estimated from these samples.
    Sampled,
    /// Nothing is measured. A scope costs one branch.
    Off,
}

/// Which threads are measured. The default is [`Threads::All`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// Every thread is measured from its first scope on, unless it calls [`thread::exclude`](crate::thread::exclude).
    #[default]
    All,
    /// Only threads that call [`thread::include`](crate::thread::include) are measured.
    OptIn,
}

/// Which calls of a watched function are slow: see [`watch`](crate::watch). The default is [`Over::Tail`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Over {
    /// The calls above the widest gap between the durations of the slowest 10 % of calls, or the slowest 1 % of calls
    /// if there is no such gap. Needs 200 calls and histograms.
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
    /// the ring, and a message on standard error tells where.
    Stderr,
    /// Standard output, as text. Needs the feature `report`, as [`Destination::Stderr`] does.
    Stdout,
    /// A new file. Its extension determines the format ([`Format`] lists the extensions); any other extension means
    /// text.
    ///
    /// In the name, `%p` becomes the process id, `%n` the program's name and `%%` a percent sign. An existing file is
    /// never overwritten: `report.html` becomes `report.2.html`, and a line on standard error says so. If the feature
    /// for the format is not enabled, the snapshot is kept instead, with `.tks` appended to the name.
    File(PathBuf),
}

/// The format of a report, for [`dump`](crate::dump) and for reports at exit. For a report at exit, the format follows
/// from the extension of the file name, given here in parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Human-readable text: the call tree and the top functions (`.txt`). Needs the feature `report`.
    Text,
    /// A single page for a browser, which `tickscope FILE` can also open in the viewer (`.html`). Needs the feature
    /// `report`.
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
    /// The snapshot itself, from which `tickscope report FILE` makes all other formats (`.tks`). Needs only the feature
    /// `enable`.
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

    /// The reason why [`watch`](crate::watch) could not watch the function.
    WatchError;

    /// The reason why [`disable_sites`](crate::disable_sites) or [`enable_sites`](crate::enable_sites) changed nothing.
    SitesError;
}
