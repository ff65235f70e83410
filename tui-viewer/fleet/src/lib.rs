//! Many programs at once: counts of all rings of a host, as metrics for Prometheus and as profiles for Pyroscope.
//!
//! ```text
//! rings -> agent -> account (a program, over all its runs) -> exposition -> metrics (http, or a file)
//!                     run_sums (a run, over its resets)
//!       -> windows (what programs did since the last round) -> pyroscope -> push
//! files -> merge (runs of any hosts) -> one file
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod account;
mod agent;
mod amounts;
pub mod args;
mod exposition;
mod http;
pub mod merge;
pub mod metrics;
pub mod push;
mod pyroscope;
mod run_sums;
mod windows;
