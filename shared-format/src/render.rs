//! A snapshot as something to read. Nothing here does I/O: renderings are `String`s, and those that may
//! be long for other tools are written to whatever their caller gives.
//!
//! ```text
//! Snapshot -> profile -> text    the report: call tree and top functions
//!          -> stacks             where every thread is right now
//!          -> sites              what was met, and what is switched off
//!          -> json               every fact, per thread, for scripts (feature `json`)
//!          -> html               one page to look at and send around; carries its snapshot
//!          -> csv                the same facts of the nodes as a table (feature `export`)
//!          -> intervals -> log   a line for each thread and group, interval by interval
//!          -> folded             for flame graphs
//!          -> callgrind          for KCachegrind and callgrind_annotate
//!          -> speedscope, pprof  for the readers of these names (feature `export`)
//! two builds -> diff            text, markdown, JSON, a page
//!          -> form               any of these as a new file
//! ```

pub mod callgrind;
#[cfg(feature = "export")]
pub mod csv;
pub mod diff;
mod escape;
#[cfg(test)]
pub(crate) mod fixtures;
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
pub mod sites;
#[cfg(feature = "export")]
pub mod speedscope;
pub mod stacks;
pub mod text;

pub use process_state::ProcessState;
