//! Identifies the row of a memory block or code sample by one number, which stays valid while trees grow.

use std::ops::RangeInclusive;

use crate::enabled::record::node::NODES_MAX;
use crate::enabled::record::tree::Tree;

/// The bits that hold the node's index.
const NODE_BITS: u32 = NODES_MAX.ilog2();

/// The bit that distinguishes a row of finished threads from a node of a tree.
const FINISHED: u64 = 1 << 63;

/// A node of a tree, or a row that finished threads of the same name share. Its number is never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Owner(u64);

impl Owner {
    pub(crate) const FIRST: Self = Self(1);

    /// Returns the owner for a node of a tree.
    pub(crate) fn node(tree: &'static Tree, index: u32) -> Self {
        // Trees are aligned to 64 bytes, and addresses have at most 48 bits, so the address and the index both fit below
        // [`FINISHED`].
        let tree = std::ptr::from_ref(tree).addr() as u64 >> 6;
        Self(tree << NODE_BITS | u64::from(index))
    }

    /// Returns the owner for a row of finished threads. `name` is the number of their name.
    pub(crate) fn finished(name: u32, row: u32) -> Self {
        Self(FINISHED | u64::from(name) << 32 | u64::from(row))
    }

    /// Returns all nodes of a tree.
    pub(crate) fn of_tree(tree: &'static Tree) -> RangeInclusive<Self> {
        Self::node(tree, 0)..=Self::node(tree, NODES_MAX - 1)
    }

    /// Returns all rows of the finished threads whose name has this number.
    pub(crate) fn of_finished(name: u32) -> RangeInclusive<Self> {
        Self::finished(name, 0)..=Self::finished(name, u32::MAX)
    }

    pub(crate) fn number(self) -> u64 {
        self.0
    }

    /// Returns the owner that has this number; `None` for 0.
    pub(crate) fn numbered(number: u64) -> Option<Self> {
        (number != 0).then_some(Self(number))
    }

    /// Returns the index of the node, or of the row.
    pub(crate) fn index(self) -> u32 {
        match self.0 & FINISHED {
            0 => self.0 as u32 & (NODES_MAX - 1),
            _ => self.0 as u32,
        }
    }
}
