//! Finished threads, merged by name. Each name has one tree, so that even a million short-lived threads add only a few
//! rows.

use std::collections::{BTreeMap, HashMap};

use tickscope_format::Snapshot;
use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::{Thread, ThreadState};

use crate::enabled::capture::baseline::Baseline;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use crate::enabled::capture::function_sums::FunctionSums;
use crate::enabled::capture::lines::Lines;
use crate::enabled::capture::row::{Epoch, Lost, Row};
use crate::enabled::capture::snapshot_rows::{ThreadTree, append};
use crate::enabled::platform::waiting_call::Call;
use crate::enabled::record::live_blocks::Live;
use crate::enabled::record::owner::Owner;
use crate::enabled::record::site::{Site, SiteKind};

/// Maximum number of names. Once it is reached, threads with new names share [`OTHERS`].
const NAMES_MAX: usize = 1024;

/// The name shared by all threads whose own name is not among the first [`NAMES_MAX`].
const OTHERS: &str = "(other threads)";

/// Site of the row in which calls of finished threads are counted once the maximum number of nodes is reached.
pub(crate) static PRUNED: Site = Site::named("(pruned)", "", "", 0);

#[derive(Debug, Default)]
pub(crate) struct FinishedThreads {
    by_name: BTreeMap<String, ThreadsOfAName>,
    pub(crate) lost: Lost,
    /// Total number of rows for all names.
    nodes: u32,
    /// Totals for the functions that these threads called.
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    pub(crate) functions: FunctionSums,
}

/// The finished threads of one name.
#[derive(Debug)]
struct ThreadsOfAName {
    /// Number of the name. Names are numbered in the order of their first use.
    number: u32,
    count: u64,
    /// The rows, parents before children; row 0 is the root.
    rows: Vec<Row>,
    known: HashMap<(u32, SiteId), u32>,
    baseline: Baseline,
}

impl FinishedThreads {
    /// Adds the rows and the baseline of a thread to the tree of its name. Once there are `nodes_max` rows, all new rows are
    /// merged into one. Returns the number of the name, and the index of each row in the name's tree.
    pub(crate) fn add(
        &mut self,
        name: &str,
        rows: &[Row],
        baseline: &Baseline,
        lost: Lost,
        nodes_max: u32,
        pruned: SiteId,
    ) -> (u32, Vec<u32>) {
        self.lost += lost;
        let number = self.by_name.len() as u32;
        let name = if self.by_name.contains_key(name) || self.by_name.len() < NAMES_MAX {
            name
        } else {
            OTHERS
        };
        let threads = self
            .by_name
            .entry(name.to_string())
            .or_insert_with(|| ThreadsOfAName {
                number,
                count: 0,
                rows: vec![Row::default()],
                known: HashMap::new(),
                baseline: Baseline::default(),
            });
        threads.count += 1;
        threads.baseline.absorb_thread(baseline);
        threads.baseline.absorb(0, baseline, 0);
        let mut places = vec![0u32; rows.len()];
        for (index, row) in rows.iter().enumerate().skip(1) {
            let key = (places[row.parent as usize], row.site);
            let place = match threads.known.get(&key) {
                Some(&place) => place,
                None if self.nodes < nodes_max => {
                    self.nodes += 1;
                    threads.add_row(key, row.kind)
                }
                // All further rows are merged into one, so that no count is lost. The merged row has no sum, because adding up
                // the sums of different counters would be meaningless.
                None => match threads.known.get(&(0, pruned)) {
                    Some(&place) => place,
                    None => threads.add_row((0, pruned), SiteKind::Scope),
                },
            };
            places[index] = place;
            threads.rows[place as usize].errors += row.errors;
            let place = place as usize;
            if threads.rows[place].kind == row.kind {
                threads.baseline.absorb(place, baseline, index);
            } else {
                threads.baseline.absorb_amounts(place, baseline, index);
            }
        }
        (threads.number, places)
    }

    /// Counts a call of `row` as vanished.
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    pub(crate) fn count_vanished(&mut self, row: Owner) {
        let is_of = |threads: &&mut ThreadsOfAName| Owner::of_finished(threads.number).contains(&row);
        if let Some(threads) = self.by_name.values_mut().find(is_of) {
            threads.baseline.count_vanished(row.index() as usize);
        }
    }

