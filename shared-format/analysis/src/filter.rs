//! Parts of a snapshot, as snapshots: chosen threads, or the rows above a share of the time.

use std::collections::{BTreeMap, HashMap};

use tickscope_format::ids::{NO_PARENT, NodeId, SiteId, ThreadId};
use tickscope_format::snapshot::{
    Estimate, Lines, Measures, NodeErrors, Nodes, OpenFrame, Site, Snapshot, Tally, Thread, WaitsIn,
};

use crate::functions::{FunctionId, Functions};
use crate::measure::Measure;
use crate::uncertainty::{Uncertainty, uncertainties};

/// The name of the row in which [`above`] sums up what it leaves out.
pub const SMALL: &str = "(small)";

/// Returns the snapshot with some of its threads only. Data of the whole program (cost, losses, lifetime) stays.
pub fn of_threads(snapshot: &Snapshot, chosen: impl Fn(ThreadId) -> bool) -> Snapshot {
    Part::of(snapshot, chosen, &vec![true; snapshot.nodes.len()], Left::Summed)
}

/// The same snapshot with some of its rows only; one whose parent is left out stands at the top of its thread.
pub(super) fn of_rows(snapshot: &Snapshot, kept: &[bool]) -> Snapshot {
    Part::of(snapshot, |_| true, kept, Left::Out)
}

/// Returns the snapshot without the paths that have less than a share (0 to 1) of what all threads have of a measure.
/// They are summed up in a row called [`SMALL`] below the same parent, so that all totals stay the same.
pub fn above(snapshot: &Snapshot, measure: Measure, share: f64) -> Snapshot {
    let values = measure.self_values(snapshot);
    let all: u64 = values.iter().fold(0, |sum, &value| sum.saturating_add(value));
    let (path_of, value_of) = paths(snapshot, &values);
    let least = all as f64 * share;
    let mut kept: Vec<bool> = path_of
        .iter()
        .map(|&path| value_of[path as usize] as f64 >= least)
        .collect();
    // A counter has no value: it stays with what it stands in, unless a scope of its name is small there.
    let mut has_scope = vec![false; value_of.len()];
    let mut counters = snapshot.counts.iter().map(|count| count.node.index()).peekable();
    for (row, &path) in path_of.iter().enumerate() {
        has_scope[path as usize] |= counters.next_if_eq(&row).is_none();
    }
    for count in &snapshot.counts {
        let row = count.node.index();
        let parent = snapshot.nodes.parent_of(count.node);
        kept[row] |= !has_scope[path_of[row] as usize] && parent.is_none_or(|parent| kept[parent.index()]);
    }
    Part::of(snapshot, |_| true, &kept, Left::Summed)
}

/// The path of each row, the same number in every thread, and the total of each path.
fn paths(snapshot: &Snapshot, values: &[u64]) -> (Vec<u32>, Vec<u64>) {
    let nodes = &snapshot.nodes;
    let functions = Functions::of(snapshot);
    let totals = nodes.totals(values);
    let mut known: HashMap<(u32, FunctionId), u32> = HashMap::with_capacity(nodes.len());
    let mut path_of = Vec::with_capacity(nodes.len());
    let mut value_of: Vec<u64> = Vec::new();
    for ((&parent, &site), &total) in nodes.parent.iter().zip(&nodes.site).zip(&totals) {
        let above = match parent {
            NO_PARENT => NO_PARENT,
            parent => path_of[parent as usize],
        };
        let function = functions.of_site[site as usize];
        let path = *known.entry((above, function)).or_insert_with(|| {
            value_of.push(0);
            value_of.len() as u32 - 1
        });
        path_of.push(path);
        let value = &mut value_of[path as usize];
        *value = value.saturating_add(total);
    }
    (path_of, value_of)
}

/// What becomes of rows that are not taken over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// They and all below them are summed up below their parent.
    Summed,
    /// They are not there.
    Out,
}

/// What is taken over, and where it stands now.
struct Part<'a> {
    whole: &'a Snapshot,
    left: Left,
    part: Snapshot,
    /// The new row of each old one, [`NO_PARENT`] where it is left out.
    row_of: Vec<u32>,
    /// The row that sums up what is left out below a new row, or at the top of a thread by its number.
    small_of: HashMap<(u32, usize), u32>,
    /// Of the whole.
    total_ticks: Vec<u64>,
    total_calls: Vec<u64>,
    uncertainties: Vec<Uncertainty>,
    tallies: Vec<Option<Tally>>,
    errors: HashMap<NodeId, u64>,
}

/// What was left out below one row.
#[derive(Default)]
struct Small {
    calls: u64,
    ticks: u64,
    uncertainty: Uncertainty,
    errors: u64,
}

