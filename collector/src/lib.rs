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
mod options;
mod own_thread;

/// What the macros expand to, with the feature.
#[cfg(feature = "enable")]
#[macro_use]
mod macros;

#[cfg(not(feature = "enable"))]
#[macro_use]
mod disabled;

#[cfg(feature = "enable")]
mod adopt;
#[cfg(feature = "enable")]
mod arena;
#[cfg(feature = "enable")]
mod builder;
#[cfg(feature = "enable")]
mod capture;
#[cfg(feature = "enable")]
mod clock;
#[cfg(feature = "enable")]
mod control;
#[cfg(feature = "enable")]
mod cost;
#[cfg(feature = "enable")]
mod count;
#[cfg(feature = "enable")]
mod estimate;
#[cfg(feature = "enable")]
mod fold;
#[cfg(feature = "enable")]
mod future;
#[cfg(feature = "enable")]
mod histograms;
#[cfg(feature = "enable")]
mod latency;
#[cfg(feature = "enable")]
mod ledger;
#[cfg(feature = "enable")]
mod light;
#[cfg(all(test, feature = "enable"))]
#[path = "../../shared-format/src/model.rs"]
mod model;
#[cfg(all(test, feature = "enable"))]
mod models;
#[cfg(feature = "enable")]
mod name;
#[cfg(feature = "enable")]
mod node;
#[cfg(feature = "enable")]
mod os;
#[cfg(feature = "enable")]
mod process;
#[cfg(feature = "enable")]
mod prune;
#[cfg(feature = "enable")]
mod publisher;
#[cfg(feature = "enable")]
mod random;
#[cfg(feature = "enable")]
mod rate;
#[cfg(feature = "enable")]
mod reading;
#[cfg(feature = "enable")]
mod registry;
#[cfg(feature = "enable")]
mod report;
#[cfg(feature = "enable")]
mod rows;
#[cfg(feature = "enable")]
mod sampler;
#[cfg(feature = "enable")]
mod scope;
#[cfg(feature = "enable")]
mod session;
#[cfg(feature = "enable")]
mod settings;
#[cfg(feature = "enable")]
mod site;
#[cfg(feature = "enable")]
mod site_ids;
#[cfg(feature = "enable")]
mod sites;
#[cfg(feature = "enable")]
mod switch;
#[cfg(feature = "enable")]
mod sync;
#[cfg(feature = "enable")]
mod threads;
#[cfg(feature = "enable")]
mod tree;

pub use amount::Amount;
pub use options::{Clock, Destination, DumpError, Format, Mode, StartError, Status, Threads};
/// Opens a scope in a function, an async function, or all functions of an impl block, trait or inline module.
pub use tickscope_macros::profile;

#[cfg(not(feature = "enable"))]
pub use disabled::{
    Builder, Pause, Scope, Session, Snapshot, dump, mode, off, on, pause, request_reset, reset,
    set_histogram, set_mode, snapshot, start, thread,
};

#[cfg(feature = "enable")]
pub use {
    builder::Builder,
    control::{mode, off, on, set_histogram, set_mode},
    scope::{Pause, Scope, pause},
    session::{Session, dump, request_reset, reset, snapshot},
    tickscope_format::Snapshot,
};

/// Starts publishing this program's call trees under a name, until the session is dropped. Returns at once;
/// never fails and never stops the program (see [`Builder::start`]).
#[cfg(feature = "enable")]
pub fn start(name: impl Into<String>) -> Session {
    Builder::new(name).start()
}

/// Which threads count.
#[cfg(feature = "enable")]
pub mod thread {
    /// Lets the calling thread count from now on.
    pub fn include() {
        crate::threads::include(crate::session::first_scope);
    }

    /// Lets the calling thread count no more; its open scopes end here, and what it counted stays.
    pub fn exclude() {
        crate::threads::exclude();
    }
}

/// What the macros need; no promise to anybody else.
#[cfg(feature = "enable")]
#[doc(hidden)]
pub mod __private {
    pub use crate::clock::tsc;
    pub use crate::count::count;
    pub use crate::future::profile_future;
    pub use crate::scope::enter;
    pub use crate::site::Site;
}
