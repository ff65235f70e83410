//! The runs of two builds against each other.

pub mod change;
pub mod diff;
pub mod gate;
pub mod rank;
