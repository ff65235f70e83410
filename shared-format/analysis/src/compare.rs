//! The runs of two builds against each other.

pub mod diff;
pub mod gate;
pub mod rank;
