//! What the tests of several crates share: snapshots made by hand, a program that grows with its age, rings as programs write
//! them, the model checker with seeded mutations, the harness of suites whose tests may skip, and waiting. No part of any library, and
//! never published.

#![allow(
    clippy::unwrap_used,
    reason = "for tests alone: a fixture that cannot be made has failed"
)]

// A file of tickscope-format, whose own unit tests have it too: this crate's types are those of the library as others see it,
// and not of its unit tests.
pub mod command;
#[path = "../../src/fixture.rs"]
pub mod fixture;
pub mod model;
pub mod modes;
pub mod open_metrics;
pub mod orderbook;
pub mod ring;
pub mod suite;
pub mod until;
