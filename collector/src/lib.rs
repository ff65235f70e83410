//! A call-tree profiler that is compiled into a program and can be watched live from a terminal.
//!
//! ```
//! fn main() {
//!     let _tickscope = tickscope::start("order-book");
//!     parse("a b c");
//! }
//!
//! #[tickscope::profile]
//! fn parse(input: &str) -> usize {
//!     tickscope::scope!("count");
//!     input.split(' ').count()
//! }
//! ```
//!
//! Run the program, and in another terminal run `tickscope order-book`.
//!
//! # Features
//! No feature is on by default. The *application* enables features for itself and all of its libraries; a library
//! depends on tickscope without features.
//!
//! | feature | what it adds |
//! |---|---|
//! | (none) | Macros and functions do nothing, and leave no trace in a release build. Only this crate and its macros are built. |
//! | `enable` | Scopes are measured, and a session publishes the results to viewers. Dumps and reports are written as `.tks` files, which `tickscope report FILE` converts. |
//! | `report` | `enable`, plus reports as text, HTML, folded stacks and callgrind, and the log of groups. |
//! | `export` | `report`, plus reports as JSON, speedscope and pprof. |
//!
//! # Macros
//! | macro | what it measures |
//! |---|---|
//! | [`scope!`] | the rest of the enclosing block |
//! | [`scope_guard!`] | the time until the returned guard is dropped |
//! | [`time!`] | one expression, whose value it returns |
//! | [`future!`] | one future: the wall-clock duration of its calls, and the time spent in its polls, without the waits in between |
//! | [`wait!`] | one future that a task waits for; the Tasks view shows its name |
//! | [`count!`] | no time: it counts calls and adds up an amount |
//! | [`value!`] | no time: it keeps the sum, minimum, maximum and histogram of the numbers passed to it |
//! | [`gauge!`] | no time: it keeps the latest, the lowest and the highest level |
//! | [`#[profile]`](profile) | a function, an async function, or every function of an `impl` block, trait or inline module |
//!
//! All macros accept `group = "..."`. The documentation of [`tickscope_macros`] lists the options of `#[profile]`.
//!
//! # Locks
//! [`sync`] has replacements for std's `Mutex`, `RwLock` and `Condvar`. Waiting for one of them shows up as a row, and
//! the rows that made other threads wait are shown too.
//!
//! # C and C++
//! The crate `tickscope-c` provides a library and a header with scopes, counters and reports for C and C++ programs.
//!
//! # Spans
//! The crate `tickscope-tracing` turns the spans of the `tracing` crate into rows, and `tickscope-profiling` provides
//! the macros of the `profiling` crate. Code that is already instrumented with these crates needs no changes.
//!
//! # Benchmarks
//! The crate `tickscope-criterion` writes a report for each `criterion` benchmark.
//!
//! # Modes
//! The mode determines how scopes are measured. It is set by [`Builder::mode`], `TICKSCOPE_MODE`, [`set_mode`] or a
//! viewer. Call counts are exact in every mode but `off`.
//!
//! | mode | times | clock reads per scope |
//! |---|---|---|
//! | [`Mode::Adaptive`], the default | exact for long calls; for short calls, estimates with error bounds, obtained by timing some of the calls and by sampling where each thread is | two for each timed call, none for the others |
//! | [`Mode::Exact`] | exact, but the two clock reads slow down every call | two |
//! | [`Mode::Sampled`] | estimates: up to 1000 times a second, the publisher samples where each thread is | none |
//! | [`Mode::Off`] | nothing is measured, and no calls are counted | none |
//!
//! # Environment variables
//! A variable overrides the [`Builder`]. An invalid value is ignored, and a warning lists the allowed values. Programs
//! that run with more privileges than their caller (set-user-ID) ignore all of these variables.
//!
//! | variable | values | default | in code |
//! |---|---|---|---|
//! | `TICKSCOPE` | `live` publishes from the first scope on, `log` also writes the log, `report` writes a report at exit, `off` measures nothing | none of these | [`start`] |
//! | `TICKSCOPE_REPORT` | `stderr`, `stdout` or the path of a new file | no report; `stderr` with `TICKSCOPE=report` | [`Builder::report_at_exit`] |
//! | `TICKSCOPE_LOG_EVERY_MS` | 0 (no log), or 10 to 3600000 ms | no log; 1000 with `TICKSCOPE=log` | [`Builder::log_every`] |
//! | `TICKSCOPE_DIR` | a directory that belongs to the user | `/dev/shm/tickscope-UID`, else `tickscope-UID` in the directory for temporary files | [`Builder::dir`] |
//! | `TICKSCOPE_INTERVAL_MS` | 10 to 3600000 ms | 1000 | [`Builder::interval`] |
//! | `TICKSCOPE_RING_BYTES` | 64K to 4G bytes (suffix K, M or G) | 16M | [`Builder::ring_bytes`] |
//! | `TICKSCOPE_MODE` | `exact`, `adaptive`, `sampled`, `off` | `adaptive` | [`Builder::mode`] |
//! | `TICKSCOPE_HISTOGRAM` | `on`, `off` | `on` | [`Builder::histogram`] |
//! | `TICKSCOPE_CLOCK` | `tsc`, `tsc-ordered`, `monotonic` | `tsc` where it is reliable, else `monotonic` | [`Builder::clock`] |
//! | `TICKSCOPE_THREADS` | `all`, `opt-in` | `all` | [`Builder::threads`] |
//! | `TICKSCOPE_MAX_DEPTH` | 1 to 4096 open scopes | 512 | [`Builder::max_depth`] |
//! | `TICKSCOPE_MAX_NODES` | 1 to 1048575 nodes a thread | 65536 | [`Builder::max_nodes`] |
//! | `TICKSCOPE_MAX_PROCESS_NODES` | 1 to 100000000 nodes in all threads | 1048576 | [`Builder::max_process_nodes`] |
//! | `TICKSCOPE_MAX_GAP_MS` | 0 (no limit) to 86400000 ms | 0 | [`Builder::max_gap`] |
//! | `TICKSCOPE_WAITS` | `on`, `off` | `on` | [`Builder::waits`] |
//! | `TICKSCOPE_WATCH` | functions whose slow calls are compared with typical calls, each optionally with a threshold: `handle:p99,parse:5ms,load` | none | [`Builder::watch`] |
//! | `TICKSCOPE_ALLOW_REMOTE_CONTROL` | `on`, `off` | `on` | [`Builder::allow_remote_control`] |
//!
//! # Cost
//! In exact mode, a scope costs two reads of the time stamp counter and a handful of loads and stores in memory that
//! its thread owns. In the other modes, including adaptive, it costs a fraction of this. It takes no lock, and
//! allocates nothing once its node exists. It makes no system calls unless the thread was off its CPU for more than
//! 10 us; then the thread's CPU clock and scheduler statistics are read ([`Builder::waits`]). The first call on each
//! path creates a node, which takes about 100 bytes, or about 1 KiB with its latency histogram.
//!
//! # What is counted
//! Each thread has its own call tree. A node stands for a scope together with the scopes around it. It counts its calls
//! and the clock ticks spent in the scope itself. A total is the sum over the subtree and is computed where it is
//! shown. [`count!`], [`value!`] and [`gauge!`] make nodes that have no time. A counter has calls and a sum, for lines,
//! bytes, hits and misses. A value also has a histogram, for sizes, and a gauge follows a level.
//!
//! # Reports
//! With the feature `report`, tests can make assertions about a function: `snapshot().function("parse").calls`.
//! [`FunctionNumbers`] has the calls and times of all rows with that name.
//!
//! Viewers read the program from outside. From inside, [`dump`] writes a report at any time, on any thread and at any
//! depth. [`Builder::report_at_exit`] or `TICKSCOPE_REPORT` writes one when the program ends. [`Format`] lists the
//! formats and the feature that each one needs.
//!
//! # Platforms
//! Scopes are measured only on Linux. On other systems a program with `enable` still builds, but nothing is measured,
//! and [`Session::status`] is [`Status::Unsupported`]. To try such a build on Linux, set
//! `RUSTFLAGS="--cfg tickscope_unsupported"`.
//!
//! # Limits
//! - A signal handler may open and close scopes and use [`count!`], [`value!`] and [`gauge!`]; no other item of this
//!   crate may be used in a signal handler. If a handler interrupts the beginning or end of a scope, or one of these
//!   three macros, then the handler's own events are dropped, and the drop is counted.
//! - Threads are shown under their kernel names, which have at most 15 bytes.
//! - A child that is forked after the first scope or [`start`] publishes nothing, and its snapshots are empty. Scopes
//!   in it do no harm.

