//! Tests C and C++ programs that use the library, built with the compilers of this machine. If there is no compiler,
//! the tests are skipped.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![allow(clippy::print_stderr, reason = "tests print figures")]

#[cfg(not(debug_assertions))]
mod cost;
mod ends;
mod examples;
mod functions;
mod header;
mod libraries;
mod support;

use std::process::ExitCode;

use tickscope_testkit::suite;

fn main() -> ExitCode {
    #[cfg(not(debug_assertions))]
    cost::measure_rust();
    suite::main(&[
        #[cfg(not(debug_assertions))]
        cost::TESTS,
        ends::TESTS,
        examples::TESTS,
        functions::TESTS,
        header::TESTS,
        libraries::TESTS,
    ])
}
