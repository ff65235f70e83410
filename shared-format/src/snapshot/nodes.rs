//! The call trees of all threads, as columns.

use bincode::{Decode, Encode};

use crate::ids::{NO_PARENT, NodeId, SiteId};

/// The number of clock errors of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct NodeErrors {
    /// Row of the node.
    pub node: NodeId,
    /// Number of gaps between events that should have been charged to this node, but were not charged to any.
    pub count: u64,
}

/// The call trees as columns of equal length, parents before children.
// An encoded snapshot contains the columns in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Nodes {
    /// Row of the parent, or [`NO_PARENT`] at the top of a thread.
    pub parent: Vec<u32>,
    /// Index of the site.
    pub site: Vec<u32>,
    /// Calls begun since the reset.
    pub calls: Vec<u64>,
    /// Ticks spent in the node itself since the reset.
    pub self_ticks: Vec<u64>,
}

impl Nodes {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.parent.len()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.parent.is_empty()
    }

    /// Adds a row and returns its id.
    pub fn push(&mut self, parent: Option<NodeId>, site: SiteId, calls: u64, self_ticks: u64) -> NodeId {
        let id = NodeId(self.parent.len() as u32);
        self.parent.push(parent.map_or(NO_PARENT, |p| p.0));
        self.site.push(site.0);
        self.calls.push(calls);
        self.self_ticks.push(self_ticks);
        id
    }

    /// Reserves memory for `rows` additional rows.
    pub fn reserve(&mut self, rows: usize) {
        self.parent.reserve(rows);
        self.site.reserve(rows);
        self.calls.reserve(rows);
        self.self_ticks.reserve(rows);
    }

    /// Returns the parent of a row, or `None` at the top of a thread.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn parent_of(&self, node: NodeId) -> Option<NodeId> {
        match self.parent[node.index()] {
            NO_PARENT => None,
            row => Some(NodeId(row)),
        }
    }

    /// Returns, for each row, whether there are rows below it.
    pub fn has_rows_below(&self) -> Vec<bool> {
        let mut has = vec![false; self.len()];
        for &parent in self.parent.iter().filter(|&&parent| parent != NO_PARENT) {
            has[parent as usize] = true;
        }
        has
    }

    /// Returns the total of each row, which is the sum of `self_values` over its subtree. The sums saturate.
    pub fn totals(&self, self_values: &[u64]) -> Vec<u64> {
        let mut totals = self_values.to_vec();
        for row in (0..totals.len()).rev() {
            if self.parent[row] != NO_PARENT {
                let parent = self.parent[row] as usize;
                totals[parent] = totals[parent].saturating_add(totals[row]);
            }
        }
        totals
    }
}

/// Returns the sum of the numbers. If the sum does not fit into 64 bits, which a hostile file may cause, returns
/// `u64::MAX`.
pub fn saturating_sum(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0, u64::saturating_add)
}
