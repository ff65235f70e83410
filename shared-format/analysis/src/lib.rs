//! Pure functions that derive tables from snapshots. None of these tables is stored in a file.
//!
//! The diagram shows what each module computes, and in parentheses what its tables contain or which other modules it uses:
//!
//! ```text
//! Snapshot -> sites
//!          -> waits_in (the system calls in which threads wait)
//!          -> slow (why slow calls of watched functions are slow) -> waterfall (one slow call over time)
//!          -> functions -> tasks (calls of futures, arranged by which future awaits which)
//!          -> functions -> names (short names, and the functions that a name may refer to) -> per_call
//!          -> inclusive_time (time in the outermost calls of selected sites, by thread) -> groups
//!          -> functions, uncertainty -> call_tree (threads merged by path) -> hotspots (per function)
//!                                                                          -> transform -> call_tree
//!                                                                          -> callers (and callees)
//!          -> sampled_rows (code; functions that were sampled but not counted) -> Snapshot
//!          -> filter, focus, measure (allocations, bytes or calls in place of time) -> Snapshot
//! two snapshots of a run -> window -> Snapshot
//! many snapshots of a run -> merge -> Snapshot
//!                         -> series (merge, window; counts across resets, undos and lost records) -> Snapshot
//!                         -> series, spent (self time of each thread in each function between two moments)
//! snapshots of a run as they arrive -> intervals (time that each thread spent inside groups and functions)
//! snapshots of any runs -> merge_runs (merge) -> Snapshot
//! snapshots of concurrent processes -> side_by_side (thread_names; merge_runs for ended processes) -> Snapshot
//! a window of a run -> trigger (whether a condition has become true)
//! two snapshots of any runs -> align -> two Snapshots with the same rows
//! snapshots of two builds -> compare/diff -> compare/gate (by rank)
//! ```
//!
//! This prints the self time of each function in a snapshot file, summed over all threads:
//!
//! ```no_run
//! use std::path::Path;
//!
//! use tickscope_analysis::call_tree::CallTree;
//! use tickscope_analysis::hotspots;
//!
//! let snapshot = tickscope_format::snapshot_file::read(Path::new("run.tks"))?;
//! let tree = CallTree::build(&snapshot, |_| true);
//! for row in hotspots::hot(&tree) {
//!     let function = tree.functions.get(row.function);
//!     println!("{} ns in {}: {} calls", row.self_ns, function.full_name(), row.calls);
//! }
//! # Ok::<(), tickscope_format::FormatError>(())
//! ```

#![warn(missing_docs)]

pub mod align;
pub mod call_tree;
pub mod callers;
mod clock_errors;
pub mod code;
pub mod compare;
pub mod filter;
pub mod focus;
pub mod functions;
pub mod groups;
pub mod hotspots;
pub mod inclusive_time;
mod index_map;
pub mod intervals;
mod joined;
pub mod measure;
pub mod merge;
pub mod merge_runs;
pub mod names;
mod parts;
pub mod per_call;
pub mod sampled_rows;
mod sampled_work;
pub mod series;
pub mod side_by_side;
pub mod sites;
pub mod slow;
pub mod spent;
pub mod tasks;
pub mod thread_names;
pub mod transform;
pub mod trigger;
pub mod uncertainty;
pub mod waits_in;
pub mod waterfall;
pub mod window;

#[cfg(test)]
mod tests;
