//! What has changed between two builds: the runs before and the runs after, side by side, per function and per path.
//!
//! Each side may be several runs; then times are their medians. Counts are exact where all runs of a side agree, which
//! is said; else they are medians as well.
//!
//! Numbers may be per call of a scope (a frame, a request), so that runs of different length compare. A run is then
//! divided by its own calls of that scope. What no run calls inside of the scope, and all runs as often, is not
//! something that happens per call of it (a set-up, `main`): it stays per run.

mod merged;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::fmt;

use tickscope_format::snapshot::Snapshot;

use self::merged::Merged;
use crate::compare::rank::{LEVEL, RUNS, chance_of_greater};
use crate::functions::{FunctionId, Functions};
use crate::per_call::{self, PerError};

pub use crate::compare::change::{Change, PathRow, Presence, Values, What};

/// Both sides.
#[derive(Clone, Debug)]
pub struct Diff {
    /// The functions of all runs.
    pub functions: Functions,
    /// By function.
    pub by_function: Vec<Change>,
    /// By path, threads merged; parents before children.
    pub paths: Vec<PathRow>,
    /// All calls, and all time in scopes.
    pub whole: Change,
    /// Calls of the scope that numbers are per call of, in each run; 1 where they are per run.
    pub per_calls: (Vec<u64>, Vec<u64>),
    merged: Merged,
}

/// A run in which the scope that numbers are per call of cannot be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoScope {
    /// Whether it is a run after.
    pub is_after: bool,
    /// Which one of its side.
    pub run: usize,
    /// Why.
    pub why: PerError,
}

impl fmt::Display for NoScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl Error for NoScope {}

impl Diff {
    /// Compares runs before with runs after, per call of `per` where that is given.
    ///
    /// # Errors
    /// The first run in which that scope is not found, or was not called.
    pub fn of(before: &[Snapshot], after: &[Snapshot], per: Option<&str>) -> Result<Self, NoScope> {
        let calls_of = |runs: &[Snapshot], is_after| {
            let calls = runs.iter().enumerate().map(|(run, snapshot)| match per {
                None => Ok(1),
                Some(name) => {
                    per_call::calls_of(snapshot, name).map_err(|why| NoScope { is_after, run, why })
                }
            });
            calls.collect::<Result<Vec<u64>, NoScope>>()
        };
        let per_calls = (calls_of(before, false)?, calls_of(after, true)?);
        let mut merged = Merged::default();
        for snapshot in before {
            merged.add(snapshot, false);
        }
        for snapshot in after {
            merged.add(snapshot, true);
        }
        if let Some(name) = per {
            merged.divide(&per_calls, name);
        }
        Ok(Self {
            by_function: merged.function_changes(),
            paths: merged.path_changes(),
            whole: merged.whole_change(),
            functions: merged.functions.clone(),
            per_calls,
            merged,
        })
    }

    /// How many runs each side has.
    pub fn runs(&self) -> (usize, usize) {
        (self.per_calls.0.len(), self.per_calls.1.len())
    }

    /// A value of a function in each run before and each run after.
    pub fn in_runs(&self, function: FunctionId, what: What) -> (Vec<f64>, Vec<f64>) {
        self.merged.in_runs(function.index(), what)
    }

    /// A value of the whole program in each run before and each run after.
    pub fn whole_in_runs(&self, what: What) -> (Vec<f64>, Vec<f64>) {
        self.merged.whole_in_runs(what)
    }

    /// Whether a reader wants to see a function: its calls have changed, it is new or gone, or a time of it has changed
    /// by at least so many nanoseconds and, where there are runs enough to tell, not by chance.
    pub fn is_function_worth(&self, function: FunctionId, least_ns: f64) -> bool {
        let in_runs = |what| self.in_runs(function, what);
        self.by_function[function.index()].is_worth(least_ns, |what| is_noise(&in_runs(what)))
    }

    /// The same of a path.
    pub fn is_path_worth(&self, path: usize, least_ns: f64) -> bool {
        let in_runs = |what| self.merged.path_in_runs(path, what);
        self.paths[path]
            .change
            .is_worth(least_ns, |what| is_noise(&in_runs(what)))
    }

    /// Whether there are runs enough to tell a change of times from chance.
    pub fn can_tell_noise(&self) -> bool {
        let (before, after) = self.runs();
        before.min(after) >= RUNS
    }

    /// The greater of the two sides' time in scopes: what shares are of.
    pub fn measured_ns(&self) -> f64 {
        self.whole.before.total_ns.max(self.whole.after.total_ns)
    }
}

/// Whether the runs of two sides may differ by chance alone: at 5 %, in either direction. Few runs cannot tell.
fn is_noise((before, after): &(Vec<f64>, Vec<f64>)) -> bool {
    let least = chance_of_greater(before, after).min(chance_of_greater(after, before));
    before.len().min(after.len()) >= RUNS && least > LEVEL / 2.0
}
