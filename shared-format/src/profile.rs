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
//! many of two builds -> diff -> gate, by rank
//! many of them -> sum -> Snapshot
//!              -> across (sums, between) -> Snapshot
//! ```

pub mod across;
pub mod align;
pub mod between;
pub mod compensate;
pub mod diff;
pub mod functions;
pub mod gate;
pub mod graph;
pub mod groups;
pub mod hot;
pub mod inside;
pub mod intervals;
pub mod narrow;
mod parts;
pub mod per;
pub mod rank;
pub mod shape;
pub mod sites;
pub mod spread;
pub mod sum;
pub mod tree;

#[cfg(test)]
mod pairs_of_snapshots;
