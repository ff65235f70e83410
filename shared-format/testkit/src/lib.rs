//! What the tests of several crates share: snapshots made by hand, and the model checker with seeded mutations.
//! No part of any library.

#![allow(
    clippy::unwrap_used,
    reason = "for tests alone: a fixture that cannot be made has failed"
)]

#[path = "../../src/fixture.rs"]
pub mod fixture;
pub mod model;
