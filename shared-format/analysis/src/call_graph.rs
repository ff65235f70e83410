//! The call graph of a whole tree, as gprof draws it: every function between those that call it and those that it
//! calls, and every cycle of mutual recursion as a whole. The numbers are those of [`Neighbours`], found for all
//! functions in one walk.
//!
//! Callers' times add up to an entry's total; so do an entry's self time and its callees' times.
//!
//! [`Neighbours`]: crate::callers::Neighbours

mod entry;
mod walk;

use self::walk::Walk;
use crate::call_tree::CallTree;

pub use self::entry::{Amount, Entry, Line, Subject};

/// All entries of a tree, functions in the order of their ids, cycles behind them.
#[derive(Clone, Debug, Default)]
pub struct CallGraph {
    /// The entries; functions without a call have none.
    pub entries: Vec<Entry>,
    /// By function, the number of its cycle, from 1; 0 where it is in none.
    pub cycle_of: Vec<u32>,
}

impl CallGraph {
    /// That of a tree.
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
