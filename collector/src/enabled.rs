//! The library with the feature `enable`. A folder imports only folders below it in this list.
//!
//! ```text
//! builder, control   the calling API
//! publish/     the background thread: ring file, requests, reports; sessions start and end it
//! scope, pause, counter, future, tasks, foreign, sync    what the macros call
//! functions/   what the sleds of functions call, where the compiler has prepared them
//! capture/     reads all threads while they run: snapshots and resets
//! runtime/     what is decided once per process: settings, clock rate, limits
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
/// Returns at once, never fails and never stops the program. [`Builder::start`] says more; [`Builder`] has the
/// settings.
///
/// ```
/// let _tickscope = tickscope::start("order-book");
/// ```
pub fn start(name: impl Into<String>) -> Session {
    Builder::new(name).start()
}

/// Chooses which threads count.
pub mod thread {
    use super::capture::thread_lifecycle;

    /// Makes the calling thread count from now on. Needed with [`Threads::OptIn`](crate::Threads::OptIn), or after
    /// [`exclude`].
    pub fn include() {
        thread_lifecycle::include();
    }

    /// Stops counting on the calling thread. Its open scopes end at this call. Its counts are kept.
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
