//! What happens between processes, with real ones: killed, stopped, lapped, locked out, and looked at by many.
//!
//! The programs and viewers are this very test binary, run again in a role (see [`roles`]).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot get this far has failed"
)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what was reached")]

mod identity;
mod killed;
mod locked;
mod paths;
mod requests;
mod roles;
mod support;
mod together;
mod viewers;

use std::process::ExitCode;

use tickscope_testkit::suite;

fn main() -> ExitCode {
    roles::play();
    suite::main(&[
        identity::TESTS,
        killed::TESTS,
        locked::TESTS,
        paths::TESTS,
        requests::TESTS,
        together::TESTS,
        viewers::TESTS,
    ])
}