    /// Appends a thread for each name that has something to show.
    pub(crate) fn show(
        &mut self,
        snapshot: &mut Snapshot,
        waits_in: &mut Vec<(u32, Call, u64)>,
        live: &Live,
        lines: &Lines,
        epoch: &Epoch,
    ) {
        for (name, threads) in &mut self.by_name {
            let tree = ThreadTree {
                rows: &threads.rows,
                open: &[],
                live: &live.of(Owner::of_finished(threads.number)),
                sampled: &lines.of(Owner::of_finished(threads.number)),
            };
            let is_bare = |index| threads.baseline.is_bare(index);
            if tree.live.is_empty() && tree.sampled.is_empty() && (0..tree.rows.len()).all(is_bare) {
                threads.baseline.add_lifetime(&mut snapshot.lifetime);
                continue;
            }
            let facts = Thread {
                name: name.clone(),
                state: ThreadState::Finished,
                count: threads.count,
                cpu_ns: threads.baseline.cpu_shown(),
                ..Thread::default()
            };
            append(snapshot, waits_in, facts, tree, &mut threads.baseline, epoch);
        }
    }

    pub(crate) fn reset(&mut self) {
        self.by_name
            .values_mut()
            .for_each(|threads| threads.baseline.reset());
    }

    pub(crate) fn undo(&mut self) {
        self.by_name
            .values_mut()
            .for_each(|threads| threads.baseline.undo());
    }
}

impl ThreadsOfAName {
    fn add_row(&mut self, (parent, site): (u32, SiteId), kind: SiteKind) -> u32 {
        let place = self.rows.len() as u32;
        self.rows.push(Row {
            parent,
            site,
            errors: 0,
            kind,
        });
        self.known.insert((parent, site), place);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::enabled::capture::baseline::Counts;

    fn thread(sites: &[u32]) -> (Vec<Row>, Baseline) {
        let mut rows = vec![Row::default()];
        rows.extend(sites.iter().map(|&site| Row {
            site: SiteId(site),
            errors: 1,
            kind: match site {
                3 => SiteKind::Counter,
                _ => SiteKind::Scope,
            },
            ..Row::default()
        }));
        let mut baseline = Baseline::default();
        let one = Counts {
            calls: 1,
            ticks: 10,
            sum: 7,
            ..Counts::default()
        };
        baseline.show(&vec![one; rows.len()], &[], Some(5));
        (rows, baseline)
    }

    fn add(finished: &mut FinishedThreads, name: &str, sites: &[u32], nodes_max: u32) {
        let (rows, baseline) = thread(sites);
        finished.add(name, &rows, &baseline, Lost::default(), nodes_max, SiteId(9));
    }

    fn shown(finished: &mut FinishedThreads) -> Snapshot {
        let mut snapshot = Snapshot::default();
        finished.show(
            &mut snapshot,
            &mut Vec::new(),
            &Live::default(),
            &Lines::default(),
            &Epoch::default(),
        );
        snapshot
    }

    #[test]
    fn threads_of_one_name_share_a_tree_through_reset_and_undo() {
        let mut finished = FinishedThreads::default();
        add(&mut finished, "pool", &[1, 2], 100);
        finished.reset();
        add(&mut finished, "pool", &[2, 3], 100);
        let snapshot = shown(&mut finished);
        assert_eq!((snapshot.threads.len(), snapshot.threads[0].count), (1, 2));
        assert_eq!((snapshot.calls(), snapshot.lifetime.calls), (2, 4));
        assert_eq!(snapshot.sums(), [None, Some(7)]);
        assert_eq!(snapshot.nodes.self_ticks.iter().sum::<u64>(), 20);
        assert_eq!(snapshot.threads[0].cpu_ns, Some(5));
        finished.undo();
        let snapshot = shown(&mut finished);
        assert_eq!((snapshot.calls(), snapshot.threads[0].cpu_ns), (4, Some(10)));
    }

    #[test]
    fn beyond_the_limits_all_is_still_counted() {
        let mut finished = FinishedThreads::default();
        for name in 0..NAMES_MAX + 10 {
            add(&mut finished, &format!("t{name}"), &[1, 2, 3], 50);
        }
        let snapshot = shown(&mut finished);
        assert_eq!(snapshot.lifetime.calls, 3 * (NAMES_MAX as u64 + 10));
        assert_eq!(snapshot.calls(), snapshot.lifetime.calls);
        assert_eq!(snapshot.threads.len(), NAMES_MAX + 1);
        let mut threads = snapshot.threads.iter();
        assert!(threads.any(|thread| thread.name == OTHERS && thread.count == 10));
        assert!(snapshot.nodes.site.contains(&9));
    }
}
