//! A call-tree profiler that a program carries inside itself, read live from a terminal.
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
//! No feature is on by default. The *application* switches them on, once for itself and for all its libraries; a
//! library depends on tickscope without features.
//!
//! | feature | what it adds |
//! |---|---|
//! | (none) | Macros and the calling API do nothing, and nothing is left of them in a release build. Only this crate and its macros are built. |
//! | `enable` | Scopes count, and a session publishes them to viewers. Dumps and reports are written as `.tks` files, which `tickscope report FILE` converts. |
//! | `report` | `enable`, and reports as text, HTML, folded stacks and callgrind; the log of groups. |
//! | `export` | `report`, and reports as JSON, speedscope and pprof. |
//!
//! # Macros
//! | macro | what it measures |
//! |---|---|
//! | [`scope!`] | the rest of the enclosing block |
//! | [`scope_guard!`] | the time until the returned guard is dropped |
//! | [`time!`] | one expression, whose value it returns |
//! | [`future!`] | one future: its calls by the wall clock, and the sum of its polls without the waits between them |
//! | [`wait!`] | one future that a task waits for, and its name in the view Tasks |
//! | [`count!`] | no time: it counts calls and adds up an amount |
//! | [`value!`] | no time: it keeps the sum, the smallest and the largest of its numbers, and their histogram |
//! | [`gauge!`] | no time: it keeps the level it was set to last, the lowest and the highest |
//! | [`#[profile]`](profile) | a function, an async function, or every function of an `impl` block, trait or inline module |
//!
//! All macros take `group = "..."`. The page of [`tickscope_macros`] has the options of `#[profile]`.
//!
//! # Locks
//! [`sync`] has std's `Mutex`, `RwLock` and `Condvar` with rows for their waits, and shows which rows make other
//! threads wait.
//!
//! # C and C++
//! The crate `tickscope-c` is a library and a header with scopes, counters and reports for programs in C and C++.
//!
//! # Spans
//! The crate `tickscope-tracing` makes rows of the spans of the crate `tracing`, and `tickscope-profiling` has the
//! macros of the crate `profiling`: programs that use these crates need no changes.
//!
//! # Benchmarks
//! The crate `tickscope-criterion` writes a report for each benchmark of the crate `criterion`.
//!
//! # Modes
//! [`Builder::mode`], `TICKSCOPE_MODE`, [`set_mode`] and viewers choose how scopes are measured. Calls are exact in
//! every mode but `off`.
//!
//! | mode | times | clock reads per scope |
//! |---|---|---|
//! | [`Mode::Adaptive`], the default | of long calls exact; of short ones estimates with error bounds, from some of the calls and from samples of where each thread is | two for the calls that are timed, none for the others |
//! | [`Mode::Exact`] | exact for the code as it runs with two clock reads in each call | two |
//! | [`Mode::Sampled`] | estimates: the publisher samples up to 1000 times a second where each thread is | none |
//! | [`Mode::Off`] | nothing is measured, and no calls are counted | none |
//!
//! # Environment variables
//! A variable overrides the [`Builder`]. A value that is not understood is ignored, and a warning says which values are
//! allowed. Programs that run with more rights than their caller (set-user-ID) ignore all of them.
//!
//! | variable | values | default | in code |
//! |---|---|---|---|
//! | `TICKSCOPE` | `live` publishes from the first scope on, `log` also writes the log, `report` writes a report at exit, `off` measures nothing | none of these | [`start`] |
//! | `TICKSCOPE_REPORT` | `stderr`, `stdout` or the path of a new file | no report; `stderr` with `TICKSCOPE=report` | [`Builder::report_at_exit`] |
//! | `TICKSCOPE_LOG_EVERY_MS` | 0 (no log), or 10 to 3600000 ms | no log; 1000 with `TICKSCOPE=log` | [`Builder::log_every`] |
//! | `TICKSCOPE_DIR` | a directory of the user's own | `/dev/shm/tickscope-UID`, else `tickscope-UID` in the directory for temporary files | [`Builder::dir`] |
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
//! | `TICKSCOPE_WATCH` | functions whose slow calls are compared with typical calls, each with a threshold: `handle:p99,parse:5ms,load` | none | [`Builder::watch`] |
//! | `TICKSCOPE_ALLOW_REMOTE_CONTROL` | `on`, `off` | `on` | [`Builder::allow_remote_control`] |
//!
//! # Cost
//! In mode exact a scope costs two reads of the time stamp counter and a handful of loads and stores in memory that its
//! thread owns. In the other modes, including adaptive, it costs a fraction of this. It takes no lock, and allocates
//! nothing once its node exists. It makes no system call, except if a thread was off its CPU for more than 10 us. Then
//! the CPU clock and the scheduler's statistics of the thread are read ([`Builder::waits`]). The first visit of a place
//! makes a node: about 100 bytes, and about 1 KiB with its latency histogram.
//!
//! # What is counted
//! Each thread has its own call tree. A node is a scope inside the scopes around it; it counts its calls and the clock
//! ticks spent in itself. A total is the sum over the subtree and is computed where it is shown. [`count!`] makes nodes
//! without time, for lines, bytes, hits and misses: they have calls and a sum. So do [`value!`], which keeps a
//! histogram of sizes, and [`gauge!`], which follows a level.
//!
//! # Reports
//! With the feature `report`, tests assert a function's numbers: `snapshot().function("parse").calls`. They are the
//! calls and times of that name ([`FunctionNumbers`]).
//!
//! Viewers read the program from outside. From inside, [`dump`] writes a report at any time, on any thread and at any
//! depth. [`Builder::report_at_exit`] or `TICKSCOPE_REPORT` writes one when the program ends. [`Format`] lists the
//! forms and the feature that each one needs.
//!
//! # Platforms
//! Scopes are measured on Linux. On other systems a program builds with `enable` as it does without: nothing is
//! measured, and [`Session::status`] is [`Status::Unsupported`]. `RUSTFLAGS="--cfg tickscope_unsupported"` makes such a
//! build on Linux, to try it there.
//!
//! # Limits
//! - A signal handler may open and close scopes and use [`count!`], [`value!`] and [`gauge!`]; no other item of this
//!   crate may be used in a signal handler. What a handler counts is dropped if it interrupts the beginning or end of a
//!   scope, or one of these three, and the drop is counted.
//! - Threads are shown under their kernel names, which have at most 15 bytes.
//! - A forked child publishes nothing. Its scopes still work.

mod alloc;
mod amount;
#[macro_use]
mod macros;
mod own_thread;
mod types;

// Only this file decides whether scopes are measured. Cargo.toml has the same condition, so that builds without
// measurement have no dependencies for it. `tickscope_unsupported` makes the build of an unsupported platform on any
// machine.
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
