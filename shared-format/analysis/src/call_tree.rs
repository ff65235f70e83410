//! The call tree: the chosen threads merged by path of functions, with total times.

use std::collections::HashMap;
use std::ops::{AddAssign, Deref};
use std::sync::Arc;

use tickscope_format::ids::{NO_PARENT, NodeId, ThreadId};
use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::{Now, Quantity, Snapshot, Tally, Values, saturating_sum};

use crate::functions::{FNV_SEED, FunctionId, Functions, OTHERS, fnv1a};
use crate::parts::Parts;
use crate::uncertainty::{Uncertainty, uncertainties};

/// Returns the tally of two parts of a row together, or none if either part is a scope.
pub(super) fn both_tallies(one: Option<Tally>, other: Option<Tally>) -> Option<Tally> {
    one.zip(other).map(|(one, other)| one.and(other))
}

/// A hash of a path of functions from the top of a thread, which is equal in all snapshots of all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u64);

/// Time off the CPU, a part of other times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OffCpu {
    /// Nanoseconds in which a thread could not run.
    pub waiting_ns: u64,
    /// Nanoseconds in which a thread could run but had no CPU.
    pub ready_ns: u64,
}

impl OffCpu {
    /// Returns the sum of both.
    pub fn ns(self) -> u64 {
        self.waiting_ns.saturating_add(self.ready_ns)
    }
}

impl AddAssign for OffCpu {
    fn add_assign(&mut self, other: Self) {
        self.waiting_ns = self.waiting_ns.saturating_add(other.waiting_ns);
        self.ready_ns = self.ready_ns.saturating_add(other.ready_ns);
    }
}

/// Calls of futures that have ended, by the wall clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AsyncCalls {
    /// The calls, cancelled ones too.
    pub ended: u64,
    /// Ticks from their first polls to their ends.
    pub ticks: u64,
    /// Nanoseconds from their first polls to their ends.
    pub ns: u64,
    /// Whether the row belongs to a future, even if no call has ended yet.
    pub is_future: bool,
}

impl AsyncCalls {
    /// Returns the number of calls for a row's mean, and their nanoseconds. A future's ended calls count, with their
    /// waits; for other rows the result is `calls` and `total_ns`.
    pub fn or(self, calls: u64, total_ns: u64) -> (u64, u64) {
        match self.is_future {
            true => (self.ended, self.ns),
            false => (calls, total_ns),
        }
    }
}

impl AddAssign for AsyncCalls {
    fn add_assign(&mut self, other: Self) {
        self.ended = self.ended.saturating_add(other.ended);
        self.ticks = self.ticks.saturating_add(other.ticks);
        self.ns = self.ns.saturating_add(other.ns);
        self.is_future = self.is_future || other.is_future;
    }
}

/// Part of a row's time that is known from samples alone, because the calls are not counted. A row that several functions share
/// holds the sum of their parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampledTime {
    /// Sampled time in ticks.
    pub ticks: u64,
    /// Sampled time in nanoseconds.
    pub ns: u64,
}

impl SampledTime {
    /// Returns the nanoseconds of a row's total time that counted calls took.
    pub fn counted_ns(self, total_ns: u64) -> u64 {
        total_ns.saturating_sub(self.ns)
    }

    /// Returns whether a row with this part and these calls has no counted call, so that samples alone show its time.
    pub fn is_all(self, calls: u64) -> bool {
        calls == 0 && self.ticks > 0
    }
}

impl AddAssign for SampledTime {
    fn add_assign(&mut self, other: Self) {
        self.ticks = self.ticks.saturating_add(other.ticks);
        self.ns = self.ns.saturating_add(other.ns);
    }
}

/// The figures of a row, which rows of all tables have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Calls begun since the reset, recursive ones too.
    pub calls: u64,
    /// Tally of a counter, a value or a gauge, which has no time; none if any part of the row is a scope.
    pub tally: Option<Tally>,
    /// Self time in ticks.
    pub self_ticks: u64,
    /// Total time in ticks; recursion counts once.
    pub total_ticks: u64,
    /// Self time in nanoseconds.
    pub self_ns: u64,
    /// Total time in nanoseconds; recursion counts once.
    pub total_ns: u64,
    /// Part of the self time that is off the CPU.
    pub self_off: OffCpu,
    /// Part of the total time that is off the CPU.
    pub total_off: OffCpu,
    /// Its calls of futures.
    pub asynchronous: AsyncCalls,
    /// Time of calls that are not counted, a part of the self time.
    pub sampled: SampledTime,
    /// Number of threads in which the row is open.
    pub open: u32,
    /// Number of these threads that waited when they were last looked at.
    pub waiting: u32,
    /// Number of clock errors.
    pub errors: u64,
}

