//! Changes between two builds, by function and by path.
//!
//! Each side may have several runs. A time of a side is then the median of its runs. The number of calls is exact if all runs of
//! a side agree (see [`Change::calls_exact`]), otherwise it is a median as well.
//!
//! Numbers may be given per call of a scope (a frame, a request), so that runs of different length can be compared. Each run's
//! numbers are then divided by its own calls of that scope. A row that is never inside the scope and that all runs call equally
//! often (a set-up, `main`) does not depend on the scope. Its numbers stay per run.

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
    /// Measure that `self_ns` and `total_ns` have.
    pub measure: Measure,
    /// Before and after: the divisor of each run, which is its number of calls of the scope, or 1 if numbers are per run.
    pub per_calls: (Vec<u64>, Vec<u64>),
    merged: Merged,
}

/// A run whose numbers cannot be divided by the calls of the requested scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffError {
    /// Whether the run belongs to the side after.
    pub is_after: bool,
    /// Index of the run within its side.
    pub run: usize,
    /// What is wrong with the run.
    pub why: String,
}

impl Diff {
    /// Compares the times of the runs before with those of the runs after, per call of the scope `per` if one is given.
    ///
    /// # Errors
    /// The first run in which `per` is missing or was not called.
    pub fn of(before: &[Snapshot], after: &[Snapshot], per: Option<&str>) -> Result<Self, DiffError> {
        Self::by(Measure::Time, before, after, per)
    }

    /// Compares like [`of`](Self::of), by another measure. Every measure has the same rows in the same order.
    ///
    /// # Errors
    /// The first run in which `per` is missing or was not called.
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

    /// Returns how many runs were given before and after.
    pub fn runs(&self) -> (usize, usize) {
        (self.per_calls.0.len(), self.per_calls.1.len())
    }

    /// Returns one value of a function in each run before, and in each run after.
    ///
    /// # Panics
    /// If `function` is not one of [`functions`](Self::functions).
    pub fn in_runs(&self, function: FunctionId, what: Quantity) -> (Vec<f64>, Vec<f64>) {
        self.merged.in_runs(function.index(), what)
    }

    /// Returns certain bounds of a function's latency: the highest possible value in each run before, and the lowest possible
    /// value in each run after. A percentile lies somewhere in a bucket of a histogram, so a change to the next bucket proves no
    /// growth. Runs that have no latencies of the function are left out.
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

    /// Returns one value of the whole program in each run before, and in each run after.
    pub fn whole_in_runs(&self, what: Quantity) -> (Vec<f64>, Vec<f64>) {
        self.merged.whole_in_runs(what)
    }

    /// Returns whether a function is worth showing: it is new or gone, its calls have changed, or a time has changed by at least
    /// `least_ns` nanoseconds. A time change does not count if there are enough runs to show that it may be chance.
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

    /// Returns whether both sides have enough runs to tell a change of times from chance.
    pub fn can_tell_noise(&self) -> bool {
        let (before, after) = self.runs();
        before.min(after) >= RUNS
    }

    /// Returns the value that is 100 % for shares: the larger of the two sides' totals in scopes, in nanoseconds for times.
    pub fn measured_ns(&self) -> f64 {
        self.whole.before.total_ns.max(self.whole.after.total_ns)
    }
}

/// Returns whether chance alone may explain the difference of the two sides, at 5 % for both directions together. With too few
/// runs to tell, the result is false.
fn is_noise((before, after): &(Vec<f64>, Vec<f64>)) -> bool {
    let least = chance_of_greater(before, after).min(chance_of_greater(after, before));
    before.len().min(after.len()) >= RUNS && least > LEVEL / 2.0
}
