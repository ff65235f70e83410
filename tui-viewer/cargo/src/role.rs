//! The roles that this program can play: the command, cargo's compiler wrapper, or cargo's runner.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Context;

use crate::handover::{Handover, RUNNER, VARIABLE};
use crate::watcher::Watcher;
use crate::{command, runner, wrapper};

/// Runs in the role given by the arguments and the environment, and returns the exit code.
///
/// # Errors
/// The role failed; the message is meant for the user.
pub fn play<W: Watcher>(words: Vec<OsString>) -> anyhow::Result<u8> {
    let first = words.get(1);
    let is_command = first.is_some_and(|word| word == "tickscope");
    if !is_command && let Some(place) = std::env::var_os(VARIABLE) {
        let handover = Handover::read(place.as_ref())?;
        return if first.is_some_and(|word| word == RUNNER) {
            runner::run::<W>(&handover, &words[2..])
        } else {
            wrapper::run(&handover, &words[1..])
        };
    }
    // A build script has started cargo without the variables of this build, but with its compiler wrapper.
    let is_compiler = |word: &&OsString| {
        let text = word.as_encoded_bytes();
        *word == "rustc" || text.contains(&b'/') && !text.starts_with(b"-")
    };
    if let Some(compiler) = first.filter(is_compiler) {
        let error = Command::new(compiler).args(&words[2..]).exec();
        return Err(error).with_context(|| format!("cannot start {}", compiler.display()));
    }
    let mut words = words;
    // Cargo passes the name of its subcommand as the first argument.
    if is_command {
        words.remove(1);
    }
    command::run::<W::Look>(words)
}
