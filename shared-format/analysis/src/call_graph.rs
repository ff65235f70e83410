//! The call graph of a whole tree, as gprof shows it: every function with its callers and callees, and every cycle of
//! mutual recursion as one entry. The numbers equal those of [`Neighbours`], but one walk computes them for all
//! functions.
//!
//! The times of an entry's callers add up to its total; so do its self time and the times of its callees.
//!
//! [`Neighbours`]: crate::callers::Neighbours

mod entry;
mod walk;

use self::walk::Walk;
use crate::call_tree::CallTree;

pub use self::entry::{Amount, Edge, Entry, Subject};

/// The call graph of a tree.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    /// The functions in the order of their ids, then the cycles. Functions without a call have no entry.
    pub entries: Vec<Entry>,
    /// The number of each function's cycle, from 1; 0 if it is in none.
    pub cycle_of: Vec<u32>,
}

impl CallGraph {
    /// Computes the call graph of a tree.
    pub fn of(tree: &CallTree) -> Self {
        let mut walk = Walk::of(tree);
        // A stack of our own: trees may be deep.
        let mut stack: Vec<Option<u32>> = tree.top().iter().rev().map(|&row| Some(row)).collect();
        while let Some(row) = stack.pop() {
            let Some(row) = row else {
                walk.leave();
                continue;
            };
            walk.enter(row);
            stack.push(None);
            stack.extend(tree.children(row).iter().rev().map(|&child| Some(child)));
        }
        let (entries, cycle_of) = walk.finish();
        Self { entries, cycle_of }
    }
}

#[cfg(test)]
mod tests;
