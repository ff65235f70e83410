//! Single instructions of a scope: which of them lock, call the kernel or allocate, and which state a signal between two of them
//! meets. This is a binary of its own, because it has an allocator that counts, and little code to disassemble.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "tests print figures")]

mod fast_path;
mod single_steps;
#[path = "../support/mod.rs"]
mod support;

fn main() -> std::process::ExitCode {
    support::main(&[fast_path::TESTS, single_steps::TESTS])
}