mod alloc;
mod amount;
#[macro_use]
mod macros;
mod own_thread;
mod types;

// Only this file decides whether scopes are measured. Cargo.toml repeats the condition, so that builds that do not
// measure do not pull in the dependencies for it. With `tickscope_unsupported`, Linux is treated as an unsupported
// platform.
#[cfg(all(feature = "enable", target_os = "linux", not(tickscope_unsupported)))]
mod enabled;
#[cfg(all(feature = "enable", target_os = "linux", not(tickscope_unsupported)))]
use enabled as implementation;

#[cfg(not(all(feature = "enable", target_os = "linux", not(tickscope_unsupported))))]
mod disabled;
#[cfg(not(all(feature = "enable", target_os = "linux", not(tickscope_unsupported))))]
use disabled as implementation;

pub use implementation::{
    Builder, FunctionName, FunctionNumbers, Pause, Scope, Session, Snapshot, disable_sites, dump,
    enable_sites, mode, pause, request_reset, reset, set_histogram, set_mode, snapshot, start, sync, task,
    thread, unwatch, watch,
};

pub use alloc::Alloc;
pub use amount::{Amount, Level};
/// Opens a scope in a function, an async function, or all functions of an impl block, trait or inline module.
pub use tickscope_macros::profile;
pub use types::{
    Clock, Destination, DumpError, Format, Mode, Over, SitesError, StartError, Status, Threads, WatchError,
};

#[doc(hidden)]
pub use implementation::private as __private;
