#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
//! Tests that create, read, damage and remove ring files. No test here starts a process, because the child would
//! briefly share the locks of its parent, and a held lock makes a ring look as if its program were running.

mod history;
mod ring_file;
mod support;
mod ways;

fn main() -> std::process::ExitCode {
    tickscope_testkit::suite::main(&[history::TESTS, ring_file::TESTS, ways::TESTS])
}
