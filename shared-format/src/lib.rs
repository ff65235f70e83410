//! The bytes that tickscope's collector and viewer agree on: snapshots, ring files, request slots, recordings.
//!
//! This crate derives nothing from snapshots. `tickscope-analysis` makes tables of them, and `tickscope-report` writes what
//! people and other tools read. From the top down, a file imports only files below it:
//!
//! ```text
//! recording, snapshot_file    records one after another in a file of their own (`.tks`)
//! file/, mapping              making, opening, listing and cleaning up ring files
//! ring/, slots                the two protocols over shared memory
//! codec/                      snapshots as bytes
//! function_choice             which functions are measured from the start
//! addresses                   functions and lines of code
//! snapshot, latency/, pattern the data model
//! words, layout, os, checksum, ids, path, function_table, error
//! ```
//!
//! The calls at each moment of a recording:
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

// Fixtures call this crate `tickscope_format`, because `tickscope-testkit` compiles them as well.
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