impl<'a> Part<'a> {
    fn of(whole: &'a Snapshot, chosen: impl Fn(ThreadId) -> bool, kept: &[bool], left: Left) -> Snapshot {
        let mut errors = HashMap::new();
        for error in &whole.errors {
            *errors.entry(error.node).or_default() += error.count;
        }
        let mut part = Self {
            whole,
            left,
            part: Snapshot {
                threads: Vec::new(),
                nodes: Nodes::default(),
                errors: Vec::new(),
                latencies: Default::default(),
                async_latencies: Default::default(),
                estimates: Vec::new(),
                counts: Vec::new(),
                value_rows: Vec::new(),
                gauge_rows: Vec::new(),
                measures: Measures::default(),
                waits_in: WaitsIn::default(),
                lines: Lines::default(),
                ..whole.clone()
            },
            row_of: vec![NO_PARENT; whole.nodes.len()],
            small_of: HashMap::new(),
            total_ticks: whole.nodes.totals(&whole.nodes.self_ticks),
            total_calls: whole.nodes.totals(&whole.nodes.calls),
            uncertainties: uncertainties(whole),
            tallies: whole.tallies(),
            errors,
        };
        let mut thread_of = vec![NO_PARENT; whole.threads.len()];
        for (index, thread) in whole.threads.iter().enumerate() {
            let id = ThreadId(index as u32);
            if chosen(id) {
                thread_of[index] = part.part.threads.len() as u32;
                part.add(thread, whole.rows_of(id), kept);
            }
        }
        part.add_measures(&thread_of);
        part.part
    }

    fn add(&mut self, thread: &Thread, rows: std::ops::Range<usize>, kept: &[bool]) {
        let first_row = self.part.nodes.len() as u32;
        // By the parent's new row, so that the order is that of the rows.
        let mut small: BTreeMap<u32, Small> = BTreeMap::new();
        for row in rows {
            let (above, is_above_kept) = match self.whole.nodes.parent[row] {
                NO_PARENT => (NO_PARENT, true),
                parent => (self.row_of[parent as usize], kept[parent as usize]),
            };
            if self.left == Left::Out {
                if kept[row] {
                    self.take_over(row, above);
                }
            } else if kept[row] && is_above_kept {
                self.take_over(row, above);
            } else if is_above_kept {
                self.leave_out(row, small.entry(above).or_default());
            }
        }
        for (above, small) in small {
            let row = self.add_small(above, &small);
            self.small_of.insert((above, self.part.threads.len()), row);
        }
        let open = thread.open.iter();
        let open = open.filter_map(|frame| {
            let row = *self.row_of.get(frame.node.index())?;
            (row != NO_PARENT).then_some(OpenFrame {
                node: NodeId(row),
                ..*frame
            })
        });
        self.part.threads.push(Thread {
            first_row,
            rows: self.part.nodes.len() as u32 - first_row,
            open: open.collect(),
            ..thread.clone()
        });
    }

    fn take_over(&mut self, row: usize, above: u32) {
        let old = NodeId(row as u32);
        let nodes = &self.whole.nodes;
        let new = self.part.nodes.push(
            (above != NO_PARENT).then_some(NodeId(above)),
            SiteId(nodes.site[row]),
            nodes.calls[row],
            nodes.self_ticks[row],
        );
        self.row_of[row] = new.0;
        self.part.latencies.push(new.0, &self.whole.latencies.of(old.0));
        let of_calls = self.whole.async_latencies.of(old.0);
        self.part.async_latencies.push(new.0, &of_calls);
        if let Some(&count) = self.errors.get(&old) {
            self.part.errors.push(NodeErrors { node: new, count });
        }
        if let Some(tally) = self.tallies[row] {
            self.part.push_tally(new, tally);
        }
        if let Some(estimate) = self.whole.estimate_of(old) {
            self.part.estimates.push(Estimate {
                node: new,
                ..*estimate
            });
        }
    }

    fn leave_out(&self, row: usize, small: &mut Small) {
        small.calls = small.calls.saturating_add(self.total_calls[row]);
        small.ticks = small.ticks.saturating_add(self.total_ticks[row]);
        let errors = self.errors.get(&NodeId(row as u32));
        small.errors = small.errors.saturating_add(errors.copied().unwrap_or(0));
        if let Some(uncertainty) = self.uncertainties.get(row) {
            small.uncertainty.add_self(uncertainty);
            small.uncertainty.add_total(uncertainty);
        }
    }

    /// Adds what was measured beside time. Below rows that were left out it goes to the row that sums them up.
    fn add_measures(&mut self, thread_of: &[u32]) {
        let of_whole = self.whole;
        if of_whole.measures.is_empty() && of_whole.waits_in.is_empty() && of_whole.lines.is_empty() {
            return;
        }
        let mut place = vec![NO_PARENT; self.whole.nodes.len()];
        for (thread, &new) in (0..).zip(thread_of).filter(|&(_, &new)| new != NO_PARENT) {
            for row in self.whole.rows_of(ThreadId(thread)) {
                place[row] = match (self.row_of[row], self.whole.nodes.parent[row]) {
                    (NO_PARENT, _) if self.left == Left::Out => NO_PARENT,
                    (NO_PARENT, parent) => {
                        let above = self.row_of.get(parent as usize).copied().unwrap_or(NO_PARENT);
                        let is_first = parent == NO_PARENT || above != NO_PARENT;
                        if is_first {
                            let small = self.small_of.get(&(above, new as usize));
                            small.copied().unwrap_or(NO_PARENT)
                        } else {
                            place[parent as usize]
                        }
                    }
                    (row, _) => row,
                };
            }
        }
        self.part.measures.add_at(&self.whole.measures, &place, thread_of);
        self.part.waits_in = self.whole.waits_in.moved(&place, thread_of);
        self.part.lines = self.whole.lines.moved(&place, thread_of);
    }

