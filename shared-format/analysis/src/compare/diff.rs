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

use crate::compare::gate::{LEVEL, RUNS};
use crate::compare::rank::chance_of_greater;
use crate::functions::{FunctionId, Functions};
use crate::per_call::{self, PerError};
use tickscope_format::snapshot::Snapshot;

use merged::Merged;

/// What was counted and measured of a row in one run, or the medians of several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Values {
    /// Calls.
    pub calls: f64,
    /// Nanoseconds in itself.
    pub self_ns: f64,
    /// Nanoseconds in itself and all below; of a function in its outermost calls.
    pub total_ns: f64,
    /// What it has added up, where it is a counter.
    pub sum: f64,
}

/// One of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Calls.
    Calls,
    /// Time in itself and all below.
    Total,
    /// Time in itself.
    SelfTime,
    /// What a counter has added up.
    Sum,
}

/// On which side a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// On both, or on neither.
    Both,
    /// In no run before.
    New,
    /// In no run after.
    Gone,
}

/// A row of both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Medians of the runs before.
    pub before: Values,
    /// Medians of the runs after.
    pub after: Values,
    /// On which side it is.
    pub presence: Presence,
    /// Whether it is a counter wherever it is: it has a sum and no time.
    pub is_counter: bool,
    /// Whether its calls are exact: the same in all runs of a side, on both.
    pub calls_exact: bool,
    /// Whether a self time of it is an estimate.
    pub self_estimated: bool,
    /// Whether a total time of it is an estimate.
    pub total_estimated: bool,
    /// Whether its calls are per run though the others are per call of a scope.
    pub calls_per_run: bool,
    /// The same of its times.
    pub times_per_run: bool,
    /// Whether it calls the scope that numbers are per call of, which runs do not call equally often: its time has that
    /// outside of the scope as well, and does not compare.
    pub around_scope: bool,
}

/// A row of the merged call tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathRow {
    /// The row above; parents come before children.
    pub parent: Option<u32>,
    /// 0 at the top.
    pub depth: u32,
    /// Its function.
    pub function: FunctionId,
    /// Its numbers.
    pub change: Change,
}

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

// === impl Values ===

impl Values {
    /// One of them.
    pub fn get(&self, what: What) -> f64 {
        match what {
            What::Calls => self.calls,
            What::Total => self.total_ns,
            What::SelfTime => self.self_ns,
            What::Sum => self.sum,
        }
    }

    /// Whether anything was counted or measured.
    pub fn is_something(&self) -> bool {
        *self != Self::default()
    }
}

// === impl Change ===

impl Change {
    /// After less before.
    pub fn of(&self, what: What) -> f64 {
        self.after.get(what) - self.before.get(what)
    }

    /// What its three numbers are: a counter has a sum and no time in itself.
    pub fn columns(&self) -> [What; 3] {
        let total = if self.is_counter { What::Sum } else { What::Total };
        [What::Calls, total, What::SelfTime]
    }

    /// Whether a reader wants to see it: its calls or its sum have changed, it is new or gone, or a time of it has changed by at
    /// least so many nanoseconds, and that is not noise.
    fn is_worth(&self, least_ns: f64, is_noise: impl Fn(What) -> bool) -> bool {
        let of_time = |what: What| {
            let change = self.of(what).abs();
            change > 0.0 && change >= least_ns && !is_noise(what)
        };
        self.presence != Presence::Both
            || self.of(What::Calls) != 0.0
            || self.of(What::Sum) != 0.0
            || of_time(What::Total)
            || of_time(What::SelfTime)
    }
}

// === impl Diff ===

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

/// The middle of some values, the mean of the two in the middle of an even number; 0 of none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}