impl Figures {
    /// Returns the figures of a row without parts, whose tally allows a counter.
    pub(super) fn nothing() -> Self {
        Self {
            tally: Some(Tally::Nothing),
            ..Self::default()
        }
    }

    /// Adds the calls of a part of the row.
    pub(super) fn add_calls(&mut self, part: &Self) {
        self.calls = self.calls.saturating_add(part.calls);
        self.tally = both_tallies(self.tally, part.tally);
        self.asynchronous += part.asynchronous;
        self.sampled += part.sampled;
        self.errors = self.errors.saturating_add(part.errors);
    }

    /// Adds the self time of a part of the row.
    pub(super) fn add_self(&mut self, part: &Self) {
        self.self_ticks = self.self_ticks.saturating_add(part.self_ticks);
        self.self_ns = self.self_ns.saturating_add(part.self_ns);
        self.self_off += part.self_off;
    }

    /// Adds the total time of a part of the row.
    pub(super) fn add_total(&mut self, part: &Self) {
        self.total_ticks = self.total_ticks.saturating_add(part.total_ticks);
        self.total_ns = self.total_ns.saturating_add(part.total_ns);
        self.total_off += part.total_off;
    }

    /// Adds the threads in which a part of the row is open.
    pub(super) fn add_open(&mut self, part: &Self) {
        self.open = self.open.saturating_add(part.open);
        self.waiting = self.waiting.saturating_add(part.waiting);
    }

    /// Returns the figures with the self time as the total.
    pub fn with_self_as_total(self) -> Self {
        Self {
            total_ticks: self.self_ticks,
            total_ns: self.self_ns,
            total_off: self.self_off,
            ..self
        }
    }

    /// Returns the mean total time of a call, for a future by the wall clock; none without calls, and none for a counter.
    pub fn avg_ns(self) -> Option<u64> {
        let (calls, ns) = self.counted();
        ns.checked_div(calls).filter(|_| self.tally.is_none())
    }

    /// Returns the number of counted calls and their nanoseconds. Of a future only ended calls count.
    pub fn counted(self) -> (u64, u64) {
        let counted_ns = self.sampled.counted_ns(self.total_ns);
        self.asynchronous.or(self.calls, counted_ns)
    }

    /// Returns the ticks and the number of calls whose quotient is the mean. `total_ticks` is the total time of the row.
    pub fn avg_ticks(self, total_ticks: u64) -> (u64, u64) {
        match self.asynchronous.is_future {
            true => (self.asynchronous.ticks, self.asynchronous.ended),
            false => (total_ticks.saturating_sub(self.sampled.ticks), self.calls),
        }
    }
}

/// A row of the tree: a function on one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeRow {
    /// Its path, which identifies it in other snapshots as well.
    pub path: PathId,
    /// The row of its parent, or none at the top.
    pub parent: Option<u32>,
    /// Its function.
    pub function: FunctionId,
    /// Depth of the row, 0 at the top.
    pub depth: u32,
    /// Its figures.
    pub figures: Figures,
}

/// The merged call tree of a snapshot.
#[derive(Clone, Debug, Default)]
pub struct CallTree {
    /// The functions that rows name.
    pub functions: Arc<Functions>,
    /// The rows, parents before children.
    pub rows: Vec<TreeRow>,
    /// Ticks that the chosen threads spent outside any scope.
    pub outside_ticks: u64,
    /// Row of each node before any transformation; [`NO_PARENT`] if its thread was not chosen.
    row_of_node: Arc<Vec<u32>>,
    pub(super) parts: Parts,
    /// Uncertainties by row; empty if all times are exact.
    pub(super) uncertainties: Vec<Uncertainty>,
    /// By row, whether recursive calls were folded into it; empty if none were.
    pub(super) folded: Vec<bool>,
    children: Vec<u32>,
    child_ranges: Vec<(u32, u32)>,
    top: Vec<u32>,
}

