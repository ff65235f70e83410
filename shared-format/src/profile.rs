//! Facts derived from a snapshot, each one table: nothing here is stored in the file.
//!
//! ```text
//! Snapshot -> sites
//!          -> functions -> per
//!          -> inside (time in the outermost of some sites, by thread) -> groups
//!          -> functions, spread, parts -> tree (threads merged by path) -> hot (per function)
//!                                                                           -> shape -> tree
//!                                                                           -> graph (callers, callees)
//!          -> compensate, narrow -> Snapshot
//! two of them -> between -> Snapshot
//! as they come -> intervals (what each thread spent inside groups and functions)
//!             -> align -> two Snapshots with the same rows
//! ```

pub mod align;
pub mod between;
pub mod compensate;
pub mod functions;
pub mod graph;
pub mod groups;
pub mod hot;
pub mod inside;
pub mod intervals;
pub mod narrow;
mod parts;
pub mod per;
pub mod shape;
pub mod sites;
pub mod spread;
pub mod tree;

#[cfg(test)]
mod pairs_of_snapshots;
