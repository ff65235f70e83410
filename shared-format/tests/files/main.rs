#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
//! Ring files: made, read, damaged and removed. No test here starts a process, because a starting child holds the locks
//! of its parent for a moment.

mod history;
mod ring_file;
mod support;
mod ways;

fn main() -> std::process::ExitCode {
    tickscope_testkit::suite::main(&[history::TESTS, ring_file::TESTS, ways::TESTS])
}
