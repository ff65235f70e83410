//! The viewer in a real terminal.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by them")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what was measured, or skipped and why"
)]

mod deaf;
mod editor;
mod keys;
mod leaving;
mod looks;
mod piped;
mod program;
mod session;
mod sizes;
mod troubled;
