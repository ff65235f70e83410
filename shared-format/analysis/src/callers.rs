//! The callers and callees of one function, computed as in gprof. However, gprof estimates times from call counts, whereas here
//! the time of each path was measured.
//!
//! - The callers' times add up to the function's total. Each caller's time includes only outermost calls of the function.
//! - The function's self time and the callees' times add up to the function's total. A recursive call counts like any other
//!   call: its own time is part of the function's self time, and the functions that it calls are callees. The callee that led to
//!   the recursive call is not charged for it.

use std::collections::HashMap;

use crate::call_tree::{CallTree, Figures, both_tallies};
use crate::functions::FunctionId;
use crate::transform;
use crate::uncertainty::Uncertainty;

/// A function with its callers and callees.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours {
    /// The function.
    pub function: FunctionId,
    /// Number of calls that are not nested inside another call of the function.
    pub outermost_calls: u64,
    /// Figures of the function. `total` times and `open` do not count recursive calls twice.
    pub figures: Figures,
    /// The uncertainty of the function's times, or `None` if they are exact.
    pub uncertainty: Option<Uncertainty>,
    /// Whether the function calls itself, directly or through others.
    pub recursive: bool,
    /// Callers other than the function itself, in the order of their first call.
    pub callers: Vec<Link>,
    /// Callees other than the function itself, in the order of their first call.
    pub callees: Vec<Link>,
}

/// All calls from one function to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The caller or callee; `None` if the function was called from the top of a thread.
    pub function: Option<FunctionId>,
    /// Calls from the caller to the callee, including recursive ones.
    pub all_calls: u64,
    /// Number of calls to the callee from all its callers.
    pub of_calls: u64,
    /// For a caller: the figures of its outermost calls to the function. For a callee: the figures of all calls that the
    /// function made to it. The total is the time that the callee spent on behalf of the caller.
    pub figures: Figures,
    /// The uncertainty of the link's total, or `None` if it is exact.
    pub uncertainty: Option<Uncertainty>,
    /// Whether the caller and the callee call each other, directly or through others.
    pub in_cycle: bool,
}

/// The part of the function's total to which the self time of a row belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// None: the row is not below the function.
    Outside,
    /// The function's own self time.
    Own,
    /// The total of the callee at this index.
    Callee(usize),
}

impl Neighbours {
    /// Returns the number of calls that are nested inside another call of the function.
    pub fn recursive_calls(&self) -> u64 {
        self.figures.calls.saturating_sub(self.outermost_calls)
    }

