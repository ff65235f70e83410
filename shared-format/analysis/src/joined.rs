//! Joins the threads and rows of several snapshots into one set of rows. Rows on the same path of the same thread become one row.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use tickscope_format::ids::{NO_PARENT, NodeId, SiteId, ThreadId};
use tickscope_format::snapshot::{Nodes, RowMap, Site, Sites, Snapshot, Thread};

use crate::index_map::IndexMap;
use crate::thread_names::after_end;

/// Identifies a thread across several snapshots: the index of its snapshot, and the thread's id in that snapshot.
pub(crate) type Of = (usize, ThreadId);

/// Threads of a snapshot by name and id, used to find the thread that corresponds to one of an earlier snapshot.
pub(crate) struct Threads<'a>(HashMap<(&'a str, u32), usize>);

impl<'a> Threads<'a> {
    pub(crate) fn of(snapshot: &'a Snapshot) -> Self {
        let mut known = HashMap::with_capacity(snapshot.threads.len());
        for (index, thread) in snapshot.threads.iter().enumerate() {
            known.entry((&*thread.name, thread.tid)).or_insert(index);
        }
        Self(known)
    }

    /// Returns the index of the first thread with the same name and id as `thread`.
    pub(crate) fn same(&self, thread: &Thread) -> Option<usize> {
        self.0.get(&(&*thread.name, thread.tid)).copied()
    }

    /// Returns the index of the entry for ended threads into which a missing thread was folded: the entry with its name or,
    /// failing that, the entry for its name in ended processes.
    pub(crate) fn ended(&self, thread: &Thread) -> Option<usize> {
        let of_process = || self.finished(&after_end(&thread.name)?);
        self.finished(&thread.name).or_else(of_process)
    }

    /// Returns the index of the entry for ended threads with this name.
    pub(crate) fn finished(&self, name: &str) -> Option<usize> {
        self.0.get(&(name, 0)).copied()
    }

    /// Sets the index of the entry for ended threads with this name.
    pub(crate) fn add_ended(&mut self, name: &'a str, index: usize) {
        self.0.insert((name, 0), index);
    }
}

/// Joins lists of sites. Returns the sites of the first list, followed by those that occur only in other lists. Also returns, for
/// each list in order, the joined index of each of its sites. Sites with the same key all get the index of the first such site.
pub(crate) fn joined_sites<'a, K: Eq + Hash>(
    first: &'a Sites,
    others: impl IntoIterator<Item = &'a Sites>,
    key: impl Fn(&'a Site) -> K,
) -> (Sites, Vec<Vec<u32>>) {
    let mut all = first.clone();
    let mut known: HashMap<K, u32> = HashMap::with_capacity(first.len());
    let own = (0..).zip(first);
    let own = own.map(|(index, site)| *known.entry(key(site)).or_insert(index));
    let mut places: Vec<Vec<u32>> = vec![own.collect()];
    for sites in others {
        // The snapshots of one program usually all have the same sites.
        if sites == first {
            places.push(places[0].clone());
            continue;
        }
        let place = |site| {
            *known.entry(key(site)).or_insert_with(|| {
                all.push(site.clone());
                all.len() as u32 - 1
            })
        };
        places.push(sites.iter().map(place).collect());
    }
    (all, places)
}

/// Maps a parent row and the joined index of a site to the row with this parent and site.
type Paths = IndexMap<(u32, u32), u32>;

/// Rows of several snapshots, joined into one set without counts.
pub(crate) struct Joined {
    pub(crate) nodes: Nodes,
    /// The joined index of each row's site. Sites with the same key share the index of the first such site.
    pub(crate) places: Vec<u32>,
    /// The first row and the number of rows of each thread.
    ranges: Vec<(u32, u32)>,
    /// Where the rows and threads of each snapshot ended up in the joined set.
    pub(crate) maps: Vec<RowMap>,
}