    /// Returns the row.
    fn add_small(&mut self, above: u32, small: &Small) -> u32 {
        let site = self.small_site();
        let parent = (above != NO_PARENT).then_some(NodeId(above));
        let node = self.part.nodes.push(parent, site, small.calls, small.ticks);
        if small.errors > 0 {
            self.part.errors.push(NodeErrors {
                node,
                count: small.errors,
            });
        }
        if small.uncertainty.self_estimated || small.uncertainty.total_estimated {
            // What was the total of the rows left out is this row's own time.
            let error = small.uncertainty.total_error.round() as u64;
            self.part.estimates.push(Estimate {
                node,
                timed: small.uncertainty.timed.min(small.calls),
                self_error: error,
                total_error: error,
            });
        }
        node.0
    }

    /// The site of the rows called [`SMALL`], behind all others.
    fn small_site(&mut self) -> SiteId {
        let sites = &mut self.part.sites;
        if sites.len() == self.whole.sites.len() {
            sites.push(Site {
                name: SMALL.into(),
                ..Site::default()
            });
        }
        SiteId(sites.len() as u32 - 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tickscope_format::codec;
    use tickscope_testkit::fixture;
    use tickscope_testkit::fixture::programs as fixtures;

    use super::*;
    use crate::call_tree::CallTree;

    #[test]
    fn one_thread_of_three() {
        let whole = fixtures::order_sim_adaptive();
        let id = ThreadId(1);
        let part = of_threads(&whole, |thread| thread == id);
        assert_eq!(part.threads.len(), 1);
        assert_eq!(part.threads[0].name, "match-1");
        let rows = whole.rows_of(id);
        assert_eq!(part.nodes.self_ticks, whole.nodes.self_ticks[rows.clone()]);
        for (new, old) in rows.enumerate() {
            let (new, old) = (NodeId(new as u32), NodeId(old as u32));
            assert_eq!(part.latencies.of(new.0), whole.latencies.of(old.0));
            let errors = |s: &Snapshot, row| s.estimate_of(row).map(|e| (e.timed, e.self_error));
            assert_eq!(errors(&part, new), errors(&whole, old));
        }
        let open: Vec<u32> = part.threads[0].open.iter().map(|frame| frame.node.0).collect();
        assert_eq!(open, [0, 1, 2, 3]);
    }

    #[test]
    fn small_rows_become_one_below_their_parent() {
        let whole = fixture::two_threads();
        // 12 250 012 ticks in all, of them 250 000 in main.
        let part = above(&whole, Measure::Time, 0.05);
        let names: Vec<&str> = (0..part.nodes.len())
            .map(|row| part.site_of(NodeId(row as u32)).name.as_str())
            .collect();
        let worker = ["worker", "insert", "Tree::rebalance"];
        assert_eq!(names, [&worker[..], &worker, &[SMALL]].concat());
        assert_eq!(part.nodes.calls[6], 2);
        assert_eq!(part.errors[0].node, NodeId(6), "its errors went along");
        assert_eq!(part.threads[2].rows, 1);
        assert_eq!(
            above(&whole, Measure::Time, 0.0),
            whole,
            "nothing is below nothing"
        );
    }

    proptest! {
        #[test]
        fn totals_of_what_stays_are_what_they_were(whole in fixtures::any_snapshot(), share in 0.0..1.0f64) {
            let part = above(&whole, Measure::Time, share);
            prop_assert_eq!(part.measured_ticks(), whole.measured_ticks());
            prop_assert_eq!(part.calls(), whole.calls());
            let (all, some) = (CallTree::build(&whole, |_| true), CallTree::build(&part, |_| true));
            for row in &some.rows {
                if some.functions.get(row.function).name != SMALL {
                    let same = all.rows.iter().find(|other| other.path == row.path).unwrap();
                    prop_assert_eq!(same.total_ticks, row.total_ticks);
                    let stays = same.total_ns as f64 >= all.measured_ns() as f64 * share;
                    prop_assert!(stays || row.tally.is_some());
                }
            }
            let mut bytes = Vec::new();
            codec::encode(&part, &mut bytes).unwrap();
            prop_assert_eq!(codec::decode(&bytes).unwrap(), part, "it is a sound snapshot");
        }

        #[test]
        fn threads_apart_add_up_to_all(whole in fixtures::any_snapshot()) {
            let ticks = (0..whole.threads.len() as u32)
                .map(|id| of_threads(&whole, |thread| thread == ThreadId(id)).measured_ticks())
                .sum::<u64>();
            prop_assert_eq!(ticks, whole.measured_ticks());
        }
    }
}
