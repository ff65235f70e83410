//! Programs measured by tickscope: finds the program that the user means, and reads its newest and its earlier records.
//!
//! ```text
//! words typed -> target (a ring, a kept file, a stream)
//!             -> feed (follows it, sends requests) -> events (records, state, answers) -> history
//!             -> timeline (all records of a file, or of a ring) <- moment (12s, -5s, 14:02:11)
//! all rings of a host -> ring_reads (the new records of each, for an agent)
//! snapshot -> sampled_code (rows of functions that were sampled), known_functions, kept_traces
//! ```
//!
//! The crate is called `programs` because messages and documentation use this word for the things that are observed.
//! `source` would suggest source code, and a `target` is one program that the user has named.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod clock_time;
pub mod container;
pub mod events;
pub mod feed;
pub mod history;
pub mod kept_files;
pub mod kept_traces;
pub mod known_functions;
pub mod local_time;
pub mod moment;
pub mod ring_reads;
pub mod sampled_code;
pub mod status;
pub mod target;
#[cfg(test)]
mod test_recording;
pub mod timeline;
