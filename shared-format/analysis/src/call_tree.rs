//! The call tree: the rows of the chosen threads, merged by path of functions, with total times.

mod figures;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use tickscope_format::ids::{NO_PARENT, NodeId, ThreadId};
use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::{Now, Quantity, Snapshot, Values, saturating_sum};

pub(crate) use self::figures::both_tallies;
pub use self::figures::{AsyncCalls, Figures, OffCpu, SampledTime};
use crate::functions::{FNV_SEED, FunctionId, Functions, OTHERS, fnv1a};
use crate::parts::Parts;
use crate::uncertainty::{Uncertainty, uncertainties};

/// Hash of the functions on a path that starts at the top of a thread. Equal paths have equal hashes in all snapshots and runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u64);

/// A row of the tree: a function on one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeRow {
    /// Path of the row. It also identifies the row in other snapshots.
    pub path: PathId,
    /// Index of the parent row; `None` at the top.
    pub parent: Option<u32>,
    /// Function at the end of the path.
    pub function: FunctionId,
    /// Depth of the row, 0 at the top.
    pub depth: u32,
    /// Calls and times of the row, summed over the chosen threads.
    pub figures: Figures,
}

/// The merged call tree of a snapshot.
#[derive(Clone, Debug, Default)]
pub struct CallTree {
    /// The functions to which [`TreeRow::function`] refers.
    pub functions: Arc<Functions>,
    /// The rows, parents before children.
    pub rows: Vec<TreeRow>,
    /// Ticks that the chosen threads spent outside any scope.
    pub outside_ticks: u64,
    /// By node of the snapshot: its row in the tree before any transformation, or [`NO_PARENT`] if its thread was not chosen.
    row_of_node: Arc<Vec<u32>>,
    pub(super) parts: Parts,
    /// Uncertainties by row; empty if all times are exact.
    pub(super) uncertainties: Vec<Uncertainty>,
    /// By row: whether recursive calls were folded into it. Empty if no row contains such calls.
    pub(super) folded: Vec<bool>,
    children: Vec<u32>,
    child_ranges: Vec<(u32, u32)>,
    top: Vec<u32>,
}

impl PathId {
    /// The empty path, which is the parent of the paths at the top.
    pub(super) const TOP: Self = Self(FNV_SEED);

    /// Returns this path, extended by the function with the given key.
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
    /// Builds the tree from the threads for which `in_scope` returns true.
    ///
    /// Rows are in the order in which they first occur in the snapshot. They are not sorted.
    pub fn build(snapshot: &Snapshot, in_scope: impl FnMut(ThreadId) -> bool) -> Self {
        Self::build_of(snapshot, Arc::new(Functions::of(snapshot)), in_scope)
    }

    /// Returns the function that calls a row's function. Parent rows that group several functions are skipped.
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

