//! Sources of data: finding a program, following it, and its past.

pub(crate) mod code_reader;
pub mod container;
pub mod events;
pub mod feed;
pub(crate) mod history;
pub(crate) mod kept_files;
pub(crate) mod kept_traces;
pub mod known_functions;
pub mod local_time;
pub mod ring_reads;
pub(crate) mod source_files;
pub mod status;
pub mod symbols;
pub mod target;
#[cfg(test)]
pub(crate) mod test_program;
pub mod timeline;
pub(crate) mod trigger;
