//! Hotspots: the self time of each function over all its call sites. Recursion counts once in totals.

use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::Tally;

use crate::call_tree::{AsyncCalls, CallTree, OffCpu, SampledTime, both_tallies};
use crate::functions::FunctionId;
use crate::uncertainty::Uncertainty;

/// One function over the whole tree.
#[derive(Clone, Debug, PartialEq)]
pub struct HotRow {
    /// The function.
    pub function: FunctionId,
    /// Its calls, recursive ones too.
    pub calls: u64,
    /// What a counter, a value or a gauge shows, which has no time; none for a function.
    pub tally: Option<Tally>,
    /// Ticks in itself.
    pub self_ticks: u64,
    /// Ticks in its outermost calls and all below.
    pub total_ticks: u64,
    /// Nanoseconds in itself.
    pub self_ns: u64,
    /// Nanoseconds in its outermost calls and all below.
    pub total_ns: u64,
    /// Of its self time, that off the CPU.
    pub self_off: OffCpu,
    /// Of its total time, that off the CPU.
    pub total_off: OffCpu,
    /// Its calls of futures.
    pub asynchronous: AsyncCalls,
    /// Of its self time, that of calls that are not counted.
    pub sampled: SampledTime,
    /// In how many threads it is open now, recursive calls not counted again.
    pub open: u32,
    /// In how many of those it waited at the newest look at them.
    pub waiting: u32,
    /// Clock errors.
    pub errors: u64,
    /// How long its finished calls took, recursive ones too; empty if none has finished, or histograms are off. Of a value
    /// they are its numbers.
    pub latency: Histogram,
    /// The uncertainty of its times, or none if they are exact.
    pub uncertainty: Option<Uncertainty>,
    /// Rows of the tree in which it stands.
    pub rows: Vec<u32>,
}

/// The functions of a tree, in the order of their ids; functions without a row are left out.
pub fn hot(tree: &CallTree) -> Vec<HotRow> {
    let mut table: Vec<HotRow> = (0..tree.functions.list.len() as u32)
        .map(|id| HotRow {
            function: FunctionId(id),
            calls: 0,
            tally: Some(Tally::Nothing),
            self_ticks: 0,
            total_ticks: 0,
            self_ns: 0,
            total_ns: 0,
            self_off: OffCpu::default(),
            total_off: OffCpu::default(),
            asynchronous: AsyncCalls::default(),
            sampled: SampledTime::default(),
            open: 0,
            waiting: 0,
            errors: 0,
            latency: Histogram::default(),
            uncertainty: None,
            rows: Vec::new(),
        })
        .collect();
    tree.visit(|index, outermost| {
        let row = &tree.rows[index as usize];
        let entry = &mut table[row.function.index()];
        entry.calls = entry.calls.saturating_add(row.calls);
        entry.tally = both_tallies(entry.tally, row.tally);
        entry.self_ticks = entry.self_ticks.saturating_add(row.self_ticks);
        entry.self_ns = entry.self_ns.saturating_add(row.self_ns);
        entry.self_off += row.self_off;
        entry.asynchronous += row.asynchronous;
        entry.sampled += row.sampled;
        entry.errors = entry.errors.saturating_add(row.errors);
        entry.rows.push(index);
        let latency = tree.latency(index);
        if !latency.is_empty() {
            entry.latency.add(latency);
        }
        if outermost {
            entry.total_ticks = entry.total_ticks.saturating_add(row.total_ticks);
            entry.total_ns = entry.total_ns.saturating_add(row.total_ns);
            entry.total_off += row.total_off;
            entry.open = entry.open.saturating_add(row.open);
            entry.waiting = entry.waiting.saturating_add(row.waiting);
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
    use tickscope_format::ids::NodeId;
    use tickscope_format::snapshot::OpenFrame;
    use tickscope_testkit::fixture;

    use super::*;

    #[test]
    fn latencies_and_errors_of_recursion() {
        let mut snapshot = fixture::recursion();
        for (row, ticks, count) in [(1, 600, 1), (2, 400, 2), (3, 100, 4)] {
            snapshot.latencies.push(row, &fixture::calls_of(ticks, count));
            let estimate = fixture::estimate(row, 1, 10 * u64::from(row), 100);
            snapshot.estimates.push(estimate);
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
    fn recursion_is_counted_once_in_totals() {
        let mut snapshot = fixture::recursion();
        snapshot.threads[0].open = (0..4)
            .map(|row| OpenFrame {
                node: NodeId(row),
                began_tick: 1,
            })
            .collect();
        let tree = CallTree::build(&snapshot, |_| true);
        let rows = hot(&tree);
        let fib = rows
            .iter()
            .find(|row| tree.functions.get(row.function).name == "fib");
        let fib = fib.expect("fib is there");
        assert_eq!((fib.calls, fib.self_ticks, fib.total_ticks), (7, 600, 600));
        assert_eq!(fib.open, 1, "one thread is in it");
        assert_eq!(
            rows.iter().map(|row| row.self_ns).sum::<u64>(),
            tree.measured_ns()
        );
    }
}
