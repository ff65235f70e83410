//! Gives two snapshots the same rows, so that they can be compared row by row.

use std::collections::{HashMap, VecDeque};

use tickscope_format::ids::{NO_PARENT, NodeId, SiteId, ThreadId};
use tickscope_format::snapshot::{Nodes, Part, RowMap, Site, Snapshot, Tally, Thread};

use crate::call_tree::both_tallies;
use crate::thread_names::after_end;
use crate::window::numbered;

/// The same two snapshots over the same sites, threads and rows: what only one of them has stands in the other with
/// nothing counted. They may be of different runs, and of different builds: rows are matched by thread and path of
/// functions, threads by name and id, then by name.
///
/// The threads of the later one keep their ids; those that only the earlier one has follow.
pub fn align(later: &Snapshot, earlier: &Snapshot) -> (Snapshot, Snapshot) {
    let (of_later, of_earlier) = numbered(&later.sites, &earlier.sites, |site| (&site.module, &site.name));
    let mut sites = later.sites.clone();
    let earlier_sites = merged_sites(&mut sites, &earlier.sites, &of_later, &of_earlier);
    let pairs = pairs(later, earlier);

    let mut nodes = Nodes::default();
    nodes.reserve(later.nodes.len());
    let mut rows_of_later = vec![NO_PARENT; later.nodes.len()];
    let mut rows_of_earlier = vec![NO_PARENT; earlier.nodes.len()];
    let mut ranges = Vec::with_capacity(pairs.len());
    let mut known: HashMap<(u32, u32), u32> = HashMap::with_capacity(later.nodes.len());
    // The function of each row.
    let mut functions: Vec<u32> = Vec::with_capacity(later.nodes.len());
    for (now, then) in &pairs {
        let first = nodes.len() as u32;
        known.clear();
        let above = |parents: &[u32], row: usize, rows: &[u32]| match parents[row] {
            NO_PARENT => NO_PARENT,
            parent => rows[parent as usize],
        };
        for row in now.iter().flat_map(|&thread| later.rows_of(thread)) {
            let parent = above(&later.nodes.parent, row, &rows_of_later);
            let site = later.nodes.site[row];
            let id = push(&mut nodes, parent, site);
            functions.push(of_later[site as usize]);
            known.entry((parent, of_later[site as usize])).or_insert(id);
            rows_of_later[row] = id;
        }
        for row in then.iter().flat_map(|&thread| earlier.rows_of(thread)) {
            let parent = above(&earlier.nodes.parent, row, &rows_of_earlier);
            let site = earlier.nodes.site[row] as usize;
            rows_of_earlier[row] = *known.entry((parent, of_earlier[site])).or_insert_with(|| {
                functions.push(of_earlier[site]);
                push(&mut nodes, parent, earlier_sites[site])
            });
        }
        ranges.push((first, nodes.len() as u32 - first));
    }

    let threads = pairs
        .iter()
        .zip(ranges)
        .map(|((now, then), (first_row, rows))| Thread {
            first_row,
            rows,
            ..absent(match now {
                Some(now) => &later.threads[now.index()],
                None => &earlier.threads[then[0].index()],
            })
        });
    let threads: Vec<Thread> = threads.collect();
    let mut threads_of_earlier = vec![NO_PARENT; earlier.threads.len()];
    for (index, (_, then)) in (0..).zip(&pairs) {
        for thread in then {
            threads_of_earlier[thread.index()] = index;
        }
    }
    // Those of the later one keep their places.
    let threads_of_later: Vec<u32> = (0..later.threads.len() as u32).collect();
    let side = |snapshot: &Snapshot, site_of: Option<&[u32]>, rows: &[u32], thread_of: Vec<u32>| {
        let mut side = snapshot.facts();
        if let Some(site_of) = site_of {
            side.move_sites(site_of);
        }
        (side.sites, side.nodes, side.threads) = (sites.clone(), nodes.clone(), threads.clone());
        for (thread, &to) in snapshot.threads.iter().zip(&thread_of) {
            let count = &mut side.threads[to as usize].count;
            *count = count.saturating_add(thread.count);
        }
        let map = RowMap {
            rows: rows.to_vec(),
            threads: thread_of,
            sums: None,
        };
        side.gather(&[Part::now(snapshot, map)]);
        side
    };
    let mut now = side(later, None, &rows_of_later, threads_of_later);
    let mut then = side(
        earlier,
        Some(&earlier_sites),
        &rows_of_earlier,
        threads_of_earlier,
    );
    share_counters(
        [(&mut now, &rows_of_later), (&mut then, &rows_of_earlier)],
        &functions,
    );
    (now, then)
}

/// What one of the two has not is a counter there where its path is one: in other threads of the same, or else in the
/// other of the two. `functions` are those of the rows.
fn share_counters(sides: [(&mut Snapshot, &[u32]); 2], functions: &[u32]) {
    if sides.iter().all(|(side, _)| side.counts.is_empty()) {
        return;
    }
    let paths = paths(&sides[0].0.nodes, functions);
    // Of the rows that a side had, by path: what all of them are that are counters.
    let tallies = sides.each_ref().map(|(side, _)| side.tallies());
    let kinds = [0, 1].map(|at| {
        let mut kinds: HashMap<u32, Option<Tally>> = HashMap::new();
        for row in taken(sides[at].1) {
            let kind = kinds.entry(paths[row]).or_insert(Some(Tally::Nothing));
            *kind = both_tallies(*kind, tallies[at][row].map(Tally::emptied));
        }
        kinds
    });
    for ((at, (side, rows)), tallies) in sides.into_iter().enumerate().zip(tallies) {
        let mut had = vec![false; paths.len()];
        taken(rows).for_each(|row| had[row] = true);
        let kind = |path: &u32| kinds[at].get(path).or_else(|| kinds[1 - at].get(path));
        side.clear_tallies();
        for (row, (had, path)) in (0..).zip(had.iter().zip(&paths)) {
            let tally = match had {
                true => tallies[row],
                false => kind(path).copied().flatten(),
            };
            if let Some(tally) = tally {
                side.push_tally(NodeId(row as u32), tally);
            }
        }
    }
}

