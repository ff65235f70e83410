//! Programs in C and C++ with the library, built by the compilers that are here. Without any the tests say so, and pass.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed, and says why it is skipped"
)]

#[cfg(not(debug_assertions))]
mod cost;
mod ends;
mod examples;
mod functions;
mod header;
mod libraries;
mod support;
