//! What the tests of several crates share: hand-made snapshots, and the model checker with seeded mutations. It is
//! published with none of them.

#[path = "../../src/fixture.rs"]
pub mod fixture;
pub mod model;
