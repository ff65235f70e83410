//! Tests of `cargo tickscope` on small projects, with the real cargo and compiler. Only the ignored test in `unedited`
//! downloads anything.
//!
//! The projects are copies of `fixture/` and the other directories here, or are written by a test. The tests share a
//! cache, so that the collector is built only once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot get this far has failed"
)]
#![allow(clippy::print_stdout, reason = "tests print figures")]

mod asyncs;
mod builds;
mod environment;
mod functions;
mod own_collector;
mod refusals;
mod runs;
mod support;
mod unedited;

use std::process::ExitCode;

use tickscope_testkit::suite;

fn main() -> ExitCode {
    suite::main(&[
        asyncs::TESTS,
        builds::TESTS,
        environment::TESTS,
        functions::TESTS,
        own_collector::TESTS,
        refusals::TESTS,
        runs::TESTS,
        unedited::TESTS,
    ])
}