impl PathId {
    /// The empty path, which is the parent path of rows at the top.
    pub(super) const TOP: Self = Self(FNV_SEED);

    /// Returns the path that continues this path with the function of this key.
    pub(super) fn below(self, key: u64) -> Self {
        Self(fnv1a(self.0, &key.to_le_bytes()))
    }
}

impl Deref for TreeRow {
    type Target = Figures;

    fn deref(&self) -> &Figures {
        &self.figures
    }
}

impl TreeRow {
    /// Returns a row without calls.
    pub(super) fn new(path: PathId, parent: Option<u32>, function: FunctionId, depth: u32) -> Self {
        Self {
            path,
            parent,
            function,
            depth,
            figures: Figures::nothing(),
        }
    }
}

impl CallTree {
    /// Merges the threads that `in_scope` chooses.
    ///
    /// Rows are in the order of their first node. They are not sorted.
    pub fn build(snapshot: &Snapshot, in_scope: impl FnMut(ThreadId) -> bool) -> Self {
        Self::build_of(snapshot, Arc::new(Functions::of(snapshot)), in_scope)
    }

    /// Returns the function that calls a row's function: the function of the nearest row above that is no group of several.
    pub fn caller_of(&self, row: &TreeRow) -> Option<FunctionId> {
        let above = row.parent?;
        match self.others_in(above) {
            Some(_) => self.caller_of(&self.rows[above as usize]),
            None => Some(self.rows[above as usize].function),
        }
    }

    /// Returns the number of functions that a row groups; `None` if the row belongs to one function.
    ///
    /// # Panics
    /// If `row` is not an index of [`rows`](Self::rows).
    pub fn others_in(&self, row: u32) -> Option<usize> {
        let TreeRow {
            function, figures, ..
        } = self.rows[row as usize];
        let is_group = self.functions.get(function).name == OTHERS && figures.calls == 0;
        is_group.then(|| self.children(row).len())
    }

    /// Merges threads like [`build`](Self::build), with the functions of a snapshot that has the same sites.
    ///
    /// # Panics
    /// If the functions belong to other sites.
    pub fn build_of(
        snapshot: &Snapshot,
        functions: Arc<Functions>,
        mut in_scope: impl FnMut(ThreadId) -> bool,
    ) -> Self {
        let self_ns = snapshot.self_nanos();
        let tallies = snapshot.tallies();
        let nodes = &snapshot.nodes;
        let mut tree = Self {
            functions,
            ..Self::default()
        };
        let mut known: HashMap<(u32, FunctionId), u32> = HashMap::with_capacity(nodes.len());
        let mut row_of_node = vec![NO_PARENT; nodes.len()];
        for index in 0..snapshot.threads.len() {
            let thread = ThreadId(index as u32);
            if !in_scope(thread) {
                continue;
            }
            tree.outside_ticks = tree
                .outside_ticks
                .saturating_add(snapshot.threads[index].outside_ticks);
            for node in snapshot.rows_of(thread) {
                let parent = match nodes.parent[node] {
                    NO_PARENT => NO_PARENT,
                    parent => row_of_node[parent as usize],
                };
                let function = tree.functions.of_site[nodes.site[node] as usize];
                let row = *known.entry((parent, function)).or_insert_with(|| {
                    let (above, depth) = match parent {
                        NO_PARENT => (PathId::TOP, 0),
                        parent => {
                            let parent = &tree.rows[parent as usize];
                            (parent.path, parent.depth + 1)
                        }
                    };
                    let path = above.below(tree.functions.get(function).key);
                    let parent = (parent != NO_PARENT).then_some(parent);
                    tree.rows.push(TreeRow::new(path, parent, function, depth));
                    tree.rows.len() as u32 - 1
                });
                row_of_node[node] = row;
                let row = &mut tree.rows[row as usize].figures;
                row.calls = row.calls.saturating_add(nodes.calls[node]);
                row.tally = both_tallies(row.tally, tallies[node]);
                row.self_ticks = row.self_ticks.saturating_add(nodes.self_ticks[node]);
                row.self_ns = row.self_ns.saturating_add(self_ns[node]);
            }
            let now = snapshot.waits_in.now_of(thread.0);
            let waits = u32::from(matches!(now, Some(Now::In(_))));
            for frame in &snapshot.threads[index].open {
                if let Some(&row) = row_of_node
                    .get(frame.node.index())
                    .filter(|&&row| row != NO_PARENT)
                {
                    tree.rows[row as usize].figures.open += 1;
                    tree.rows[row as usize].figures.waiting += waits;
                }
            }
        }
        for error in &snapshot.errors {
            if let Some(&row) = row_of_node
                .get(error.node.index())
                .filter(|&&row| row != NO_PARENT)
            {
                let row = &mut tree.rows[row as usize].figures;
                row.errors = row.errors.saturating_add(error.count);
            }
        }
        tree.merge_off_cpu(snapshot, &row_of_node);
        tree.merge_async_calls(snapshot, &row_of_node);
        tree.merge_sampled(snapshot, &row_of_node);
        tree.merge_latencies(snapshot, &row_of_node);
        tree.merge_spreads(snapshot, &row_of_node);
        tree.sum_totals();
        tree.link_children();
        tree.row_of_node = Arc::new(row_of_node);
        tree
    }

