//! Gates: conditions under which a comparison fails. With them, CI can accept or reject a change.
//!
//! `calls` is exact. Counts have no noise, so one run per side is enough, and any difference is a change. The growth of a new
//! function exceeds any percentage; a function that is gone has not grown. If the runs of a side disagree on a count (for
//! example because threads share work), that count does have noise. It is then judged by a rank test, like a time, if each side
//! has at least [`RUNS`] runs, and otherwise by its median.
//!
//! While a function is off, its calls are neither counted nor timed. If a function was off on one side only, its calls and
//! latencies cannot be judged. A function that was off on both sides is left out; but if the condition names it, the gate cannot
//! be judged either.
//!
//! Other counts, such as `allocations` and `bytes`, are judged in the same way, but for the whole program as well, and for each
//! function including its callees.
//!
//! `time` (the total), `self`, `working`, `waiting`, `p99` and `max` are judged by a rank test over at least [`RUNS`] runs per
//! side; see [`super::rank`]. Four rules prevent an unchanged program from failing by chance:
//!
//! - The threshold is part of the test. For `time > 10%`, the times of the runs before the change are increased by 10 %, and the
//!   test decides whether the runs after the change are slower even than that. A function that is slower by 2 % does not fail,
//!   even if the difference is certain. An unchanged function fails only if the noise exceeds the threshold.
//! - Only the whole program, functions with at least [`JUDGED_SHARE`] of its time, and functions named by the condition are
//!   judged. Each additional function is another chance of a false alarm, and small functions have the most noise.
//! - `p99`, and `max` unless it is known exactly, may be anywhere within a bucket of a histogram, which is up to 12.5 % wide.
//!   Near the border of two buckets, a negligible change could make the value 12.5 % higher. So the highest possible values
//!   before the change are compared with the lowest possible values after it. The latencies of a function are judged if its time
//!   would be judged and enough runs have latencies.
//! - All judged subjects share one significance level, by Holm's method (Scandinavian Journal of Statistics 6, 1979, 65-70): the
//!   probability of *any* false alarm is at most 5 %, however the times depend on each other. With five runs per side, the
//!   smallest probability that a test can result in is 1 in 252. If more than twelve functions are judged, this is more than
//!   Holm's method allows. In this case, a function fails only if every run after the change is slower than all runs before it
//!   with the threshold added. This is the clearest result possible, but the bound of 5 % is then no longer guaranteed.
//!
//! If a function is new or gone, only one side has times of it, so they are not compared. The time of a new function shows up in
//! its callers and in the whole program. If numbers are per call of a scope, and the runs differ in how often they call it, the
//! whole program and the functions that call the scope are left out, because their time includes the set-up.

mod condition;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::fmt;

use crate::compare::change::{Presence, Quantity};
use crate::compare::diff::Diff;
use crate::compare::rank::{chance_of_greater, least_chance};
use crate::functions::FunctionId;
use crate::measure::Dimension;
use crate::names::named;

pub use self::condition::{Condition, Growth};
pub use crate::compare::rank::{LEVEL, RUNS};

/// Minimum share of the time in scopes that a function must have to be judged by time, unless the condition names the function.
pub const JUDGED_SHARE: f64 = 0.01;

/// A subject that a gate judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The total of the whole program.
    Whole,
    /// One function.
    Function(FunctionId),
}

/// A judged subject whose values exceed the allowed change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure {
    /// The subject that failed.
    pub of: Judged,
    /// Median of its values before the change.
    pub before: f64,
    /// Median of its values after the change.
    pub after: f64,
    /// Probability that chance alone makes a difference at least this large (p-value); `None` if no rank test was made.
    pub chance: Option<f64>,
}

/// Result of judging a comparison by a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The condition of the gate.
    pub condition: Condition,
    /// Number of subjects that were compared with the condition.
    pub judged: usize,
    /// Failures, largest growth first; empty if the gate passed.
    pub failures: Vec<Failure>,
    /// Values of the whole program, even if it passed; `None` if no rank test judged it.
    pub whole: Option<Failure>,
    /// Number of failures in which the runs of a side disagree on a count. They were judged by the rank test, or by their
    /// medians if there were too few runs.
    pub inexact: usize,
}

/// Reason why a gate cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateError {
    /// What is missing or wrong, and what to do.
    pub why: String,
    /// The function name in the condition, if neither side has a function of that name.
    pub unknown: Option<String>,
}

impl fmt::Display for GateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl Error for GateError {}

impl Verdict {
    /// Returns whether nothing failed.
    pub fn is_passed(&self) -> bool {
        self.failures.is_empty()
    }
}

