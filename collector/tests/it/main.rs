//! Tests of the collector in real programs: each test starts this binary as a child, which runs the test's body.
//!
//! `cargo test -p tickscope-tests --test it storm` runs the tests of one file, here `storm.rs`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "tests print figures")]

mod allocations;
mod api;
#[cfg(feature = "report")]
mod at_exit;
mod clock_rate;
mod clocks;
mod conservation;
mod daemons;
#[cfg(feature = "report")]
mod dumps;
mod ends;
mod environment;
mod exits;
mod flood;
mod futures;
#[cfg(not(feature = "report"))]
mod kept_reports;
mod libraries;
mod lines;
mod locks;
#[cfg(feature = "report")]
mod log;
mod lost_ring;
mod modes;
mod privileges;
mod process;
mod programs;
mod publisher;
mod scale;
mod session_start;
mod signals;
mod site_rules;
mod stalls;
mod storm;
#[path = "../support/mod.rs"]
mod support;
mod threads;
mod values;
mod waits;
mod waits_in;
mod watched_futures;
mod watches;

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "report")]
    // The test of a program that returns from `main` needs a child that returns right here.
    if at_exit::returns_from_main() {
        return at_exit::returning();
    }
    // The tests that wait longest come first, so that they run in parallel with the others.
    support::main(&[
        publisher::TESTS,
        clocks::TESTS,
        clock_rate::TESTS,
        allocations::TESTS,
        api::TESTS,
        #[cfg(feature = "report")]
        at_exit::TESTS,
        conservation::TESTS,
        daemons::TESTS,
        #[cfg(feature = "report")]
        dumps::TESTS,
        ends::TESTS,
        environment::TESTS,
        exits::TESTS,
        flood::TESTS,
        futures::TESTS,
        #[cfg(not(feature = "report"))]
        kept_reports::TESTS,
        libraries::TESTS,
        locks::TESTS,
        #[cfg(feature = "report")]
        log::TESTS,
        lost_ring::TESTS,
        modes::TESTS,
        privileges::TESTS,
        process::TESTS,
        programs::TESTS,
        scale::TESTS,
        session_start::TESTS,
        signals::TESTS,
        site_rules::TESTS,
        stalls::TESTS,
        storm::TESTS,
        threads::TESTS,
        values::TESTS,
        waits::TESTS,
        waits_in::TESTS,
        watched_futures::TESTS,
        watches::TESTS,
        lines::TESTS,
    ])
}