    /// Returns a tree of the same calls that has no rows yet.
    pub(super) fn without_rows(of: &Self) -> Self {
        Self {
            functions: Arc::clone(&of.functions),
            outside_ticks: of.outside_ticks,
            row_of_node: Arc::clone(&of.row_of_node),
            ..Self::default()
        }
    }

    fn merge_off_cpu(&mut self, snapshot: &Snapshot, row_of_node: &[u32]) {
        for quantity in [Quantity::Waiting, Quantity::Ready] {
            let column = snapshot.measures.of(quantity);
            for &(node, ticks) in column.iter().flat_map(|column| &column.rows) {
                let Some(row) = self.rows.get_mut(row_of_node[node as usize] as usize) else {
                    continue;
                };
                let ns = snapshot.nanos(ticks);
                row.figures.self_off += if quantity == Quantity::Waiting {
                    OffCpu {
                        waiting_ns: ns,
                        ready_ns: 0,
                    }
                } else {
                    OffCpu {
                        waiting_ns: 0,
                        ready_ns: ns,
                    }
                };
            }
        }
    }

    fn merge_async_calls(&mut self, snapshot: &Snapshot, row_of_node: &[u32]) {
        if snapshot.values != Values::Time {
            return;
        }
        for quantity in [
            Quantity::Polls,
            Quantity::FutureEnds,
            Quantity::FutureCancels,
            Quantity::FutureTime,
        ] {
            let column = snapshot.measures.of(quantity);
            for &(node, value) in column.iter().flat_map(|column| &column.rows) {
                if let Some(row) = self.rows.get_mut(row_of_node[node as usize] as usize) {
                    let of_calls = |ended| AsyncCalls {
                        ended,
                        is_future: true,
                        ..AsyncCalls::default()
                    };
                    row.figures.asynchronous += if quantity == Quantity::Polls {
                        of_calls(0)
                    } else if quantity == Quantity::FutureTime {
                        AsyncCalls {
                            ticks: value,
                            ns: snapshot.nanos(value),
                            ..of_calls(0)
                        }
                    } else {
                        of_calls(value)
                    };
                }
            }
        }
    }

    fn merge_sampled(&mut self, snapshot: &Snapshot, row_of_node: &[u32]) {
        if snapshot.values == Values::Counts {
            return;
        }
        let column = snapshot.measures.of(Quantity::Sampled);
        for &(node, ticks) in column.iter().flat_map(|column| &column.rows) {
            if let Some(row) = self.rows.get_mut(row_of_node[node as usize] as usize) {
                row.figures.sampled += SampledTime {
                    ticks,
                    ns: snapshot.nanos(ticks),
                };
            }
        }
    }

    /// Merges latencies. A future's latencies are of its calls, not of its polls.
    fn merge_latencies(&mut self, snapshot: &Snapshot, row_of_node: &[u32]) {
        if snapshot.latencies.row.is_empty() && snapshot.async_latencies.row.is_empty() {
            return;
        }
        let mut latencies = vec![Histogram::default(); self.rows.len()];
        for (node, from) in snapshot.call_latencies() {
            if let Some(latency) = latencies.get_mut(row_of_node[node as usize] as usize) {
                let of_node = from.of(node);
                if latency.is_empty() {
                    *latency = of_node;
                } else {
                    latency.add(&of_node);
                }
            }
        }
        self.parts = Parts::built(latencies);
    }

