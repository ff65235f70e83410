//! Tests of the machine code of a scope: no instruction locks the bus, no code enters the kernel or allocates, and a
//! signal may arrive between any two instructions. The tests have their own binary, because they need a counting
//! allocator and little code to disassemble.

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
