//! Facts derived from a snapshot, each one table: nothing here is stored in the file.
//!
//! ```text
//! Snapshot -> sites
//!          -> functions, spread -> tree (threads merged by path) -> hot (per function)
//!          -> compensate, narrow -> Snapshot
//! ```

pub mod compensate;
pub mod functions;
pub mod hot;
pub mod narrow;
pub mod sites;
pub mod spread;
pub mod tree;
