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
//! Run the program, and in another terminal `tickscope order-book`.
//!
//! # Cost
//! A scope costs two reads of the time stamp counter and a handful of loads and stores in memory that its
//! thread owns: no system call, no lock, no allocation once its node exists. The first visit of a new place in
//! the tree makes a node of 64 bytes. Without the feature `enable`, which the *application* switches on, every
//! macro gives back its input, and nothing but this crate and its macros is built.
//!
//! # What is counted
//! Each thread has a call tree of its own. A node is a scope inside the scopes around it; it counts its calls
//! and the ticks spent in itself. A total is the sum over the subtree, made where it is shown. [`count!`] makes nodes
//! without time, for lines, bytes, hits and misses: their calls and a sum.
//!
//! # Reports
//! Viewers read the program from outside. [`dump`] writes a report of now from within, from any thread at any depth;
//! [`Builder::report_at_exit`], or the variable `TICKSCOPE_REPORT`, one when the program ends. The feature `export` adds
//! the forms that need libraries: [`Format`] says which.
//!
//! # Platforms
//! Scopes are measured on Linux. Everywhere else a program builds with `enable` as it does without: nothing is measured, and
//! [`Session::status`] is [`Status::Unsupported`]. `RUSTFLAGS="--cfg tickscope_unsupported"` makes such a build on Linux, to
//! try it there.
//!
//! # Caveats
//! Nothing here may be called from a signal handler but what opens and closes scopes, and [`count!`]; a scope or a count
//! in a handler that interrupts another scope's begin or end, or a counter's addition, is dropped and counted. Kernel
//! names of threads are used, which are cut to 15 bytes. In a forked child scopes go on, unpublished.

mod amount;
mod own_thread;
mod types;

// The one place that decides whether scopes are measured. Cargo.toml has the same condition: elsewhere it brings none of
// what measuring needs. `tickscope_unsupported` shows on any machine what other platforms build.
#[cfg(all(feature = "enable", target_os = "linux", not(tickscope_unsupported)))]
mod enabled;
/// What the macros expand to where scopes are measured.
#[cfg(all(feature = "enable", target_os = "linux", not(tickscope_unsupported)))]
#[macro_use]
mod macros;
#[cfg(all(feature = "enable", target_os = "linux", not(tickscope_unsupported)))]
use enabled as implementation;

#[cfg(not(all(feature = "enable", target_os = "linux", not(tickscope_unsupported))))]
#[macro_use]
mod disabled;
#[cfg(not(all(feature = "enable", target_os = "linux", not(tickscope_unsupported))))]
use disabled as implementation;

pub use implementation::{
    Builder, Pause, Scope, Session, Snapshot, disable_sites, dump, enable_sites, mode, pause, request_reset,
    reset, set_histogram, set_mode, snapshot, start, thread,
};

pub use amount::Amount;
/// Opens a scope in a function, an async function, or all functions of an impl block, trait or inline module.
pub use tickscope_macros::profile;
pub use types::{Clock, Destination, DumpError, Format, Mode, SitesError, StartError, Status, Threads};

#[doc(hidden)]
pub use implementation::private as __private;
