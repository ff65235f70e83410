//! The library with the feature `enable`, from the top down; a folder imports only those below it.
//!
//! ```text
//! scope, counter, future, builder, control    what the macros and the calling API enter
//! publish/     the background thread: ring file, requests, reports; sessions start and end it
//! capture/     reads all threads while they run: a snapshot, and resets
//! runtime/     what is decided once per process: settings, clock rate, limits
//! record/      the hot path: call trees, sites, modes; no lock and no I/O
//! platform/    system calls, clocks, atomics
//! ```

mod builder;
mod capture;
mod control;
mod counter;
mod future;
#[cfg(test)]
mod models;
mod platform;
mod publish;
mod record;
mod runtime;
mod scope;

pub use {
    builder::Builder,
    control::{disable_sites, enable_sites, mode, set_histogram, set_mode},
    publish::session::{Session, dump, request_reset, reset, snapshot},
    scope::{Pause, Scope, pause},
    tickscope_format::Snapshot,
};

/// Starts publishing this program's call trees under a name, until the session is dropped. Returns at once;
/// never fails and never stops the program (see [`Builder::start`]).
pub fn start(name: impl Into<String>) -> Session {
    Builder::new(name).start()
}

/// Which threads count.
pub mod thread {
    use super::capture::thread_lifecycle;
    use super::publish::session;

    /// Lets the calling thread count from now on.
    pub fn include() {
        thread_lifecycle::include(session::first_scope);
    }

    /// Lets the calling thread count no more; its open scopes end here, and what it counted stays.
    pub fn exclude() {
        thread_lifecycle::exclude();
    }
}

/// What the macros need; no promise to anybody else.
pub mod private {
    pub use super::counter::count;
    pub use super::future::profile_future;
    pub use super::platform::clock::tsc;
    pub use super::record::site::Site;
    pub use super::scope::enter;
}
