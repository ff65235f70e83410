//! Hotspots: what each function costs itself, wherever it is called; recursion counts once in totals.

use crate::profile::functions::FunctionId;
use crate::profile::tree::CallTree;

/// One function over the whole tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotRow {
    /// The function.
    pub function: FunctionId,
    /// Its calls, recursive ones too.
    pub calls: u64,
    /// Ticks in itself.
    pub self_ticks: u64,
    /// Ticks in its outermost calls and all below.
    pub total_ticks: u64,
    /// Nanoseconds in itself.
    pub self_ns: u64,
    /// Nanoseconds in its outermost calls and all below.
    pub total_ns: u64,
    /// In how many places of the tree it is open now, counted by threads.
    pub open: u32,
    /// Clock errors.
    pub errors: u64,
    /// Rows of the tree in which it stands.
    pub rows: Vec<u32>,
}

/// The functions of a tree, in the order of their ids; functions without a row are left out.
pub fn hot(tree: &CallTree) -> Vec<HotRow> {
    let mut table: Vec<HotRow> = (0..tree.functions.list.len() as u32)
        .map(|id| HotRow {
            function: FunctionId(id),
            calls: 0,
            self_ticks: 0,
            total_ticks: 0,
            self_ns: 0,
            total_ns: 0,
            open: 0,
            errors: 0,
            rows: Vec::new(),
        })
        .collect();
    let mut depth_of = vec![0u32; table.len()];
    let mut stack: Vec<(u32, bool)> = tree.top().iter().map(|&row| (row, false)).collect();
    while let Some((index, leaving)) = stack.pop() {
        let row = &tree.rows[index as usize];
        let function = row.function.index();
        if leaving {
            depth_of[function] -= 1;
            continue;
        }
        let entry = &mut table[function];
        entry.calls += row.calls;
        entry.self_ticks += row.self_ticks;
        entry.self_ns += row.self_ns;
        entry.open += row.open;
        entry.errors += row.errors;
        entry.rows.push(index);
        if depth_of[function] == 0 {
            entry.total_ticks += row.total_ticks;
            entry.total_ns += row.total_ns;
        }
        depth_of[function] += 1;
        stack.push((index, true));
        stack.extend(tree.children(index).iter().map(|&child| (child, false)));
    }
    table.retain(|row| !row.rows.is_empty());
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn recursion_is_counted_once_in_totals() {
        let tree = CallTree::build(&fixture::recursion(), |_| true);
        let rows = hot(&tree);
        let fib = rows
            .iter()
            .find(|row| tree.functions.get(row.function).name == "fib");
        let fib = fib.expect("fib is there");
        assert_eq!((fib.calls, fib.self_ticks, fib.total_ticks), (7, 600, 600));
        assert_eq!(
            rows.iter().map(|row| row.self_ns).sum::<u64>(),
            tree.measured_ns()
        );
    }
}
