//! Facts derived from a snapshot, each one table: nothing here is stored in the file.
//!
//! ```text
//! Snapshot -> sites
//!          -> functions -> per
//!          -> functions, spread, parts -> tree (threads merged by path) -> hot (per function)
//!                                                                           -> shape -> tree
//!                                                                           -> graph (callers, callees)
//!          -> compensate, narrow, in_focus -> Snapshot
//! two of them -> between -> Snapshot
//!             -> align -> two Snapshots with the same rows
//! ```

pub mod align;
pub mod between;
pub mod compensate;
pub mod functions;
pub mod graph;
pub mod hot;
pub mod in_focus;
pub mod narrow;
mod parts;
pub mod per;
pub mod shape;
pub mod sites;
pub mod spread;
pub mod tree;

#[cfg(test)]
mod pairs_of_snapshots;
