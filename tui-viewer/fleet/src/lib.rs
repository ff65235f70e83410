//! Commands for many programs at once: they export the counts in all rings of a host, as metrics for Prometheus or as
//! profiles for Pyroscope, and add up runs from any number of hosts.
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

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use signal_hook::consts::{SIGINT, SIGTERM};
use tickscope_format::file::places;
use tickscope_programs::target;

/// Sets up a command that reads rings until a signal ends it. Returns the directories in which to look for rings, and a
/// flag that SIGTERM and SIGINT set.
fn begin(dirs: &[PathBuf]) -> anyhow::Result<(Vec<PathBuf>, Arc<AtomicBool>)> {
    for dir in dirs {
        target::check_dir(Some(dir))?;
    }
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, ended.clone()).context("cannot listen to signals")?;
    }
    let places = match dirs.is_empty() {
        true => places::chosen(None),
        false => dirs.to_vec(),
    };
    Ok((places, ended))
}
