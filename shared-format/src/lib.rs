//! The data formats that tickscope's collector and viewer share: snapshots, ring files, request slots, recordings.
//!
//! This crate does not analyse snapshots. `tickscope-analysis` turns them into tables, and `tickscope-report` writes
//! output for people and for other tools. The modules form layers, listed here from the top down. Each module imports
//! only modules of its own layer and of the layers below it:
//!
//! ```text
//! recording, snapshot_file    `.tks` files, which contain one record after another
//! file/, mapping              creating, opening, listing and cleaning up ring files
//! ring/, slots                the two protocols over shared memory
//! codec/                      encoding snapshots as bytes
//! function_choice             which functions are measured by default
//! addresses                   functions and source lines at code addresses
//! snapshot, latency/, pattern the data model
//! words, layout, os, checksum, ids, path, function_table, error
//! ```
//!
//! This prints the number of calls in each snapshot of a recording:
//!
//! ```no_run
//! use std::path::Path;
//!
//! use tickscope_format::recording::Recording;
//!
//! let recording = Recording::open(Path::new("run.tks"))?;
//! for moment in recording.moments() {
//!     let snapshot = recording.snapshot(moment)?;
//!     let calls: u64 = snapshot.nodes.calls.iter().sum();
//!     println!("{} ns: {calls} calls", moment.stamp.unix_ns);
//! }
//! # Ok::<(), tickscope_format::FormatError>(())
//! ```

#![warn(missing_docs)]

// Fixtures refer to this crate as `tickscope_format`, because `tickscope-testkit` compiles the same files.
#[cfg(test)]
extern crate self as tickscope_format;

pub mod addresses;
pub mod checksum;
pub mod codec;
mod error;
pub mod file;
#[cfg(test)]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "`tickscope-testkit` has this file as well and shows all of it"
)]
mod fixture;
pub mod function_choice;
pub mod function_table;
pub mod ids;
pub mod latency;
pub mod layout;
mod mapping;
pub mod os;
pub mod path;
pub mod pattern;
pub mod recording;
pub mod ring;
pub mod slots;
pub mod snapshot;
pub mod snapshot_file;
pub mod words;

pub use self::error::FormatError;
pub use self::snapshot::Snapshot;
