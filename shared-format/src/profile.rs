//! Facts derived from a snapshot, each one table: nothing here is stored in the file.
//!
//! ```text
//! Snapshot -> sites
//!          -> functions -> per
//!          -> inside (time in the outermost of some sites, by thread) -> groups
//!          -> functions, spread, parts -> tree (threads merged by path) -> hot (per function)
//!                                                                           -> shape -> tree
//!                                                                           -> graph (callers, callees) -> call_graph
//!          -> compensate, narrow, in_focus -> Snapshot
//! two of a run -> between -> Snapshot
//! many of a run -> sum -> Snapshot
//!               -> across (sums, between) -> Snapshot
//! those of a run as they come -> intervals (what each thread spent inside groups and functions)
//! two of any runs -> align -> two Snapshots with the same rows
//! many of two builds -> diff -> gate (by rank)
//! ```

pub mod across;
pub mod align;
pub mod between;
pub mod call_graph;
pub mod compensate;
pub mod diff;
pub mod functions;
pub mod gate;
pub mod graph;
pub mod groups;
pub mod hot;
pub mod in_focus;
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
