//! What the tests of several crates share: hand-made snapshots, and the model checker with seeded mutations. It is
//! published with none of them.

#![allow(
    clippy::unwrap_used,
    reason = "for tests alone: a fixture that cannot be made has failed"
)]

#[path = "../../src/fixture.rs"]
pub mod fixture;
pub mod model;