/// Judges a comparison by a condition. Unless the condition is about calls, the comparison must have been made by the measure of
/// the condition.
///
/// # Errors
/// An error if there are too few runs or latencies, or if a function does not exist or was off. In this case, the gate must not
/// count as passed.
pub fn judge(diff: &Diff, condition: &Condition) -> Result<Verdict, GateError> {
    let asked = match &condition.function {
        None => None,
        Some(name) => match named(&diff.functions, name) {
            none if none.is_empty() => {
                return Err(GateError {
                    why: format!(
                        "{condition}: no function or scope is called {name} before or after; the table without --fail-if shows all"
                    ),
                    unknown: Some(name.clone()),
                });
            }
            some => Some(some),
        },
    };
    if condition.what == Quantity::Calls || condition.what.is_latency() {
        let comparable = |id: FunctionId| {
            let change = &diff.by_function[id.index()];
            // A function that was off on both sides is left out unless the condition names it.
            change.off[0] == change.off[1] && (asked.is_none() || !change.off[0])
        };
        let mut judged = asked.clone().unwrap_or_else(|| ids(diff).collect()).into_iter();
        if let Some(off) = judged.find(|&id| !comparable(id)) {
            let name = diff.functions.get(off).full_name();
            let side = match diff.by_function[off.index()].off {
                [true, true] => "on both sides",
                [true, false] => "before",
                [false, _] => "after",
            };
            return Err(cannot_be_judged(format!(
                "{condition}: {name} was off {side}, so not all of its calls were counted; record both sides with --budget off or --only"
            )));
        }
    }
    let mut verdict = match condition.measure.dimension() {
        Dimension::Count | Dimension::Bytes => judge_counts(diff, condition, asked),
        Dimension::Time => judge_times(diff, condition, asked)?,
    };
    let grown = |failure: &Failure| failure.after - failure.before;
    verdict.failures.sort_by(|a, b| grown(b).total_cmp(&grown(a)));
    Ok(verdict)
}

fn cannot_be_judged(why: String) -> GateError {
    GateError { why, unknown: None }
}

fn judge_counts(diff: &Diff, condition: &Condition, asked: Option<Vec<FunctionId>>) -> Verdict {
    // For calls, the whole program is not judged, because the sum of all calls reveals no more than the calls of each function.
    let whole = (asked.is_none() && condition.what == Quantity::Total && !diff.whole.around_scope)
        .then_some(Judged::Whole);
    let is_counted =
        |id: &FunctionId| condition.what != Quantity::Calls || diff.by_function[id.index()].is_counted();
    let functions = asked.unwrap_or_else(|| ids(diff).filter(is_counted).collect());
    let functions = functions.into_iter().map(Judged::Function);
    let all: Vec<Judged> = whole.into_iter().chain(functions).collect();
    let (before, after) = diff.runs();
    let can_tell = before.min(after) >= RUNS;
    let mut failures = Vec::new();
    let mut by_rank = Vec::new();
    let mut inexact = 0;
    for &judged in &all {
        let failure = medians(diff, condition, judged);
        let (runs_before, runs_after) = in_runs(diff, condition, judged);
        let is_exact = [runs_before, runs_after]
            .iter()
            .all(|runs| runs.iter().all(|value| *value == runs[0]));
        if can_tell && !is_exact {
            by_rank.push(tested(diff, condition, failure));
        } else if condition.is_exceeded(failure.before, failure.after) {
            failures.push(failure);
            inexact += usize::from(!is_exact);
        }
    }
    let whole = by_rank.iter().find(|one| one.of == Judged::Whole).copied();
    keep_significant(&mut by_rank, least_chance(before, after));
    inexact += by_rank.len();
    failures.append(&mut by_rank);
    Verdict {
        condition: condition.clone(),
        judged: all.len(),
        failures,
        whole,
        inexact,
    }
}

fn medians(diff: &Diff, condition: &Condition, judged: Judged) -> Failure {
    let change = match judged {
        Judged::Whole => &diff.whole,
        Judged::Function(id) => &diff.by_function[id.index()],
    };
    Failure {
        of: judged,
        before: change.before.get(condition.what),
        after: change.after.get(condition.what),
        chance: None,
    }
}

/// Returns the values of a judged subject in every run (bounds, for latencies), first for the runs before the change, then for
/// those after it.
fn in_runs(diff: &Diff, condition: &Condition, judged: Judged) -> (Vec<f64>, Vec<f64>) {
    match judged {
        Judged::Whole => diff.whole_in_runs(condition.what),
        Judged::Function(id) if condition.what.is_latency() => diff.latency_bounds(id, condition.what),
        Judged::Function(id) => diff.in_runs(id, condition.what),
    }
}

/// Returns how many of the runs before the change have latencies of a function, and how many of those after it.
fn runs_with_latencies(diff: &Diff, id: FunctionId) -> (usize, usize) {
    let (before, after) = diff.latency_bounds(id, Quantity::P99);
    (before.len(), after.len())
}