impl Joined {
    /// Joins the rows of several snapshots. `places` holds the joined index of each site, for each snapshot. `threads` lists the
    /// source threads of each joined thread. Rows of the first snapshot keep their own sites.
    ///
    /// Source threads whose rows are a prefix of the first source thread's rows are joined with it row by row. The others are
    /// merged by path: all of their rows on the same path become one row. If `apart` is true, rows of the first source thread are
    /// never merged with each other. If it is false and one source thread has to be merged by path, then all of them are,
    /// including the first.
    pub(crate) fn of(snapshots: &[&Snapshot], places: &[Vec<u32>], threads: &[Vec<Of>], apart: bool) -> Self {
        let mut joined = Self {
            nodes: Nodes::default(),
            places: Vec::new(),
            ranges: Vec::with_capacity(threads.len()),
            maps: snapshots.iter().map(|one| RowMap::nowhere(one)).collect(),
        };
        let rows = snapshots.first().map_or(0, |first| first.nodes.len());
        joined.nodes.reserve(rows);
        joined.places.reserve(rows);
        for (thread, made_of) in (0..).zip(threads) {
            let first_row = joined.nodes.len() as u32;
            let is_like_first =
                |of: &Of| *of == made_of[0] || begins_with(snapshots, places, made_of[0], *of);
            let alike: Vec<bool> = made_of.iter().map(is_like_first).collect();
            let all_alike = !alike.contains(&false);
            let mut by_path: Option<Paths> = None;
            for (&(of, id), is_alike) in made_of.iter().zip(alike) {
                let (from, sites) = (&snapshots[of].nodes, &places[of]);
                let rows = snapshots[of].rows_of(id);
                joined.maps[of].threads[id.index()] = thread;
                if is_alike && (apart || all_alike) {
                    if joined.nodes.len() == first_row as usize {
                        joined.extend(from, rows.clone(), sites, of == 0);
                    }
                    for (to, place) in (first_row..).zip(&mut joined.maps[of].rows[rows]) {
                        *place = to;
                    }
                    continue;
                }
                let known = by_path.get_or_insert_with(|| joined.paths_from(first_row));
                for row in rows {
                    let above = joined.maps[of].rows.get(from.parent[row] as usize).copied();
                    let above = above.unwrap_or(NO_PARENT);
                    let site = from.site[row];
                    let place = sites[site as usize];
                    let to = known
                        .entry((above, place))
                        .or_insert_with(|| joined.push(above, if of == 0 { site } else { place }, place));
                    joined.maps[of].rows[row] = *to;
                }
            }
            let rows = joined.nodes.len() as u32 - first_row;
            joined.ranges.push((first_row, rows));
        }
        joined
    }

    /// Sets the row range of each thread to its range of joined rows.
    pub(crate) fn place(&self, threads: &mut [Thread]) {
        for (thread, &(first_row, rows)) in threads.iter_mut().zip(&self.ranges) {
            (thread.first_row, thread.rows) = (first_row, rows);
        }
    }

    /// Returns the rows from `first_row` on, keyed by parent row and site. If several rows have the same path, the map contains
    /// the first of them.
    fn paths_from(&self, first_row: u32) -> Paths {
        let rows = self.nodes.len() - first_row as usize;
        let mut paths = Paths::with_capacity_and_hasher(rows, Default::default());
        for row in first_row..self.nodes.len() as u32 {
            let above = self.nodes.parent[row as usize];
            paths.entry((above, self.places[row as usize])).or_insert(row);
        }
        paths
    }

    /// Appends the rows of one thread without merging any of them.
    fn extend(&mut self, from: &Nodes, rows: Range<usize>, places: &[u32], has_own_sites: bool) {
        let shift = (self.nodes.len() as u32).wrapping_sub(rows.start as u32);
        let sites = &from.site[rows.clone()];
        let parents = from.parent[rows].iter().map(|&parent| match parent {
            NO_PARENT => NO_PARENT,
            parent => parent.wrapping_add(shift),
        });
        let first = self.places.len();
        self.places
            .extend(sites.iter().map(|&site| places[site as usize]));
        let nodes = &mut self.nodes;
        nodes.parent.extend(parents);
        nodes.site.extend_from_slice(match has_own_sites {
            true => sites,
            false => &self.places[first..],
        });
        nodes.calls.resize(self.places.len(), 0);
        nodes.self_ticks.resize(self.places.len(), 0);
    }

    fn push(&mut self, above: u32, site: u32, place: u32) -> u32 {
        self.places.push(place);
        let above = (above != NO_PARENT).then_some(NodeId(above));
        self.nodes.push(above, SiteId(site), 0, 0).0
    }
}

/// Returns whether the rows of `thread` begin with the rows of `other`: the same paths in the same order.
fn begins_with(snapshots: &[&Snapshot], places: &[Vec<u32>], thread: Of, other: Of) -> bool {
    let rows = |(of, id): Of| {
        let rows = snapshots[of].rows_of(id);
        let (nodes, first) = (&snapshots[of].nodes, rows.start as u32);
        rows.map(move |row| {
            let parent = Some(nodes.parent[row]).filter(|&parent| parent != NO_PARENT);
            let parent = parent.map(|parent| parent - first);
            (parent, places[of][nodes.site[row] as usize])
        })
    };
    let (of_thread, of_other) = (rows(thread), rows(other));
    of_other.len() <= of_thread.len() && of_thread.zip(of_other).all(|(one, other)| one == other)
}

/// Numbers the paths of the rows, starting from 0, and returns the number of each row's path. Two rows have the same path if they
/// and the rows above them have the same `keys`, even if they are in different threads.
pub(crate) fn paths(nodes: &Nodes, keys: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut known = Paths::with_capacity_and_hasher(nodes.len(), Default::default());
    let mut paths: Vec<u32> = Vec::with_capacity(nodes.len());
    for (&parent, key) in nodes.parent.iter().zip(keys) {
        let above = paths.get(parent as usize).copied().unwrap_or(NO_PARENT);
        let next = known.len() as u32;
        paths.push(*known.entry((above, key)).or_insert(next));
    }
    paths
}
