//! A snapshot as something to read. Nothing here does I/O: every rendering is a `String`.
//!
//! ```text
//! Snapshot -> profile -> text    the report: call tree and top functions
//!          -> stacks             where every thread is right now
//!          -> sites              what was met, and what is switched off
//!          -> json               every fact, per thread, for scripts (feature `json`)
//!          -> html               one page to look at and send around; carries its snapshot
//! ```

mod escape;
#[cfg(test)]
pub(crate) mod fixtures;
mod glyphs;
pub mod html;
#[cfg(feature = "json")]
pub mod json;
pub mod label;
pub mod number;
pub mod process_state;
pub mod sites;
pub mod stacks;
pub mod text;

pub use process_state::ProcessState;