/// Checks that enough runs have latencies of each function that the condition names, or of at least one function if it names
/// none.
fn check_latencies(
    diff: &Diff,
    condition: &Condition,
    asked: Option<&[FunctionId]>,
) -> Result<(), GateError> {
    let known = |id: FunctionId| runs_with_latencies(diff, id);
    let fewer = |&(before, after): &(usize, usize)| before.min(after);
    let most = match asked {
        Some(asked) => asked.iter().copied().map(known).min_by_key(fewer),
        None => ids(diff).map(known).max_by_key(fewer),
    };
    match most.unwrap_or_default() {
        (before, after) if before.min(after) >= RUNS => Ok(()),
        (before, after) => Err(cannot_be_judged(format!(
            "{condition}: found latencies of single calls in {before} runs before and {after} after, wanted {RUNS} a side; programs keep them in the modes exact and adaptive, without TICKSCOPE_HISTOGRAM=off"
        ))),
    }
}

fn judge_times(
    diff: &Diff,
    condition: &Condition,
    asked: Option<Vec<FunctionId>>,
) -> Result<Verdict, GateError> {
    let (before, after) = diff.runs();
    if before < RUNS || after < RUNS {
        return Err(cannot_be_judged(format!(
            "{condition} is judged over at least {RUNS} runs a side; found {before} before and {after} after (A1 A2 A3 A4 A5 -- B1 B2 B3 B4 B5)"
        )));
    }
    let what = condition.what;
    if what.is_latency() {
        check_latencies(diff, condition, asked.as_deref())?;
    }
    // Whether the latencies of a function are judged depends on its share of the total time.
    let of_share = if what.is_latency() { Quantity::Total } else { what };
    let is_known = |id: FunctionId| {
        let (before, after) = runs_with_latencies(diff, id);
        !what.is_latency() || before.min(after) >= RUNS
    };
    let mut all: Vec<Judged> = match asked {
        Some(asked) => asked.into_iter().map(Judged::Function).collect(),
        None => {
            let least = diff.measured_ns() * JUDGED_SHARE;
            let worth = |&id: &FunctionId| {
                let change = &diff.by_function[id.index()];
                let most = change.before.get(of_share).max(change.after.get(of_share));
                change.presence == Presence::Both
                    && !change.around_scope
                    && most > 0.0
                    && most >= least
                    && is_known(id)
                    && (!what.is_latency() || change.is_counted())
            };
            let whole = (!diff.whole.around_scope).then_some(Judged::Whole);
            let functions = ids(diff).filter(worth).map(Judged::Function);
            whole.into_iter().chain(functions).collect()
        }
    };
    // The whole program has only a total, so the other quantities are judged for functions alone.
    all.retain(|&judged| judged != Judged::Whole || what == Quantity::Total);
    let mut failures: Vec<Failure> = all
        .iter()
        .map(|&judged| tested(diff, condition, medians(diff, condition, judged)))
        .collect();
    let whole = failures.iter().find(|one| one.of == Judged::Whole).copied();
    keep_significant(&mut failures, least_chance(before, after));
    Ok(Verdict {
        condition: condition.clone(),
        judged: all.len(),
        failures,
        whole,
        inexact: 0,
    })
}

/// Returns the failure with its `chance`: the probability that chance alone puts the runs after the change this far above the
/// allowed values.
fn tested(diff: &Diff, condition: &Condition, failure: Failure) -> Failure {
    let (before, after) = in_runs(diff, condition, failure.of);
    let allowed: Vec<f64> = before.iter().map(|&value| condition.allowed(value)).collect();
    Failure {
        chance: Some(chance_of_greater(&allowed, &after)),
        ..failure
    }
}

/// Keeps the failures that are significant together, by Holm's step-down method. The level of a step is never below `clearest`,
/// which is the smallest probability that a test can result in.
fn keep_significant(tested: &mut Vec<Failure>, clearest: f64) {
    let chance = |failure: &Failure| failure.chance.unwrap_or(1.0);
    tested.sort_by(|a, b| chance(a).total_cmp(&chance(b)));
    let all = tested.len();
    let is_significant = |(step, failure): &(usize, &Failure)| {
        let level = (LEVEL / (all - step) as f64).max(clearest);
        // `chance` and `level` are computed in different ways, so equal values may differ by rounding.
        chance(failure) <= level * (1.0 + 1e-9)
    };
    let significant = tested.iter().enumerate().take_while(is_significant).count();
    tested.truncate(significant);
}

fn ids(diff: &Diff) -> impl Iterator<Item = FunctionId> {
    (0..diff.by_function.len() as u32).map(FunctionId)
}
