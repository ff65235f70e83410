//! What the tests of several crates share: snapshots made by hand, and the model checker with seeded mutations.
//! No part of any library.

#[path = "../../src/fixture.rs"]
pub mod fixture;
pub mod model;
