//! The commands as a user meets them: real programs, real files, real exit codes.
//!
//! The programs looked at are this very test binary, run again in a role (see [`roles`]).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot get this far has failed"
)]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the programs looked at speak to their user"
)]

mod bugs;
mod cost;
mod diff;
mod documents;
mod exports;
mod files;
mod first_steps;
mod help;
mod lines;
mod listing;
mod live;
mod log;
mod mcp;
mod merging;
mod message_page;
mod messages;
mod metrics;
mod muting;
mod push;
mod recording;
mod refusals;
mod report;
mod roles;
mod run;
mod scripts;
mod slow;
mod stopped;
mod streams;
mod support;
mod switching;
mod targets;
mod trigger;

use std::process::ExitCode;

use tickscope_testkit::suite;

fn main() -> ExitCode {
    roles::play();
    suite::main(&[
        bugs::TESTS,
        cost::TESTS,
        diff::TESTS,
        documents::TESTS,
        exports::TESTS,
        files::TESTS,
        first_steps::TESTS,
        help::TESTS,
        lines::TESTS,
        listing::TESTS,
        live::TESTS,
        log::TESTS,
        mcp::TESTS,
        merging::TESTS,
        message_page::TESTS,
        messages::TESTS,
        metrics::TESTS,
        muting::TESTS,
        push::TESTS,
        recording::TESTS,
        refusals::TESTS,
        report::TESTS,
        run::TESTS,
        scripts::TESTS,
        slow::TESTS,
        stopped::TESTS,
        streams::TESTS,
        switching::TESTS,
        targets::TESTS,
        trigger::TESTS,
    ])
}
