//! The viewer and its commands as users run them, with real programs, files, terminals and exit codes; and the claims
//! of the README and the book.
//!
//! The observed programs are this test binary, started in a role.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot get this far has failed"
)]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the programs looked at speak to their user, and tests say what was measured"
)]

mod cli_commands;
mod docs;
mod processes;
mod pty;
mod support;

use std::process::ExitCode;

use tickscope_testkit::suite;

fn main() -> anyhow::Result<ExitCode> {
    if let Ok(role) = std::env::var(support::ROLE) {
        let argument = std::env::var(support::ARGUMENT).unwrap_or_default();
        if role == pty::synthetic::ROLE {
            return pty::synthetic::main();
        }
        let is_known =
            cli_commands::roles::play(&role, &argument) || processes::roles::play(&role, &argument);
        assert!(is_known, "no role {role}");
        return Ok(ExitCode::SUCCESS);
    }
    // The tests that take longest come first, so that they start first.
    let files = [processes::TESTS, docs::TESTS, cli_commands::TESTS, pty::TESTS].concat();
    Ok(suite::main(&files))
}
