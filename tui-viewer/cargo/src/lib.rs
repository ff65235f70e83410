//! `cargo tickscope`: runs cargo so that the program's functions contain sleds and the collector is linked in, and watches
//! the programs that cargo runs.
//!
//! ```text
//! command -> cargo_words (the arguments for cargo), project (cargo's metadata), project_choice (tickscope.toml),
//!            settings (cargo's configuration), compiler
//!         -> for each target: collector (built once, then taken from cache), sled_flags (the flags that produce sleds)
//!         -> cargo, which starts this program again
//!               as its RUSTC_WRAPPER:  wrapper -> invocation, changes -> rustc; after linking: executable, function_table
//!               as its runner:         runner  -> watcher (does what `tickscope run` and `record` do); test_list
//! ```
//!
//! The command passes data to the wrapper and the runner in one file (`handover`). The wrapper collects notes for the
//! user in another file (`notes`).
//!
//! The screen, recordings and reports are in the package that contains the binary. It implements [`watcher::Watcher`].

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
