//! Small typed numbers, so that a tick is never taken for a nanosecond or a row for a thread.

use bincode::{Decode, Encode};

/// A row of [`Nodes`](crate::snapshot::Nodes): unique within one snapshot, parents before children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct NodeId(pub u32);

/// An index into [`Snapshot::sites`](crate::Snapshot::sites).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct SiteId(pub u32);

/// An index into [`Snapshot::threads`](crate::Snapshot::threads).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct ThreadId(pub u32);

/// What stands in a parent column where there is no parent.
pub const NO_PARENT: u32 = u32::MAX;

impl NodeId {
    /// The row as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl SiteId {
    /// The site as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ThreadId {
    /// The thread as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
