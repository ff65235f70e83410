//! Code that the tests of several crates share: snapshots made by hand, a program whose numbers grow with its age, rings as
//! programs write them, the model checker with seeded mutations, the harness of suites whose tests may skip, and waiting. It
//! belongs to no library, and is never published.

#![allow(
    clippy::unwrap_used,
    reason = "for tests alone: a fixture that cannot be made has failed"
)]

pub mod command;
// `fixture.rs` is a file of tickscope-format, whose own unit tests include it too. Here it uses the public types of the
// library.
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
