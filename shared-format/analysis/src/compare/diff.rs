//! Changes between two builds, by function and by path.
//!
//! Each side may have several runs. Its times are then the medians of these runs. The number of calls is exact if all runs of a
//! side agree (see [`Change::calls_exact`]); otherwise it is a median as well.
//!
//! Numbers may be given per call of a scope (such as a frame or a request), so that runs of different lengths can be compared.
//! The numbers of each run are then divided by the number of times that this run called the scope. A row that is never inside
//! the scope, and that all runs call equally often (such as `main` or a set-up), does not depend on the scope, so its numbers
//! stay per run.

mod merged;
#[cfg(test)]
mod tests;

use tickscope_format::snapshot::Snapshot;

use self::merged::Merged;
use crate::compare::rank::{LEVEL, RUNS, chance_of_greater};
use crate::functions::{FunctionId, Functions};
use crate::measure::Measure;
use crate::per_call::calls_of;

pub use crate::compare::change::{Change, PathRow, Presence, Quantity, Values};

/// A comparison of two builds.
#[derive(Clone, Debug)]
pub struct Diff {
    /// The functions that occur in any run.
    pub functions: Functions,
    /// Changes by [`FunctionId`].
    pub by_function: Vec<Change>,
    /// One row for each path, in all threads together; parents before children.
    pub paths: Vec<PathRow>,
    /// The whole program: calls of all scopes, and time in scopes.
    pub whole: Change,
    /// Measure to which `self_ns` and `total_ns` belong.
    pub measure: Measure,
    /// Divisors of the runs before and after the change: how often each run called the scope, or 1 if numbers are per run.
    pub per_calls: (Vec<u64>, Vec<u64>),
    merged: Merged,
}

/// A run whose numbers cannot be divided by the calls of the requested scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffError {
    /// Whether this is a run after the change.
    pub is_after: bool,
    /// Index of the run within its side.
    pub run: usize,
    /// What is wrong with the run.
    pub why: String,
}

impl Diff {
    /// Compares the times of the runs in `before` and `after`. If `per` is given, all numbers are per call of that scope.
    ///
    /// # Errors
    /// An error for the first run in which no scope or more than one scope is called `per`, or in which this scope was never
    /// called.
    pub fn of(before: &[Snapshot], after: &[Snapshot], per: Option<&str>) -> Result<Self, DiffError> {
        Self::by(Measure::Time, before, after, per)
    }

    /// Compares the runs like [`of`](Self::of), but by another measure. The rows and their order are the same for all measures.
    ///
    /// # Errors
    /// The same errors as [`of`](Self::of).
    pub fn by(
        measure: Measure,
        before: &[Snapshot],
        after: &[Snapshot],
        per: Option<&str>,
    ) -> Result<Self, DiffError> {
        let divisors = |runs: &[Snapshot], is_after| {
            let calls = runs.iter().enumerate().map(|(run, snapshot)| match per {
                None => Ok(1),
                Some(name) => calls_of(snapshot, name).map_err(|why| DiffError { is_after, run, why }),
            });
            calls.collect::<Result<Vec<u64>, DiffError>>()
        };
        let per_calls = (divisors(before, false)?, divisors(after, true)?);
        let mut merged = Merged::default();
        for snapshot in before {
            merged.add(&measure.of(snapshot), false);
        }
        for snapshot in after {
            merged.add(&measure.of(snapshot), true);
        }
        if let Some(name) = per {
            merged.divide(&per_calls, name);
        }
        Ok(Self {
            by_function: merged.function_changes(),
            paths: merged.path_changes(),
            whole: merged.whole_change(),
            functions: merged.functions.clone(),
            measure,
            per_calls,
            merged,
        })
    }

    /// Returns the number of runs before the change, and the number of runs after it.
    pub fn runs(&self) -> (usize, usize) {
        (self.per_calls.0.len(), self.per_calls.1.len())
    }

    /// Returns one value of a function in every run, first for the runs before the change, then for those after it.
    ///
    /// # Panics
    /// If `function` is not one of [`functions`](Self::functions).
    pub fn in_runs(&self, function: FunctionId, what: Quantity) -> (Vec<f64>, Vec<f64>) {
        self.merged.in_runs(function.index(), what)
    }

    /// Returns bounds on a function's latency: the highest possible value in each run before the change, and the lowest possible
    /// value in each run after it. A percentile may be anywhere within a bucket of the histogram, so a change to the next bucket
    /// does not prove that it has grown. Runs without latencies of the function are left out.
    ///
    /// # Panics
    /// If `function` is not one of [`functions`](Self::functions).
    pub fn latency_bounds(&self, function: FunctionId, what: Quantity) -> (Vec<f64>, Vec<f64>) {
        self.merged.latency_bounds(function.index(), what)
    }

    /// Returns whether any function has latencies on both sides.
    pub fn has_latencies(&self) -> bool {
        self.by_function.iter().any(Change::has_latencies)
    }

    /// Returns one value of the whole program in every run, first for the runs before the change, then for those after it.
    pub fn whole_in_runs(&self, what: Quantity) -> (Vec<f64>, Vec<f64>) {
        self.merged.whole_in_runs(what)
    }

    /// Returns whether a function is worth showing: it is new or gone, its sum or its number of calls has changed, or a time has
    /// changed by at least `least_ns` nanoseconds. If there are enough runs to tell, changes of time that may be due to chance
    /// are ignored.
    ///
    /// # Panics
    /// If `function` is not one of [`functions`](Self::functions).
    pub fn is_function_worth(&self, function: FunctionId, least_ns: f64) -> bool {
        let in_runs = |what| self.in_runs(function, what);
        self.by_function[function.index()].is_worth(least_ns, |what| is_noise(&in_runs(what)))
    }

    /// Returns whether a path is worth showing, like [`is_function_worth`](Self::is_function_worth).
    ///
    /// # Panics
    /// If `path` is not an index of [`paths`](Self::paths).
    pub fn is_path_worth(&self, path: usize, least_ns: f64) -> bool {
        let in_runs = |what| self.merged.path_in_runs(path, what);
        self.paths[path]
            .change
            .is_worth(least_ns, |what| is_noise(&in_runs(what)))
    }

    /// Returns whether both sides have enough runs to tell a change in time from chance.
    pub fn can_tell_noise(&self) -> bool {
        let (before, after) = self.runs();
        before.min(after) >= RUNS
    }

    /// Returns the value that counts as 100 % when shares are shown. It is the total in scopes of the side where this is larger,
    /// in nanoseconds if the measure is a time.
    pub fn measured_ns(&self) -> f64 {
        self.whole.before.total_ns.max(self.whole.after.total_ns)
    }
}

/// Returns whether chance alone may explain the difference between the two sides. This is a two-sided test at a significance
/// level of 5 %. Returns false if there are too few runs to tell.
fn is_noise((before, after): &(Vec<f64>, Vec<f64>)) -> bool {
    let least = chance_of_greater(before, after).min(chance_of_greater(after, before));
    before.len().min(after.len()) >= RUNS && least > LEVEL / 2.0
}