    /// Finds the callers and callees of a function. Returns `None` if the tree has no call of the function.
    pub fn of(tree: &CallTree, function: FunctionId) -> Option<Self> {
        let mut calls_of = vec![0u64; tree.functions.list.len()];
        let mut own = Self::nothing(function);
        let (mut callers, mut callees) = (Links::default(), Links::default());
        let mut places = vec![Place::Outside; tree.rows.len()];
        let mut found = false;
        let mut uncertainty = Uncertainty::default();
        for (index, row) in tree.rows.iter().enumerate() {
            calls_of[row.function.index()] = calls_of[row.function.index()].saturating_add(row.calls);
            let above = row
                .parent
                .map_or(Place::Outside, |parent| places[parent as usize]);
            let row_spread = tree.merged_uncertainty(index as u32).unwrap_or_default();
            if row.function == function {
                found = true;
                places[index] = Place::Own;
                own.figures.add_calls(row, above == Place::Outside);
                own.figures.add_self(row);
                uncertainty.add_self(&row_spread);
                let caller = tree.caller_of(row);
                if above == Place::Outside {
                    own.outermost_calls = own.outermost_calls.saturating_add(row.calls);
                    own.figures.add_total(row);
                    own.figures.add_open(row);
                    uncertainty.add_total(&row_spread);
                    let link = callers.link(caller);
                    link.all_calls = link.all_calls.saturating_add(row.calls);
                    link.figures.add_calls(row, true);
                    link.figures.add_total(row);
                    link.figures.add_open(row);
                    link.uncertainty.get_or_insert_default().add_total(&row_spread);
                } else {
                    own.recursive = true;
                    if let Place::Callee(place) = above {
                        let link = callers.link(caller);
                        link.all_calls = link.all_calls.saturating_add(row.calls);
                        link.figures.tally = both_tallies(link.figures.tally, row.tally);
                        // The recursive call is subtracted from the callee's total. The errors of both times contribute to the
                        // error of the difference.
                        let link = &mut callees.list[place];
                        link.uncertainty.get_or_insert_default().add_total(&row_spread);
                    }
                }
                continue;
            }
            places[index] = match above {
                Place::Own => {
                    let place = callees.place(Some(row.function));
                    let link = &mut callees.list[place];
                    link.all_calls = link.all_calls.saturating_add(row.calls);
                    link.figures.add_calls(row, true);
                    link.figures.add_open(row);
                    link.uncertainty.get_or_insert_default().add_total(&row_spread);
                    Place::Callee(place)
                }
                Place::Outside | Place::Callee(_) => above,
            };
            if let Place::Callee(place) = places[index] {
                let link = &mut callees.list[place];
                link.figures.add_total(&row.with_self_as_total());
            }
        }
        if !found {
            return None;
        }
        let cycles = cycles(tree);
        let finish = |mut link: Link, called: Option<FunctionId>| {
            link.of_calls = called.map_or(0, |called| calls_of[called.index()]);
            link.uncertainty = link.uncertainty.and_then(Uncertainty::if_estimated);
            link.in_cycle = link
                .function
                .is_some_and(|other| cycles[other.index()] == cycles[function.index()]);
            link
        };
        own.uncertainty = uncertainty.if_estimated();
        let all = callers.list.into_iter();
        own.callers = all.map(|link| finish(link, Some(function))).collect();
        own.callees = callees
            .list
            .into_iter()
            .map(|link| {
                let called = link.function;
                finish(link, called)
            })
            .collect();
        Some(own)
    }

    fn nothing(function: FunctionId) -> Self {
        Self {
            function,
            outermost_calls: 0,
            figures: Figures::nothing(),
            uncertainty: None,
            recursive: false,
            callers: Vec::new(),
            callees: Vec::new(),
        }
    }
}

/// Links in the order of their first call, with an index by the function at the other end.
#[derive(Default)]
struct Links {
    list: Vec<Link>,
    known: HashMap<Option<FunctionId>, usize>,
}

impl Links {
    fn place(&mut self, function: Option<FunctionId>) -> usize {
        let list = &mut self.list;
        *self.known.entry(function).or_insert_with(|| {
            list.push(Link {
                function,
                all_calls: 0,
                of_calls: 0,
                figures: Figures::nothing(),
                uncertainty: None,
                in_cycle: false,
            });
            list.len() - 1
        })
    }

    fn link(&mut self, function: Option<FunctionId>) -> &mut Link {
        let place = self.place(function);
        &mut self.list[place]
    }
}

/// Returns, for each function, the representative of its cycle of mutual recursion. If a function appears twice on a path, it
/// forms a cycle with all functions in between. A function that is in no cycle represents itself.
fn cycles(tree: &CallTree) -> Vec<FunctionId> {
    let mut leader: Vec<u32> = (0..tree.functions.list.len() as u32).collect();
    let find = |leader: &mut [u32], mut at: u32| {
        while leader[at as usize] != at {
            leader[at as usize] = leader[leader[at as usize] as usize];
            at = leader[at as usize];
        }
        at
    };
    let outermost = transform::outermost(tree);
    for (index, row) in tree.rows.iter().enumerate() {
        let mut at = row.parent;
        while let Some(above) = at.filter(|_| !outermost[index]) {
            let above = &tree.rows[above as usize];
            if above.function == row.function {
                break;
            }
            let a = find(&mut leader, above.function.0);
            let b = find(&mut leader, row.function.0);
            leader[a.max(b) as usize] = a.min(b);
            at = above.parent;
        }
    }
    (0..leader.len() as u32)
        .map(|function| FunctionId(find(&mut leader, function)))
        .collect()
}

#[cfg(test)]
mod tests;