    /// Builds a tree like [`build`](Self::build), but from functions that were already determined for this snapshot, or for
    /// another one with the same sites.
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
                let row = row_of_node.get(frame.node.index());
                if let Some(row) = row.and_then(|&row| tree.rows.get_mut(row as usize)) {
                    row.figures.open += 1;
                    row.figures.waiting += waits;
                }
            }
        }
        for error in &snapshot.errors {
            let row = row_of_node.get(error.node.index());
            if let Some(row) = row.and_then(|&row| tree.rows.get_mut(row as usize)) {
                row.figures.errors = row.figures.errors.saturating_add(error.count);
            }
        }
        tree.merge_measures(snapshot, &row_of_node);
        tree.merge_latencies(snapshot, &row_of_node);
        tree.merge_spreads(snapshot, &row_of_node);
        tree.sum_totals();
        tree.link_children();
        tree.row_of_node = Arc::new(row_of_node);
        tree
    }

    /// Returns a tree without rows, to be filled with the result of transforming `of`.
    pub(super) fn without_rows(of: &Self) -> Self {
        Self {
            functions: Arc::clone(&of.functions),
            outside_ticks: of.outside_ticks,
            row_of_node: Arc::clone(&of.row_of_node),
            ..Self::default()
        }
    }

    /// Merges the measures of the snapshot: time off the CPU, sampled time, and the calls of futures.
    fn merge_measures(&mut self, snapshot: &Snapshot, row_of_node: &[u32]) {
        let mut merge = |quantity, add: &dyn Fn(&mut Figures, u64, u64)| {
            let column = snapshot.measures.of(quantity);
            for &(node, value) in column.iter().flat_map(|column| &column.rows) {
                if let Some(row) = self.rows.get_mut(row_of_node[node as usize] as usize) {
                    add(&mut row.figures, value, snapshot.nanos(value));
                }
            }
        };
        let off = OffCpu::default();
        merge(Quantity::Waiting, &|row, _, waiting_ns| {
            row.self_off += OffCpu { waiting_ns, ..off };
        });
        merge(Quantity::Ready, &|row, _, ready_ns| {
            row.self_off += OffCpu { ready_ns, ..off };
        });
        merge(Quantity::Sampled, &|row, ticks, ns| {
            row.sampled += SampledTime {
                is_there: true,
                ticks,
                ns,
            };
        });
        if snapshot.values != Values::Time {
            return;
        }
        let of_future = AsyncCalls {
            is_future: true,
            ..AsyncCalls::default()
        };
        merge(Quantity::Polls, &|row, _, _| row.asynchronous += of_future);
        for quantity in [Quantity::FutureEnds, Quantity::FutureCancels] {
            merge(quantity, &|row, ended, _| {
                row.asynchronous += AsyncCalls { ended, ..of_future };
            });
        }
        merge(Quantity::FutureTime, &|row, ticks, ns| {
            row.asynchronous += AsyncCalls {
                ticks,
                ns,
                ..of_future
            };
        });
    }

    /// Merges the latencies. For a future, these are the latencies of its calls, not of its polls.
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

    /// Calls `visit` for every row, parents first. The second argument of `visit` tells whether the row is outermost, which
    /// means that no row above it belongs to the same function. Sums by function must add the totals of outermost rows only.
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

    /// Returns the latencies of a row's finished calls; empty if no call has finished or histograms are off. The latency of a
    /// future's call is the time from its first poll to its end. If the row is a value instead of a scope, the histogram
    /// contains the numbers that were recorded for it.
    pub fn latency(&self, row: u32) -> &Histogram {
        self.parts.latency(row)
    }

    /// Returns a predicate that tells whether a node of the snapshot belongs to one of `rows`. A row does not include
    /// the nodes of its children. In a bottom-up tree, the nodes of a row belong to its topmost function, when it is
    /// called along the row's path.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn nodes_of(&self, rows: impl IntoIterator<Item = u32>) -> impl Fn(NodeId) -> bool {
        let ends = self.row_of_node.iter().map(|&row| row.wrapping_add(1));
        let mut is_part = vec![false; ends.max().unwrap_or(0) as usize];
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

    /// Returns whether a row contains recursive calls that a transformation folded into it.
    pub fn is_folded(&self, row: u32) -> bool {
        self.folded.get(row as usize).copied().unwrap_or(false)
    }

    /// Returns the uncertainty of a row's times, or `None` if they are exact.
    pub fn uncertainty(&self, row: u32) -> Option<Uncertainty> {
        self.merged_uncertainty(row)?.if_estimated()
    }

    /// Returns the uncertainty of the sum of these rows' totals, or `None` if the sum is exact.
    pub fn sum_of(&self, rows: &[u32]) -> Option<Uncertainty> {
        let mut sum = Uncertainty::default();
        for row in rows.iter().filter_map(|&row| self.uncertainty(row)) {
            sum.add_total(&row);
        }
        sum.if_estimated()
    }

    /// Returns the same as [`uncertainty`](Self::uncertainty), except that exact rows also get an uncertainty if any row of the
    /// tree is estimated.
    pub(super) fn merged_uncertainty(&self, row: u32) -> Option<Uncertainty> {
        self.uncertainties.get(row as usize).copied()
    }

    /// Returns the measured time of the chosen threads in nanoseconds: the sum of the totals of the top rows.
    pub fn measured_ns(&self) -> u64 {
        saturating_sum(self.top.iter().map(|&row| self.rows[row as usize].total_ns))
    }
}
