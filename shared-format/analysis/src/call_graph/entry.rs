//! The entries of a call graph.

use std::ops::AddAssign;

use crate::functions::FunctionId;
use crate::uncertainty::Uncertainty;

/// A time in ticks and in nanoseconds. Both are summed up separately, because each node is rounded once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// In ticks.
    pub ticks: u64,
    /// In nanoseconds.
    pub ns: u64,
}

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A function.
    Function(FunctionId),
    /// The functions of this cycle, by its number, as if they were one.
    Cycle(u32),
}

/// A function or a cycle, with its callers and callees.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Which.
    pub subject: Subject,
    /// Its calls that are not inside another call of it.
    pub outermost_calls: u64,
    /// Its calls inside another call of it.
    pub recursive_calls: u64,
    /// Time in itself.
    pub own: Amount,
    /// Time in its outermost calls and all below.
    pub total: Amount,
    /// The uncertainty of its times, or none if they are exact.
    pub uncertainty: Option<Uncertainty>,
    /// Who calls it, in the order first met; a function itself is not among them, nor are members among those of their
    /// cycle.
    pub callers: Vec<Edge>,
    /// What it calls, in the order first met, without itself; of a cycle its members, with what they call outside of
    /// it.
    pub callees: Vec<Edge>,
}

/// The calls between two functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The other function, or none if the calls stand at the top of a thread.
    pub function: Option<FunctionId>,
    /// Calls from the one to the other; of a cycle's member those from within.
    pub calls: u64,
    /// All calls of whom is called.
    pub of_calls: u64,
    /// Time in whom is called, without what that calls, on behalf of the caller.
    pub own: Amount,
    /// The same with what that calls.
    pub total: Amount,
}

impl Amount {
    /// Subtracts a part of it.
    pub fn without(self, part: Self) -> Self {
        Self {
            ticks: self.ticks.wrapping_sub(part.ticks),
            ns: self.ns.wrapping_sub(part.ns),
        }
    }
}

impl AddAssign for Amount {
    /// Wraps around: a part may be subtracted before the whole was added, and the final sum is right.
    fn add_assign(&mut self, other: Self) {
        self.ticks = self.ticks.wrapping_add(other.ticks);
        self.ns = self.ns.wrapping_add(other.ns);
    }
}

impl Edge {
    pub(super) fn new(function: Option<FunctionId>) -> Self {
        Self {
            function,
            calls: 0,
            of_calls: 0,
            own: Amount::default(),
            total: Amount::default(),
        }
    }
}
