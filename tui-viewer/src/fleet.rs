//! Many programs at once: counts of all rings of a host, as metrics for Prometheus and as profiles for Pyroscope.
//!
//! ```text
//! rings -> agent -> account (a program, over all its runs) -> exposition -> http, or a file
//!                     run_sums (a run, over its resets)
//!       -> windows (what programs did since the last look) -> pyroscope
//! ```

pub mod account;
pub mod agent;
pub mod amounts;
pub mod exposition;
pub mod http;
pub mod pyroscope;
pub mod run_sums;
pub mod windows;