    fn merge_spreads(&mut self, snapshot: &Snapshot, row_of_node: &[u32]) {
        let of_nodes = uncertainties(snapshot);
        if of_nodes.is_empty() {
            return;
        }
        self.uncertainties = vec![Uncertainty::default(); self.rows.len()];
        for (uncertainty, &row) in of_nodes.iter().zip(row_of_node) {
            if let Some(merged) = self.uncertainties.get_mut(row as usize) {
                merged.add_self(uncertainty);
                merged.add_total(uncertainty);
            }
        }
    }

    pub(super) fn sum_totals(&mut self) {
        for row in &mut self.rows {
            row.figures = row.figures.with_self_as_total();
        }
        for index in (0..self.rows.len()).rev() {
            let TreeRow { parent, figures, .. } = self.rows[index];
            if let Some(parent) = parent {
                self.rows[parent as usize].figures.add_total(&figures);
            }
        }
    }

    pub(super) fn link_children(&mut self) {
        let mut counts = vec![0u32; self.rows.len()];
        for (index, row) in self.rows.iter().enumerate() {
            match row.parent {
                Some(parent) => counts[parent as usize] += 1,
                None => self.top.push(index as u32),
            }
        }
        let mut next = 0;
        self.child_ranges = counts
            .iter()
            .map(|&count| {
                let start = next;
                next += count;
                (start, start)
            })
            .collect();
        self.children = vec![0; next as usize];
        for (index, row) in self.rows.iter().enumerate() {
            if let Some(parent) = row.parent {
                let range = &mut self.child_ranges[parent as usize];
                self.children[range.1 as usize] = index as u32;
                range.1 += 1;
            }
        }
    }

    /// Returns the rows without a parent.
    pub fn top(&self) -> &[u32] {
        &self.top
    }

    /// Visits every row, parents first, and tells whether it is the outermost of its function on its path. Totals by
    /// function count the outermost rows only.
    pub fn visit(&self, mut visit: impl FnMut(u32, bool)) {
        let mut depth_of = vec![0u32; self.functions.list.len()];
        let mut stack: Vec<(u32, bool)> = self.top().iter().map(|&row| (row, false)).collect();
        while let Some((index, leaving)) = stack.pop() {
            let function = self.rows[index as usize].function.index();
            if leaving {
                depth_of[function] -= 1;
                continue;
            }
            visit(index, depth_of[function] == 0);
            depth_of[function] += 1;
            stack.push((index, true));
            stack.extend(self.children(index).iter().map(|&child| (child, false)));
        }
    }

