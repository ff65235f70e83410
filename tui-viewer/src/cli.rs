//! The command line: its arguments and its commands.

pub mod args;
pub mod commands;
pub mod parse;
mod trigger;
