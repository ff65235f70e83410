//! Compares the runs of two builds.

pub mod change;
pub mod diff;
pub mod gate;
pub mod rank;
