//! The viewer in a real terminal.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by them")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what was measured")]

mod deaf;
mod editor;
mod keys;
mod leaving;
mod looks;
mod piped;
mod program;
mod session;
mod sizes;
mod synthetic;
mod troubled;

use std::process::ExitCode;

use tickscope_testkit::suite;

fn main() -> anyhow::Result<ExitCode> {
    program::play();
    if std::env::var_os(synthetic::ROLE).is_some() {
        return synthetic::main();
    }
    Ok(suite::main(&[
        deaf::TESTS,
        editor::TESTS,
        keys::TESTS,
        leaving::TESTS,
        looks::TESTS,
        piped::TESTS,
        program::TESTS,
        sizes::TESTS,
        troubled::TESTS,
    ]))
}
