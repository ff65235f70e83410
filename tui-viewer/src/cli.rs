//! The command line: its arguments, and what each command does.

pub mod args;
pub mod commands;
pub mod parse;
