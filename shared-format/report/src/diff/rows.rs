//! Chooses the rows to show and their order, largest change first.

use std::cmp::Ordering;

use tickscope_analysis::compare::diff::{Change, Quantity};
use tickscope_analysis::functions::FunctionId;

use super::Comparison;
use crate::number;

/// Summary of the functions or paths that are not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rest {
    pub(super) rows: usize,
    /// Sum of the self times of these rows before the change. `after_ns` is the sum after it.
    pub(super) before_ns: f64,
    pub(super) after_ns: f64,
}

impl Rest {
    fn add(&mut self, change: &Change) {
        self.rows += 1;
        self.before_ns += change.before.self_ns;
        self.after_ns += change.after.self_ns;
    }
}

/// Orders rows by how far the change of a time exceeds its error, then by this change itself, then by the changes of sums and
/// calls. The largest change comes first.
fn order(a: &Change, b: &Change, time: Quantity) -> Ordering {
    let by = |what: Quantity| b.of(what).abs().total_cmp(&a.of(what).abs());
    b.beyond_error(time)
        .total_cmp(&a.beyond_error(time))
        .then_with(|| by(time))
        .then_with(|| by(Quantity::Sum))
        .then_with(|| by(Quantity::Calls))
}

/// Returns the functions to show, ordered by the change of their self time, and a summary of the others. Functions that failed a
/// gate are always shown.
pub(super) fn functions(comparison: &Comparison<'_>) -> (Vec<usize>, Rest) {
    let least = comparison.least_ns();
    let failing = comparison.failing();
    let mut rest = Rest::default();
    let mut shown = Vec::new();
    for (index, change) in comparison.diff.by_function.iter().enumerate() {
        if failing[index] || comparison.diff.is_function_worth(FunctionId(index as u32), least) {
            shown.push(index);
        } else if change.before.is_something() || change.after.is_something() {
            rest.add(change);
        }
    }
    let changes = &comparison.diff.by_function;
    shown.sort_by(|&a, &b| {
        let (first, second) = (&changes[a], &changes[b]);
        // Rows whose times cannot be compared come last.
        let around = first.around_scope.cmp(&second.around_scope);
        around
            .then_with(|| order(first, second, Quantity::SelfTime))
            .then(a.cmp(&b))
    });
    (shown, rest)
}

/// Returns, for each path, whether it must be shown because of a failed gate. For each function that failed a gate, the path that
/// changed most must be shown, together with its callers.
pub(super) fn failing_paths(comparison: &Comparison<'_>) -> Vec<bool> {
    let rows = &comparison.diff.paths;
    let failing = comparison.failing();
    let mut most: Vec<Option<usize>> = vec![None; failing.len()];
    for (index, row) in rows
        .iter()
        .enumerate()
        .filter(|(_, row)| failing[row.function.index()])
    {
        let of_function = &mut most[row.function.index()];
        let is_more = |best: usize| order(&row.change, &rows[best].change, Quantity::Total) == Ordering::Less;
        if of_function.is_none_or(is_more) {
            *of_function = Some(index);
        }
    }
    let mut kept = vec![false; rows.len()];
    for mut at in most.into_iter().flatten() {
        while !kept[at] {
            kept[at] = true;
            let Some(parent) = rows[at].parent else { break };
            at = parent as usize;
        }
    }
    kept
}

/// Returns the first `most` rows and all later rows that must be kept, and the number of other rows.
pub(super) fn cut(shown: Vec<usize>, most: usize, is_kept: &[bool]) -> (Vec<usize>, usize) {
    let all = shown.len();
    let rows = shown.into_iter().enumerate();
    let rows: Vec<usize> = rows
        .filter(|&(place, index)| place < most || is_kept[index])
        .map(|(_, index)| index)
        .collect();
    let left = all - rows.len();
    (rows, left)
}

/// Returns the paths to show and a summary of the others. Each path is below its caller, so the callers of a changed path are
/// shown too. Siblings are ordered by the change of their total.
pub(super) fn paths(comparison: &Comparison<'_>) -> (Vec<usize>, Rest) {
    let (rows, least) = (&comparison.diff.paths, comparison.least_ns());
    let mut is_shown = failing_paths(comparison);
    let mut rest = Rest::default();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
    let mut top = Vec::new();
    // Children come after their parents, so in reverse order they are decided on first.
    for (index, row) in rows.iter().enumerate().rev() {
        is_shown[index] |= comparison.diff.is_path_worth(index, least);
        if !is_shown[index] {
            rest.add(&row.change);
            continue;
        }
        match row.parent {
            Some(parent) => {
                is_shown[parent as usize] = true;
                children[parent as usize].push(index);
            }
            None => top.push(index),
        }
    }
    let sort = |siblings: &mut Vec<usize>| {
        siblings.sort_by(|&a, &b| order(&rows[b].change, &rows[a].change, Quantity::Total).then(b.cmp(&a)));
    };
    // The next path is popped from the end of the stack, so paths are sorted in reverse.
    sort(&mut top);
    let (mut stack, mut shown) = (top, Vec::new());
    while let Some(index) = stack.pop() {
        shown.push(index);
        let mut below = std::mem::take(&mut children[index]);
        sort(&mut below);
        stack.append(&mut below);
    }
    (shown, rest)
}

impl Comparison<'_> {
    /// Returns a sentence about the rows that are not shown, or `None` if all are shown.
    pub(super) fn rest(&self, rest: Rest, of: &str) -> Option<String> {
        if rest.rows == 0 {
            return None;
        }
        let many = if rest.rows == 1 { "" } else { "s" };
        let by_chance = if self.diff.can_tell_noise() || self.diff.whole.self_estimated {
            " or by chance"
        } else {
            ""
        };
        // Medians of several runs do not add up, so there is a sum only if each side has one run.
        let together = if self.diff.runs() == (1, 1) {
            let numbers = self.numbers();
            format!(
                "; self together {} {} {}",
                numbers.value(Quantity::SelfTime, rest.before_ns),
                numbers.arrow(),
                numbers.value(Quantity::SelfTime, rest.after_ns),
            )
        } else {
            String::new()
        };
        Some(format!(
            "{} more {of}{many} with the same calls, and times that differ by less than {} of the whole{by_chance}{together}",
            rest.rows,
            number::percent(self.min_share),
        ))
    }
}