/// Where the rows of a snapshot came to be; a row of no thread is nowhere.
fn taken(rows: &[u32]) -> impl Iterator<Item = usize> {
    rows.iter()
        .filter(|&&row| row != NO_PARENT)
        .map(|&row| row as usize)
}

/// The path of functions at which each row is, counted from 0, whatever its thread.
fn paths(nodes: &Nodes, functions: &[u32]) -> Vec<u32> {
    let mut known: HashMap<(u32, u32), u32> = HashMap::with_capacity(functions.len());
    let mut paths: Vec<u32> = Vec::with_capacity(functions.len());
    for (&parent, &function) in nodes.parent.iter().zip(functions) {
        let above = paths.get(parent as usize).copied().unwrap_or(NO_PARENT);
        let next = known.len() as u32;
        paths.push(*known.entry((above, function)).or_insert(next));
    }
    paths
}

/// Adds the sites of functions that are not there yet; gives where each earlier site is found.
fn merged_sites(sites: &mut Vec<Site>, earlier: &[Site], of_later: &[u32], of_earlier: &[u32]) -> Vec<u32> {
    let mut place: HashMap<u32, u32> = HashMap::with_capacity(of_later.len());
    for (index, &function) in (0..).zip(of_later) {
        place.entry(function).or_insert(index);
    }
    let found = earlier.iter().zip(of_earlier).map(|(site, function)| {
        *place.entry(*function).or_insert_with(|| {
            sites.push(site.clone());
            sites.len() as u32 - 1
        })
    });
    found.collect()
}

/// Each thread of the later snapshot with those of the earlier one that it stands for, then those that have none.
fn pairs(later: &Snapshot, earlier: &Snapshot) -> Vec<(Option<ThreadId>, Vec<ThreadId>)> {
    let ids = |snapshot: &Snapshot| (0..snapshot.threads.len() as u32).map(ThreadId);
    let mut pairs: Vec<(Option<ThreadId>, Vec<ThreadId>)> =
        ids(later).map(|id| (Some(id), Vec::new())).collect();
    let mut by_id: HashMap<(&str, u32), usize> = HashMap::new();
    for (index, thread) in later.threads.iter().enumerate() {
        by_id.entry((&thread.name, thread.tid)).or_insert(index);
    }
    let mut left = Vec::new();
    for id in ids(earlier) {
        let thread = &earlier.threads[id.index()];
        match by_id.get(&(thread.name.as_str(), thread.tid)) {
            Some(&index) => pairs[index].1.push(id),
            None => left.push(id),
        }
    }
    let mut free: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (index, thread) in later.threads.iter().enumerate() {
        if pairs[index].1.is_empty() {
            free.entry(&thread.name).or_default().push_back(index);
        }
    }
    for id in left {
        let name = earlier.threads[id.index()].name.as_str();
        let same_name = free.get_mut(name).and_then(VecDeque::pop_front);
        // Who is not there any more was folded into the row of those that have ended.
        let ended = || by_id.get(&(name, 0)).copied();
        let with_its_process = || by_id.get(&(after_end(name)?.as_str(), 0)).copied();
        match same_name.or_else(ended).or_else(with_its_process) {
            Some(index) => pairs[index].1.push(id),
            None => pairs.push((None, vec![id])),
        }
    }
    pairs
}

fn push(nodes: &mut Nodes, parent: u32, site: u32) -> u32 {
    let parent = (parent != NO_PARENT).then_some(NodeId(parent));
    nodes.push(parent, SiteId(site), 0, 0).0
}

/// A thread of this name in which nothing was counted.
fn absent(thread: &Thread) -> Thread {
    Thread {
        name: thread.name.clone(),
        tid: thread.tid,
        state: thread.state,
        count: 0,
        ..Thread::default()
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::{SeenCost, Snapshot};
    use tickscope_testkit::fixture;

    use super::align;

    #[test]
    fn what_is_known_of_the_whole_stays_known() {
        let mut later = fixture::slow_frames();
        later.waits = true;
        later.drains_ns = Some(3.0);
        later.seen_cost = Some(SeenCost { looks: 5, ns: 2.0 });
        let mut earlier = fixture::over_budget();
        let name = over_budget(&earlier);
        earlier.waits = true;
        let (now, then) = align(&later, &earlier);
        assert!(now.waits && then.waits);
        assert_eq!(now.watches, later.watches);
        assert_eq!((now.drains_ns, now.seen_cost), (later.drains_ns, later.seen_cost));
        assert_eq!(over_budget(&then), name, "in the numbers of both");
        let serving = fixture::serving();
        let tasks = |s: &Snapshot| {
            let paths = s.tasks.paths.iter();
            let of_site = paths.map(|path| (s.sites[path.site.index()].clone(), path.in_flight));
            of_site.collect::<Vec<_>>()
        };
        let (_, then) = align(&later, &serving);
        assert!(!tasks(&serving).is_empty() && tasks(&then) == tasks(&serving));
        assert_eq!(then.tasks.ages, serving.tasks.ages);
    }

    /// The name of the first function that is over the budget.
    fn over_budget(snapshot: &Snapshot) -> String {
        snapshot.sites[snapshot.over_budget()[0].site.index()]
            .name
            .clone()
    }
}
