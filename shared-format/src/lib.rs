//! What tickscope's collector and viewer agree on.

#![warn(missing_docs)]

pub mod archive;
mod checksum;
pub mod codec;
mod error;
pub mod file;
#[cfg(test)]
mod fixture;
pub mod ids;
pub mod kept;
pub mod latency;
pub mod layout;
mod map;
#[cfg(test)]
mod model;
pub mod os;
pub mod pattern;
pub mod profile;
pub mod render;
pub mod ring;
pub mod series;
pub mod slots;
pub mod snapshot;
pub mod words;

pub use error::FormatError;
pub use snapshot::Snapshot;
