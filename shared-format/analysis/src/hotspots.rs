//! Hotspots: calls and times of each function over all paths. Totals do not count recursive calls twice.

use std::ops::Deref;

use tickscope_format::latency::Histogram;

use crate::call_tree::{CallTree, Figures};
use crate::functions::FunctionId;
use crate::uncertainty::Uncertainty;

/// One function, with its calls on all paths.
#[derive(Clone, Debug, PartialEq)]
pub struct HotRow {
    /// The function.
    pub function: FunctionId,
    /// Calls and times of the function. Total times and `open` do not count recursive calls twice.
    pub figures: Figures,
    /// Latencies of the finished calls, including recursive calls; empty if no call has finished or histograms are off. If the
    /// row is a value instead of a scope, the histogram contains the numbers that were recorded for it.
    pub latency: Histogram,
    /// The uncertainty of the function's times, or `None` if they are exact.
    pub uncertainty: Option<Uncertainty>,
    /// Rows of the tree that belong to the function.
    pub rows: Vec<u32>,
}

impl Deref for HotRow {
    type Target = Figures;

    fn deref(&self) -> &Figures {
        &self.figures
    }
}

/// Returns the functions of a tree, in the order of their ids. Functions without a row are left out.
pub fn hot(tree: &CallTree) -> Vec<HotRow> {
    let mut table: Vec<HotRow> = (0..tree.functions.list.len() as u32)
        .map(|id| HotRow {
            function: FunctionId(id),
            figures: Figures::nothing(),
            latency: Histogram::default(),
            uncertainty: None,
            rows: Vec::new(),
        })
        .collect();
    tree.visit(|index, outermost| {
        let row = &tree.rows[index as usize];
        let entry = &mut table[row.function.index()];
        entry.figures.add_calls(row, outermost);
        entry.figures.add_self(row);
        entry.rows.push(index);
        let latency = tree.latency(index);
        if !latency.is_empty() {
            entry.latency.add(latency);
        }
        if outermost {
            entry.figures.add_total(row);
            entry.figures.add_open(row);
        }
        if let Some(uncertainty) = tree.merged_uncertainty(index) {
            let sum = entry.uncertainty.get_or_insert_default();
            sum.add_self(&uncertainty);
            if outermost {
                sum.add_total(&uncertainty);
            }
        }
    });
    table.retain(|row| !row.rows.is_empty());
    for row in &mut table {
        row.uncertainty = row.uncertainty.and_then(Uncertainty::if_estimated);
    }
    table
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::Quantity;
    use tickscope_testkit::fixture;

    use super::*;
    use crate::callers::Neighbours;
    use crate::transform::fold_recursion;

    #[test]
    fn recursion_is_counted_once_in_totals_open_calls_and_errors() {
        let mut snapshot = fixture::recursion();
        for (row, ticks, count) in [(1, 600, 1), (2, 400, 2), (3, 100, 4)] {
            snapshot.latencies.push(row, &fixture::calls_of(ticks, count));
            let estimate = fixture::estimate(row, 1, 10 * u64::from(row), 100);
            snapshot.estimates.push(estimate);
            snapshot.threads[0].open.push(fixture::open(row, 1));
        }
        let tree = CallTree::build(&snapshot, |_| true);
        let rows = hot(&tree);
        let of = |name: &str| {
            let row = rows
                .iter()
                .find(|row| tree.functions.get(row.function).name == name);
            row.unwrap()
        };
        let fib = of("fib");
        assert_eq!((fib.calls, fib.self_ticks, fib.total_ticks), (7, 600, 600));
        assert_eq!(fib.open, 1, "one thread is in it");
        assert_eq!((fib.latency.count(), fib.latency.max()), (7, Some((600, true))));
        let uncertainty = fib.uncertainty.unwrap();
        assert_eq!(uncertainty.timed, 3);
        assert!(
            (uncertainty.self_error - 1_400f64.sqrt()).abs() < 1e-9,
            "{uncertainty:?}"
        );
        assert_eq!(uncertainty.total_error, 100.0, "of the outermost calls alone");
        assert_eq!(of("main").uncertainty, None);
    }

    #[test]
    fn uncounted_calls_inside_counted_ones_are_part_of_their_mean() {
        // The innermost of three calls of 200 ticks is inlined.
        let mut snapshot = fixture::recursion();
        snapshot.nodes.calls = vec![1, 1, 1, 0];
        snapshot.measures.push_row(Quantity::Sampled, 3, 200);
        let tree = CallTree::build(&snapshot, |_| true);
        let [fib, _] = &hot(&tree)[..] else { panic!() };
        assert_eq!(fib.avg_ticks(fib.total_ticks), (600, 2));
        let own = Neighbours::of(&tree, fib.function).unwrap().figures;
        assert_eq!(own.avg_ticks(own.total_ticks), (600, 2));
        let folded = fold_recursion(&tree);
        let row = folded
            .rows
            .iter()
            .find(|row| row.function == fib.function)
            .unwrap();
        assert_eq!(row.avg_ticks(row.total_ticks), (600, 2));
    }
}
