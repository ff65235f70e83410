//! Changes between two builds, by function and by path.
//!
//! Each side may have several runs; its times are then their medians. A count is exact if all runs of a side agree (see
//! `calls_exact`), otherwise it is a median as well.
//!
//! Numbers may be per call of a scope (a frame, a request), so that runs of different length can be compared. Each run
//! is then divided by its own calls of that scope. A row that is never inside the scope, and that all runs call equally
//! often (a set-up, `main`), does not depend on the scope: it stays per run.

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
    /// The functions of all runs.
    pub functions: Functions,
    /// Changes by function.
    pub by_function: Vec<Change>,
    /// Changes by path, threads merged; parents before children.
    pub paths: Vec<PathRow>,
    /// Change of all calls, and of all time in scopes.
    pub whole: Change,
    /// Measure of self and total values.
    pub measure: Measure,
    /// Calls of the scope by which the numbers are divided, in each run; 1 if numbers are per run.
    pub per_calls: (Vec<u64>, Vec<u64>),
    merged: Merged,
}

/// A run whose numbers cannot be divided by the calls of the requested scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffError {
    /// Whether the run is on the side after.
    pub is_after: bool,
    /// Index of the run on its side.
    pub run: usize,
    /// Reason for the error.
    pub why: String,
}

impl Diff {
    /// Compares the times of runs before with the times of runs after, per call of `per` if given.
    ///
    /// # Errors
    /// The first run in which that scope is missing or was not called.
    pub fn of(before: &[Snapshot], after: &[Snapshot], per: Option<&str>) -> Result<Self, DiffError> {
        Self::by(Measure::Time, before, after, per)
    }

    /// Compares like [`of`](Self::of), by another measure. The rows are the same, in the same order, by every measure.
    ///
    /// # Errors
    /// The first run in which that scope is missing or was not called.
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

    /// Returns the number of runs before and after.
    pub fn runs(&self) -> (usize, usize) {
        (self.per_calls.0.len(), self.per_calls.1.len())
    }

    /// Returns a value of a function in each run before and in each run after.
    ///
    /// # Panics
    /// If `function` is not one of [`functions`](Self::functions).
    pub fn in_runs(&self, function: FunctionId, what: Quantity) -> (Vec<f64>, Vec<f64>) {
        self.merged.in_runs(function.index(), what)
    }

    /// Returns the certain bounds of a latency of a function: its maximum in each run before, and its minimum in each run after.
    /// Percentiles lie somewhere in a bucket of a histogram, so a change from one bucket to the next proves no growth. Runs
    /// without latencies of the function are left out.
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

    /// Returns a value of the whole program in each run before and in each run after.
    pub fn whole_in_runs(&self, what: Quantity) -> (Vec<f64>, Vec<f64>) {
        self.merged.whole_in_runs(what)
    }

    /// Returns whether a function is worth showing: its calls have changed, or it is new or gone. A time change of at
    /// least `least_ns` nanoseconds also counts, unless enough runs tell that it is chance.
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

    /// Returns whether there are enough runs to tell a change of times from chance.
    pub fn can_tell_noise(&self) -> bool {
        let (before, after) = self.runs();
        before.min(after) >= RUNS
    }

    /// Returns the larger of the two sides' totals in scopes, times in nanoseconds. Shares are of this number.
    pub fn measured_ns(&self) -> f64 {
        self.whole.before.total_ns.max(self.whole.after.total_ns)
    }
}

/// Returns whether the runs of two sides may differ by chance alone, at 5 % in either direction; false if there are too
/// few runs to tell.
fn is_noise((before, after): &(Vec<f64>, Vec<f64>)) -> bool {
    let least = chance_of_greater(before, after).min(chance_of_greater(after, before));
    before.len().min(after.len()) >= RUNS && least > LEVEL / 2.0
}
