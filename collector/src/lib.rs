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
//! # Caveats
//! Nothing here may be called from a signal handler but what opens and closes scopes, and [`count!`]; a scope or a count
//! in a handler that interrupts another scope's begin or end, or a counter's addition, is dropped and counted. Kernel
//! names of threads are used, which are cut to 15 bytes. In a forked child scopes go on, unpublished.

mod amount;
mod own_thread;
mod types;

#[cfg(not(feature = "enable"))]
#[macro_use]
mod disabled;
#[cfg(feature = "enable")]
mod enabled;
/// What the macros expand to, with the feature.
#[cfg(feature = "enable")]
#[macro_use]
mod macros;

#[cfg(not(feature = "enable"))]
pub use disabled::{
    Builder, Pause, Scope, Session, Snapshot, disable_sites, dump, enable_sites, mode, pause, request_reset,
    reset, set_histogram, set_mode, snapshot, start, thread,
};
#[cfg(feature = "enable")]
pub use enabled::{
    Builder, Pause, Scope, Session, Snapshot, disable_sites, dump, enable_sites, mode, pause, request_reset,
    reset, set_histogram, set_mode, snapshot, start, thread,
};

pub use amount::Amount;
/// Opens a scope in a function, an async function, or all functions of an impl block, trait or inline module.
pub use tickscope_macros::profile;
pub use types::{Clock, Destination, DumpError, Format, Mode, SitesError, StartError, Status, Threads};

#[cfg(feature = "enable")]
#[doc(hidden)]
pub use enabled::private as __private;
