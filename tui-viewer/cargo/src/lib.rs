//! `cargo tickscope`: cargo with sleds in the functions of the program, the collector linked in, and a viewer for the
//! programs that run.
//!
//! ```text
//! command -> cargo_words (what was typed), project (cargo's metadata), project_choice (tickscope.toml),
//!            settings (cargo's configuration), compiler
//!         -> collector (built once into cache) and sled_flags (which flags give them), for each target
//!         -> cargo, which starts this program again
//!               as its RUSTC_WRAPPER:  wrapper -> invocation, changes -> rustc; after a link: executable, function_table
//!               as its runner:         runner  -> watcher (what `tickscope run` and `record` do); test_list
//! ```
//!
//! The command passes data to the wrapper and the runner in one file (`handover`). The wrapper collects notes for the
//! user in another file (`notes`).
//!
//! The screen, recordings and reports are in the package with the binary, which implements [`watcher::Watcher`].

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod args;
mod cache;
mod cargo_words;
mod changes;
mod collector;
mod command;
mod compiler;
mod executable;
mod function_table;
mod handover;
mod invocation;
mod notes;
mod project;
mod project_choice;
pub mod role;
mod runner;
mod settings;
mod sled_flags;
mod test_list;
pub mod watcher;
mod wrapper;