    /// Returns the children of a row.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn children(&self, row: u32) -> &[u32] {
        let (start, end) = self.child_ranges[row as usize];
        &self.children[start as usize..end as usize]
    }

    /// Returns the latencies of a row's finished calls; empty if no call has finished or histograms are off. A call of a
    /// future takes from its first poll to its end. The latencies of a value are its numbers.
    pub fn latency(&self, row: u32) -> &Histogram {
        self.parts.latency(row)
    }

    /// Returns a test of whether a node of the snapshot belongs to some rows, their children excluded. In a bottom-up
    /// tree, a row's nodes belong to its topmost function when called by this path.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn nodes_of(&self, rows: impl IntoIterator<Item = u32>) -> impl Fn(NodeId) -> bool {
        let mut is_part = vec![
            false;
            self.row_of_node
                .iter()
                .map(|&row| row.wrapping_add(1))
                .max()
                .unwrap_or(0) as usize
        ];
        for row in rows {
            for &part in self.parts.rows(&row) {
                is_part[part as usize] = true;
            }
        }
        let row_of_node = Arc::clone(&self.row_of_node);
        move |node| {
            let row = row_of_node.get(node.index()).copied().unwrap_or(NO_PARENT);
            is_part.get(row as usize).copied().unwrap_or(false)
        }
    }

    /// Returns whether recursive calls were folded into a row.
    pub fn is_folded(&self, row: u32) -> bool {
        self.folded.get(row as usize).copied().unwrap_or(false)
    }

    /// Returns the uncertainty of a row's times, or none if they are exact.
    pub fn uncertainty(&self, row: u32) -> Option<Uncertainty> {
        self.merged_uncertainty(row)?.if_estimated()
    }

    /// Returns the uncertainty of the sum of the totals of some rows, or none if it is exact.
    pub fn sum_of(&self, rows: &[u32]) -> Option<Uncertainty> {
        let mut sum = Uncertainty::default();
        for row in rows.iter().filter_map(|&row| self.uncertainty(row)) {
            sum.add_total(&row);
        }
        sum.if_estimated()
    }

    /// Returns the uncertainty like [`uncertainty`](Self::uncertainty), but also for an exact row of a tree with estimates.
    pub(super) fn merged_uncertainty(&self, row: u32) -> Option<Uncertainty> {
        self.uncertainties.get(row as usize).copied()
    }

    /// Returns the measured time of the chosen threads in nanoseconds: the sum of the totals of the top rows.
    pub fn measured_ns(&self) -> u64 {
        saturating_sum(self.top.iter().map(|&row| self.rows[row as usize].total_ns))
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::latency::Latencies;
    use tickscope_format::snapshot::Column;
    use tickscope_testkit::fixture;

    use super::*;

    #[test]
    fn latencies_and_errors_of_merged_rows_are_combined() {
        let mut snapshot = fixture::two_threads();
        snapshot.latencies.push(2, &fixture::calls_of(1_000, 90));
        snapshot.latencies.push(5, &fixture::calls_of(9_000, 10));
        snapshot.estimates = [(2, 30), (5, 40)]
            .map(|(row, error)| fixture::estimate(row, 25, error, error))
            .into();
        let tree = CallTree::build(&snapshot, |_| true);
        let leaf = (0..tree.rows.len() as u32)
            .find(|&row| tree.rows[row as usize].depth == 2)
            .unwrap();
        let latency = tree.latency(leaf);
        assert_eq!((latency.count(), latency.max()), (100, Some((9_000, true))));
        let uncertainty = tree.uncertainty(leaf).unwrap();
        assert_eq!(
            (uncertainty.timed, uncertainty.self_error, uncertainty.total_error),
            (50, 50.0, 50.0)
        );
        let above = tree.rows[leaf as usize].parent.unwrap();
        assert_eq!(tree.uncertainty(above), None, "nothing was stated of it");
        let main = tree.top().iter().find(|&&row| tree.children(row).is_empty());
        let main = *main.unwrap();
        assert_eq!(
            (tree.uncertainty(main), tree.latency(main).is_empty()),
            (None, true)
        );

        let one = CallTree::build(&snapshot, |thread| thread == ThreadId(1));
        assert_eq!(one.latency(2).count(), 10, "only of the threads in scope");
    }

    #[test]
    fn threads_with_the_same_path_share_a_row_and_sums_hold() {
        let snapshot = fixture::two_threads();
        let tree = CallTree::build(&snapshot, |_| true);
        for (index, row) in tree.rows.iter().enumerate() {
            let below: u64 = tree
                .children(index as u32)
                .iter()
                .map(|&c| tree.rows[c as usize].total_ns)
                .sum();
            assert_eq!(row.total_ns, row.self_ns + below);
        }
        assert_eq!(tree.measured_ns(), snapshot.self_nanos().iter().sum::<u64>());
        assert_eq!(tree.top().len(), 2, "worker is merged, main stands alone");
        let one = CallTree::build(&snapshot, |thread| thread == ThreadId(1));
        assert_eq!(one.top().len(), 1);
        let worker = tree.rows.iter().find(|row| row.path == one.rows[0].path);
        assert!(worker.is_some(), "a path has the same id in every scope");
    }

    #[test]
    fn latencies_and_means_of_futures_are_those_of_calls() {
        let mut snapshot = fixture::serving();
        let tree = CallTree::build(&snapshot, |_| true);
        let [handler, parse] = [0, 1].map(|row| tree.rows[row]);
        assert_eq!(tree.latency(0).count(), 80, "calls and not polls");
        assert_eq!(handler.asynchronous.or(100, 1), (80, 80 * 22_000_000));
        assert_eq!(parse.asynchronous.or(100, 1), (100, 1));
        // Without ended calls, a future has no mean.
        snapshot.async_latencies = Latencies::default();
        for quantity in [
            Quantity::FutureEnds,
            Quantity::FutureCancels,
            Quantity::FutureTime,
        ] {
            snapshot.measures.set(quantity, Column::default());
        }
        let tree = CallTree::build(&snapshot, |_| true);
        assert!(tree.latency(0).is_empty());
        assert_eq!(tree.rows[0].asynchronous.or(100, 1), (0, 0));
    }
}
