//! Code shared by the tests of several crates: hand-made snapshots, a made-up program whose counts and times grow with
//! its age, rings written as programs write them, models that run under loom with seeded mutations, a test harness in
//! which a running test can skip itself, and waiting for conditions. No library contains this crate, and it is never
//! published.

#![allow(
    clippy::unwrap_used,
    reason = "for tests alone: a fixture that cannot be made has failed"
)]

pub mod command;
// `fixture.rs` belongs to tickscope-format, whose unit tests include the file as well. When it is included here, it
// uses the public types of that library.
#[path = "../../src/fixture.rs"]
pub mod fixture;
pub mod model;
pub mod modes;
pub mod open_metrics;
pub mod orderbook;
pub mod ring;
pub mod suite;
pub mod test_program;
pub mod until;
