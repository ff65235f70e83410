//! What tickscope's collector and viewer agree on.

#![warn(missing_docs)]

mod error;
#[cfg(test)]
mod fixture;
pub mod ids;
pub mod profile;
pub mod render;
pub mod snapshot;

pub use error::FormatError;
pub use snapshot::Snapshot;
