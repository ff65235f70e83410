//! Facts derived from a snapshot, each one table: nothing here is stored in the file.
//!
//! ```text
//! Snapshot -> sites
//!          -> functions, spread -> tree (threads merged by path) -> hot (per function)
//!          -> compensate -> Snapshot
//! two of them -> between -> Snapshot
//!             -> align -> two Snapshots with the same rows
//! ```

pub mod align;
pub mod between;
pub mod compensate;
pub mod functions;
pub mod hot;
pub mod sites;
pub mod spread;
pub mod tree;

#[cfg(test)]
mod pairs_of_snapshots;
