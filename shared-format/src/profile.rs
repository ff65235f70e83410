//! Facts derived from a snapshot, each one table: nothing here is stored in the file.
//!
//! ```text
//! Snapshot -> functions -> tree (threads merged by path) -> hot (per function)
//! ```

pub mod functions;
pub mod hot;
pub mod tree;
