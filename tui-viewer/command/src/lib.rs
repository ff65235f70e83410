//! Code that the commands of tickscope share, like grep-cli for ripgrep. Nothing here reads a ring file or draws a screen.
//!
//! ```text
//! console      messages on standard error, results on standard output, exit codes
//! output_file  results that are written completely or not at all
//! child        waits for a started program, and passes on signals and its exit code
//! values       parsers for arguments
//! similar      suggests a function that the user may have meant -> did_you_mean (the most similar of some words)
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod child;
pub mod console;
pub mod did_you_mean;
pub mod output_file;
pub mod similar;
pub mod values;
