//! The library with the feature `enable`. Each folder in this list imports only from folders below it.
//!
//! ```text
//! builder, control   the public API
//! publish/     the background thread (ring file, requests, reports), and the sessions that start and end it
//! scope, pause, counter, future, tasks, foreign, sync    what the macros call
//! functions/   the hooks that are called by functions that the compiler has instrumented
//! capture/     reads all threads while they run: snapshots and resets
//! runtime/     settings, clock rate and limits, which are set up once per process
//! record/      the hot path: call trees, sites, modes; no lock and no I/O
//! platform/    system calls, clocks, atomics
//! ```

pub(crate) mod allocations;
mod builder;
mod call;
mod capture;
mod control;
mod counter;
pub mod foreign;
#[cfg(all(feature = "hooks", target_arch = "x86_64"))]
mod functions;
mod future;
mod measures;
#[cfg(test)]
mod models;
mod note;
mod pause;
mod platform;
mod publish;
mod record;
mod runtime;
mod scope;
pub mod spans;
pub mod sync;
mod tasks;

pub use {
    builder::Builder,
    control::{disable_sites, enable_sites, mode, set_histogram, set_mode, unwatch, watch},
    pause::{Pause, pause},
    publish::session::{Session, dump, request_reset, reset, snapshot},
    scope::Scope,
    tasks::task,
    tickscope_format::Snapshot,
    tickscope_format::snapshot::{FunctionName, FunctionNumbers},
};

/// Starts publishing this program's call trees under a name, until the session is dropped.
///
/// Returns at once, never fails and never stops the program. See [`Builder::start`] for details, and [`Builder`] for
/// the settings.
///
/// ```
/// let _tickscope = tickscope::start("order-book");
/// ```
pub fn start(name: impl Into<String>) -> Session {
    Builder::new(name).start()
}

/// Chooses which threads are measured.
pub mod thread {
    use super::capture::thread_lifecycle;

    /// Starts measuring the calling thread. Needed with [`Threads::OptIn`](crate::Threads::OptIn), or after
    /// [`exclude`].
    pub fn include() {
        thread_lifecycle::include();
    }

    /// Stops measuring the calling thread. Its open scopes end at this call. Its earlier counts are kept.
    pub fn exclude() {
        thread_lifecycle::exclude();
    }
}

/// Items to which the macros expand. They are not part of the public API and may change in any release.
pub mod private {
    pub use super::counter::{count, gauge, value};
    pub use super::foreign;
    #[cfg(all(feature = "hooks", target_arch = "x86_64"))]
    pub use super::functions::calls;
    pub use super::future::profile_future;
    pub use super::note::note;
    pub use super::platform::clock::tsc;
    pub use super::platform::descriptors::write_all;
    #[cfg(feature = "report")]
    pub use super::publish::reports::of_format as form_of;
    pub use super::publish::session::BEFORE_MAIN;
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    pub use super::record::function_sites::switch_all;
    pub use super::record::site::Site;
    pub use super::runtime::config::is_forked_child;
    pub use super::scope::enter;
    pub use super::spans;
    pub use super::tasks::profile_task;
    pub use crate::amount::Literal;
}
