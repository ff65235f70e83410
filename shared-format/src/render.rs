//! A snapshot as something to read. Nothing here does I/O: every rendering is a `String`.

pub mod number;
mod process_state;

pub use process_state::ProcessState;
