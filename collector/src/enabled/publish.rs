//! The background thread that publishes snapshots, and the code that starts and ends it.

#[cfg(all(feature = "functions", target_arch = "x86_64"))]
pub(crate) mod governor;
pub(crate) mod overhead;
pub(crate) mod prune;
pub(crate) mod publisher;
pub(crate) mod reports;
pub(crate) mod request_budget;
pub(crate) mod sampler;
pub(crate) mod session;
pub(crate) mod session_state;
