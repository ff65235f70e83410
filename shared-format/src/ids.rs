//! Newtypes for indices, so that the compiler rejects a row where a thread is expected.

use bincode::{Decode, Encode};

/// A row of [`Nodes`](crate::snapshot::Nodes). It identifies a node within one snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct NodeId(pub u32);

/// An index into [`Snapshot::sites`](crate::Snapshot::sites).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct SiteId(pub u32);

/// An index into [`Snapshot::threads`](crate::Snapshot::threads).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct ThreadId(pub u32);

/// Value in the parent column of a row that has no parent.
pub const NO_PARENT: u32 = u32::MAX;

impl NodeId {
    /// Returns the row as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl SiteId {
    /// Returns the site as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ThreadId {
    /// Returns the thread as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
