//! Sums of a watched function's calls by path, over all threads.
//!
//! A path begins at the outermost call of the function. Paths are numbered, and a path has a higher number than its
//! parent. The sums of running threads are read anew for each snapshot. Those of a thread that has ended are added to
//! `finished` once.

use std::collections::HashMap;

use tickscope_format::ids::{NO_PARENT, SiteId};
use tickscope_format::snapshot::{CauseKind, CauseSum, PathSums, WatchedPath};

use crate::enabled::capture::site_ids::SiteIds;
use crate::enabled::platform::sync::{Ordering, fence};
use crate::enabled::record::node::Node;
use crate::enabled::record::path_sums::{COUNTS, PathSums as NodeSums};
use crate::enabled::record::registry::Block;
use crate::enabled::record::site::Site;
use crate::enabled::record::tree::Tree;
use crate::enabled::record::typical_paths::{Means, TypicalPaths};

/// Path of a node that is not inside a watched call.
const NOWHERE: u32 = u32::MAX;

/// Path of a node whose path has not been determined yet.
const UNKNOWN: u32 = u32::MAX - 1;

#[derive(Debug, Default)]
pub(super) struct PathTotals {
    pub(super) paths: Paths,
    /// Sums of ended threads.
    finished: Vec<Counted>,
    /// Sums of all threads.
    all: Vec<Counted>,
    /// For each thread, the paths of its nodes, under the address of the thread's block.
    paths_of: HashMap<usize, Vec<u32>>,
}

/// Paths of sites, starting at the watched function.
#[derive(Debug, Default)]
pub(super) struct Paths {
    rows: Vec<PathRow>,
    known: HashMap<(u32, SiteId), u32>,
}

#[derive(Debug)]
struct PathRow {
    parent: u32,
    id: SiteId,
    site: &'static Site,
}

/// Sums of a path.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    typical: [u64; COUNTS],
    slow: [u64; COUNTS],
    /// For each kind of cause: the number of slow calls whose cause is this path, the ticks that it added to them, and
    /// how often they called the path.
    causes: [[u64; 3]; CauseKind::ALL.len()],
}

impl Paths {
    /// Returns the number of the path that extends the path `parent` by `site`. `parent` is [`NO_PARENT`] for the
    /// watched function itself.
    pub(super) fn id(&mut self, parent: u32, site: &'static Site, sites: &mut SiteIds) -> u32 {
        let id = sites.id(site);
        *self.known.entry((parent, id)).or_insert_with(|| {
            self.rows.push(PathRow { parent, id, site });
            self.rows.len() as u32 - 1
        })
    }
}

impl Counted {
    /// Returns the sums of a node, or `None` if they are all zero.
    fn of(node: &NodeSums) -> Option<Self> {
        let mut counted = Self {
            typical: node.typical.read(),
            slow: node.slow.read(),
            ..Self::default()
        };
        for (to, cause) in counted.causes.iter_mut().zip(&node.causes) {
            *to = [&cause.calls, &cause.excess_ticks, &cause.path_calls]
                .map(|count| count.load(Ordering::Relaxed));
        }
        let is_empty = |counts: &[u64]| counts.iter().all(|&count| count == 0);
        (!is_empty(&counted.typical) || !is_empty(&counted.slow)).then_some(counted)
    }

    fn add(&mut self, other: &Self) {
        let counts = [(&mut self.typical, &other.typical), (&mut self.slow, &other.slow)];
        let counts = counts.into_iter().flat_map(|(to, from)| to.iter_mut().zip(from));
        let causes = self.causes.iter_mut().flatten();
        for (to, from) in counts.chain(causes.zip(other.causes.iter().flatten())) {
            *to = to.saturating_add(*from);
        }
    }
}

/// Converts sums to the form used in snapshots. The thread may have updated its counters between the reads, so the
/// waiting and ready times are capped at the total time.
fn shown([calls, ticks, waiting, ready, allocations, allocated_bytes]: [u64; COUNTS]) -> PathSums {
    let waiting = waiting.min(ticks);
    PathSums {
        calls,
        ticks,
        waiting,
        ready: ready.min(ticks - waiting),
        allocations,
        allocated_bytes,
    }
}

impl PathTotals {
    /// Begins a reading of all threads for a snapshot.
    pub(super) fn begin_reading(&mut self) {
        self.all.clone_from(&self.finished);
    }

