//! A snapshot as something to read. Nothing here does I/O: short renderings are `String`s, and those that may be long
//! are written to whatever the caller gives.
//!
//! ```text
//! Snapshot -> tickscope-analysis -> text    the report: call tree, functions, call graph, threads
//!          -> stacks             where every thread is right now
//!          -> sites              what was met, and what is switched off
//!          -> json               every fact, per thread, for scripts (feature `json`)
//!          -> html               one page to look at and send around; carries its snapshot
//!          -> csv                the facts of the nodes as a table (feature `export`)
//!          -> folded             for flame graphs
//!          -> callgrind          for KCachegrind and callgrind_annotate
//!          -> speedscope, pprof  for the readers of these names (feature `export`)
//!          -> form               one of these, or the snapshot itself, as a new file
//! Snapshots as they come -> intervals -> log   a line for each thread and group
//! Snapshots of two builds -> compare  -> diff  text, markdown, JSON, a page
//! ```

#![warn(missing_docs)]

pub mod archive;
pub mod callgrind;
pub mod clock;
#[cfg(feature = "export")]
pub mod csv;
pub mod diff;
mod escape;
pub mod extent;
pub mod folded;
pub mod form;
mod glyphs;
pub mod html;
#[cfg(feature = "json")]
pub mod json;
pub mod label;
pub mod log;
mod names;
pub mod number;
#[cfg(feature = "export")]
pub mod pprof;
pub mod process_state;
#[cfg(feature = "json")]
mod quotient;
pub mod sites;
#[cfg(feature = "export")]
pub mod speedscope;
pub mod stacks;
pub mod text;
pub mod unit;

pub use self::extent::Extent;
pub use self::process_state::ProcessState;
