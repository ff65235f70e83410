//! Time spent inside sets of sites, by thread. If calls of the same set are nested, only the outermost call is timed, so that no
//! time is counted twice.

use tickscope_format::ids::{NO_PARENT, ThreadId};
use tickscope_format::snapshot::Snapshot;

use crate::uncertainty::{Uncertainty, uncertainties};

/// Index of a set of sites, such as a group, in a list that the caller keeps.
pub type SetId = u32;

/// Calls and times of all sites in a set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InclusiveTime {
    /// Number of calls, including nested calls.
    pub calls: u64,
    /// Number of calls that are not nested inside another call of the set.
    pub outermost_calls: u64,
    /// Self time in ticks.
    pub self_ticks: u64,
    /// Total time of the outermost calls, in ticks.
    pub total_ticks: u64,
    /// Self time in nanoseconds.
    pub self_ns: u64,
    /// Total time of the outermost calls, in nanoseconds.
    pub total_ns: u64,
    /// Number of threads that are inside a call of the set.
    pub open: u32,
    /// Whether the total time is an estimate.
    pub estimated: bool,
    /// Standard error of the total time, in ticks.
    pub total_error: f64,
}

impl InclusiveTime {
    /// Returns whether the total time is a rough estimate.
    pub fn is_rough(&self) -> bool {
        let total = Uncertainty {
            total_error: self.total_error,
            total_estimated: self.estimated,
            ..Uncertainty::default()
        };
        total.rough(0, self.total_ticks).total_estimated
    }

    /// Adds the sums of the same set in another thread or time span.
    pub fn add(&mut self, other: &Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.outermost_calls = self.outermost_calls.saturating_add(other.outermost_calls);
        self.self_ticks = self.self_ticks.saturating_add(other.self_ticks);
        self.total_ticks = self.total_ticks.saturating_add(other.total_ticks);
        self.self_ns = self.self_ns.saturating_add(other.self_ns);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.open += other.open;
        self.estimated |= other.estimated;
        self.total_error = self.total_error.hypot(other.total_error);
    }
}

/// Returns, for each thread, the sets that have a row in it, in the order of their ids. `set_of_site` maps each site to its set,
/// or to `None` if it is in no set.
pub fn inclusive_times(
    snapshot: &Snapshot,
    set_of_site: &[Option<SetId>],
) -> Vec<Vec<(SetId, InclusiveTime)>> {
    let nodes = &snapshot.nodes;
    let self_ns = snapshot.self_nanos();
    let total_ns = nodes.totals(&self_ns);
    let total_ticks = nodes.totals(&nodes.self_ticks);
    let uncertainties = uncertainties(snapshot);
    let set_of = |row: usize| set_of_site.get(nodes.site[row] as usize).copied().flatten();
    let children = Children::of(&nodes.parent);
    let most = set_of_site.iter().flatten().max();
    let sets = most.map_or(0, |&most| most as usize + 1);
    // For each set: how many of the set's rows are above the current row, and the index of the set's sum in the thread's list.
    let mut depth = vec![0u32; sets];
    let mut place = vec![usize::MAX; sets];
    let mut stack: Vec<(u32, bool)> = Vec::new();
    let mut threads = Vec::with_capacity(snapshot.threads.len());
    for (index, thread) in snapshot.threads.iter().enumerate() {
        let mut sums: Vec<(SetId, InclusiveTime)> = Vec::new();
        let rows = snapshot.rows_of(ThreadId(index as u32));
        let top = rows.filter(|&row| nodes.parent[row] == NO_PARENT);
        stack.extend(top.map(|row| (row as u32, false)));
        while let Some((row, leaving)) = stack.pop() {
            let at = row as usize;
            if leaving {
                if let Some(set) = set_of(at) {
                    depth[set as usize] -= 1;
                }
                continue;
            }
            if let Some(set) = set_of(at) {
                let place = &mut place[set as usize];
                if *place == usize::MAX {
                    *place = sums.len();
                    sums.push((set, InclusiveTime::default()));
                }
                let outermost = depth[set as usize] == 0;
                sums[*place].1.add(&InclusiveTime {
                    calls: nodes.calls[at],
                    self_ticks: nodes.self_ticks[at],
                    self_ns: self_ns[at],
                    ..InclusiveTime::default()
                });
                if outermost {
                    let uncertainty = uncertainties.get(at).copied().unwrap_or_default();
                    sums[*place].1.add(&InclusiveTime {
                        outermost_calls: nodes.calls[at],
                        total_ticks: total_ticks[at],
                        total_ns: total_ns[at],
                        estimated: uncertainty.total_estimated,
                        total_error: uncertainty.total_error,
                        ..InclusiveTime::default()
                    });
                }
                depth[set as usize] += 1;
            }
            stack.push((row, true));
            stack.extend(children.of_row(row).map(|child| (child, false)));
        }
        for frame in &thread.open {
            let row = frame.node.index();
            let set = nodes.site.get(row).and_then(|_| set_of(row));
            if let Some((_, sum)) = set.and_then(|set| sums.get_mut(place[set as usize])) {
                sum.open = 1;
            }
        }
        for (set, _) in &sums {
            place[*set as usize] = usize::MAX;
        }
        sums.sort_by_key(|&(set, _)| set);
        threads.push(sums);
    }
    threads
}

/// The children of each row, as linked lists: each row's first child and its next sibling.
struct Children {
    first: Vec<u32>,
    next: Vec<u32>,
}

impl Children {
    fn of(parents: &[u32]) -> Self {
        let mut first = vec![NO_PARENT; parents.len()];
        let mut next = vec![NO_PARENT; parents.len()];
        for (row, &parent) in parents.iter().enumerate().rev() {
            if parent != NO_PARENT {
                next[row] = std::mem::replace(&mut first[parent as usize], row as u32);
            }
        }
        Self { first, next }
    }

    fn of_row(&self, row: u32) -> impl Iterator<Item = u32> {
        let at = |row: u32| (row != NO_PARENT).then_some(row);
        std::iter::successors(at(self.first[row as usize]), move |&row| {
            at(self.next[row as usize])
        })
    }
}
