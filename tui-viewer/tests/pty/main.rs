//! The viewer in a real terminal.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by them")]

mod editor;
mod keys;
mod leaving;
mod looks;
#[path = "../support/orderbook.rs"]
mod orderbook;
mod program;
#[path = "../support/ring.rs"]
mod ring;
mod session;
mod sizes;
