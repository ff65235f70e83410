//! Reads the trees of all threads while they run, and makes snapshots and resets from them.

pub(crate) mod baseline;
pub(crate) mod capture_lock;
pub(crate) mod collector_state;
pub(crate) mod epochs;
pub(crate) mod estimate;
pub(crate) mod finished_threads;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
pub(crate) mod function_sums;
pub(crate) mod functions;
pub(crate) mod histograms;
pub(crate) mod lines;
pub(crate) mod live_threads;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
mod lost_futures;
pub(crate) mod ranges;
pub(crate) mod reset_epochs;
pub(crate) mod row;
pub(crate) mod sampling;
pub(crate) mod session_info;
pub(crate) mod shares;
pub(crate) mod site_ids;
pub(crate) mod snapshot_rows;
pub(crate) mod task_reader;
pub(crate) mod thread_lifecycle;
pub(crate) mod thread_name;
pub(crate) mod tree_reader;
pub(crate) mod waiting_looks;
pub(crate) mod waits_in;
pub(crate) mod watches;