    /// Adds a thread's sums, if they belong to watch `number` in slot `slot`. The sums of a thread that has ended are
    /// kept, so it is read only once.
    pub(super) fn read(
        &mut self,
        slot: u32,
        number: u64,
        block: &'static Block,
        sites: &mut SiteIds,
        has_ended: bool,
    ) {
        let mut paths_of = self.paths_of.remove(&block.address()).unwrap_or_default();
        let tree = &block.tree;
        let sums = tree.watching.sums.get(slot as usize);
        let Some(sums) = sums.filter(|sums| sums.number() == number) else {
            return;
        };
        let mut read = Vec::new();
        for index in 0..tree.nodes.len() {
            if let Some(counted) = sums.nodes.get(index).and_then(Counted::of)
                && let Some(path) = path_of(&mut self.paths, &mut paths_of, tree, slot, index, sites)
            {
                read.push((path, counted));
            }
        }
        // SYNC POINT: the sums are read before their number, so sums that were cleared in the meantime are not shown.
        fence(Ordering::Acquire);
        if sums.number() != number {
            return;
        }
        let to = if has_ended {
            &mut self.finished
        } else {
            self.paths_of.insert(block.address(), paths_of);
            &mut self.all
        };
        to.resize(self.paths.rows.len(), Counted::default());
        for (path, counted) in read {
            to[path as usize].add(&counted);
        }
    }

    /// Returns each path with its sums over all threads. A path comes after its parent.
    fn rows(&self) -> impl Iterator<Item = (&PathRow, Counted)> {
        let counted = self
            .all
            .iter()
            .copied()
            .chain(std::iter::repeat(Counted::default()));
        self.paths.rows.iter().zip(counted)
    }

    /// Returns the number of typical calls and the number of slow calls.
    pub(super) fn calls(&self) -> (u64, u64) {
        let roots = self.rows().filter(|(row, _)| row.parent == NO_PARENT);
        roots.fold((0, 0), |(typical, slow), (_, counted)| {
            (typical + counted.typical[0], slow + counted.slow[0])
        })
    }

    /// Returns the means of typical calls, with which threads compare their slow calls.
    pub(super) fn typical(&self) -> TypicalPaths {
        let mut typical = TypicalPaths::default();
        // For each path, the number of typical calls of the watched function at its root.
        let mut of_function: Vec<u64> = Vec::with_capacity(self.all.len());
        for (row, counted) in self.rows() {
            let parent = (row.parent != NO_PARENT).then_some(row.parent);
            let calls = parent.map_or(counted.typical[0], |parent| of_function[parent as usize]);
            of_function.push(calls);
            typical.add(parent, row.site, Means::of(counted.typical, calls));
        }
        typical
    }

    /// Returns the sums by path and by cause, in the form used in snapshots.
    pub(super) fn shown(&self) -> (Vec<WatchedPath>, Vec<CauseSum>) {
        let mut causes = Vec::new();
        let mut paths = Vec::with_capacity(self.paths.rows.len());
        for (path, (row, counted)) in (0..).zip(self.rows()) {
            paths.push(WatchedPath {
                parent: row.parent,
                site: row.id,
                typical: shown(counted.typical),
                slow: shown(counted.slow),
            });
            for (kind, [calls, excess_ticks, path_calls]) in CauseKind::ALL.into_iter().zip(counted.causes) {
                if calls > 0 {
                    causes.push(CauseSum {
                        path,
                        kind,
                        calls,
                        excess_ticks,
                        path_calls,
                    });
                }
            }
        }
        (paths, causes)
    }
}

/// Returns the path of a node, or `None` if the node is not inside a call of the watched function.
fn path_of(
    paths: &mut Paths,
    known: &mut Vec<u32>,
    tree: &Tree,
    slot: u32,
    index: u32,
    sites: &mut SiteIds,
) -> Option<u32> {
    known.resize(known.len().max(tree.nodes.len() as usize), UNKNOWN);
    // Walks up to the nearest ancestor whose path is known, then down again, setting the paths on the way.
    let mut chain = Vec::new();
    let mut path = NOWHERE;
    for node in tree.nodes.get(index).into_iter().flat_map(Node::up) {
        match known.get(node.index() as usize) {
            None | Some(&UNKNOWN) => chain.push(node),
            Some(&of_node) => {
                path = of_node;
                break;
            }
        }
    }
    for node in chain.into_iter().rev() {
        let Some(site) = node.site.get() else {
            known[node.index() as usize] = NOWHERE;
            continue;
        };
        path = match path {
            NOWHERE if site.watch() != Some(slot) => NOWHERE,
            NOWHERE => paths.id(NO_PARENT, site, sites),
            parent => paths.id(parent, site, sites),
        };
        known[node.index() as usize] = path;
    }
    Some(path).filter(|&path| path != NOWHERE)
}
