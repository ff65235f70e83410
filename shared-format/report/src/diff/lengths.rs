//! Finds out whether one side did more work than the other. Comparing numbers per call would compensate for that.

use tickscope_analysis::names::named;

use super::{Comparison, Run, lengths};
use crate::number;

/// Both sides did the same amount of work if their numbers of calls differ by at most this factor.
const AS_MUCH: f64 = 1.1;

/// A function must have at least this many calls to show how much work a run did.
const OFTEN: f64 = 10.0;

impl Comparison<'_> {
    /// If one side did more work than the other, returns a hint to compare numbers per call of a function. The hint names a
    /// suitable function.
    ///
    /// The amount of work is judged by calls, because two builds may take different times for the same work. If most functions
    /// are called more often, there was more work. If only one function is called more often, that build does the same work in a
    /// different way.
    pub(super) fn about_lengths(&self) -> Option<String> {
        if self.per.is_some() {
            return None;
        }
        let changes = self.diff.by_function.iter().enumerate();
        let often = changes
            .filter(|(_, change)| !change.is_counter && change.before.calls.min(change.after.calls) >= OFTEN);
        let mut by_growth: Vec<(f64, usize)> = often
            .map(|(index, change)| (change.after.calls / change.before.calls, index))
            .collect();
        by_growth.sort_by(|a, b| a.0.total_cmp(&b.0));
        let &(growth, _) = by_growth.get(by_growth.len() / 2)?;
        let is_as_much = |growth: f64| growth.max(1.0 / growth) <= AS_MUCH;
        if is_as_much(growth) {
            return None;
        }
        let total = |index: usize| self.diff.by_function[index].before.total_ns;
        let grown_alike = by_growth.iter().filter(|(own, _)| is_as_much(own / growth));
        let (_, example) = grown_alike.max_by(|a, b| total(a.1).total_cmp(&total(b.1)))?;
        let functions = &self.diff.functions;
        let function = &functions.list[*example];
        // If other functions have this name too, the full name is shown.
        let name = if named(functions, &function.name).len() == 1 {
            function.name.clone()
        } else {
            function.full_name()
        };
        let change = &self.diff.by_function[*example];
        let calls = |calls: f64| number::count(calls.round() as u64);
        let [before, after] = [self.runs.0, self.runs.1].map(|runs: &[Run]| lengths(runs));
        Some(format!(
            "one side did more ({} calls of {name} in {before} before, {} in {after} after); --per FUNCTION compares numbers \
             per call, for example --per {name}",
            calls(change.before.calls),
            calls(change.after.calls),
        ))
    }
}
