//! What tickscope's collector and viewer agree on.

#![warn(missing_docs)]

pub mod codec;
mod error;
#[cfg(test)]
mod fixture;
pub mod ids;
pub mod layout;
pub mod profile;
pub mod ring;
pub mod slots;
pub mod snapshot;
pub mod words;

pub use error::FormatError;
pub use snapshot::Snapshot;
