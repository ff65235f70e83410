//! What the commands of tickscope have in common, as grep-cli is for ripgrep. Nothing here reads a ring file or draws a
//! screen.
//!
//! ```text
//! console      messages on standard error, results on standard output, exit codes
//! output_file  results that are written whole or not at all
//! child        starts a program, waits for its end, and passes its exit code on
//! values       readers of arguments
//! similar      a function that the user may have meant -> did_you_mean (the nearest of some words)
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod child;
pub mod console;
pub mod did_you_mean;
pub mod output_file;
pub mod similar;
pub mod values;
