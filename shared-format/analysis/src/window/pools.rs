//! Which rows of two snapshots are the same path in the same threads, and what there was before to take from the later ones.

use std::collections::HashMap;
use std::hash::Hash;

use tickscope_format::Snapshot;
use tickscope_format::ids::{NO_PARENT, ThreadId};

use crate::thread_names::after_end;

/// What stands where there is no row to take from.
pub(super) const NONE: u32 = u32::MAX;

/// Takes as much as there is from both.
pub(super) fn take(value: &mut u64, pool: &mut u64) {
    let part = (*value).min(*pool);
    *value -= part;
    *pool -= part;
}

/// Numbers the things of two lists alike: equal keys get equal numbers.
pub(crate) fn numbered<'a, T, K: Eq + Hash>(
    later: &'a [T],
    earlier: &'a [T],
    key: impl Fn(&'a T) -> K,
) -> (Vec<u32>, Vec<u32>) {
    let mut known: HashMap<K, u32> = HashMap::with_capacity(later.len());
    let mut number = |thing| {
        let next = known.len() as u32;
        *known.entry(key(thing)).or_insert(next)
    };
    (
        later.iter().map(&mut number).collect(),
        earlier.iter().map(&mut number).collect(),
    )
}

/// Threads that share what is taken from them: one live thread, or the finished ones of a name.
#[derive(Default)]
pub(super) struct Group {
    pub(super) later: Vec<usize>,
    pub(super) earlier: Vec<usize>,
    pub(super) outside_ticks: u64,
    pub(super) cpu_ns: u64,
}

/// What there was before, summed up by group of threads and path: rows of the later snapshot take from it.
#[derive(Default)]
pub(super) struct Pools {
    pub(super) calls: Vec<u64>,
    pub(super) ticks: Vec<u64>,
    /// How many rows gave to a pool, and how many take from it.
    pub(super) givers: Vec<u32>,
    pub(super) takers: Vec<u32>,
    pub(super) of_later: Vec<u32>,
    pub(super) of_earlier: Vec<u32>,
    pub(super) groups: Vec<Group>,
    pub(super) group_of_later: Vec<usize>,
    /// None of a thread whose name is not there any more.
    pub(super) group_of_earlier: Vec<Option<usize>>,
}

impl Pools {
    pub(super) fn of(later: &Snapshot, earlier: &Snapshot) -> Self {
        let mut pools = Self {
            of_later: vec![NONE; later.nodes.len()],
            of_earlier: vec![NONE; earlier.nodes.len()],
            ..Self::default()
        };
        pools.group(later, earlier);
        let (site_of_later, site_of_earlier) = numbered(&later.sites, &earlier.sites, |site| site);
        let later_site = |row: usize| site_of_later[later.nodes.site[row] as usize];
        let earlier_site = |row: usize| site_of_earlier[earlier.nodes.site[row] as usize];
        for at in 0..pools.groups.len() {
            let (now, then) = (pools.groups[at].later.clone(), pools.groups[at].earlier.clone());
            if let ([now], [then]) = (&now[..], &then[..]) {
                let (now, then) = (rows(later, *now), rows(earlier, *then));
                let place = |parent: u32, first: usize| match parent {
                    NO_PARENT => NO_PARENT,
                    parent => parent.wrapping_sub(first as u32),
                };
                // The usual case: the tree has grown at its end, or not at all.
                let same = now.len() >= then.len()
                    && now.clone().zip(then.clone()).all(|(a, b)| {
                        later_site(a) == earlier_site(b)
                            && place(later.nodes.parent[a], now.start)
                                == place(earlier.nodes.parent[b], then.start)
                    });
                if same {
                    for (a, b) in now.zip(then) {
                        let pool = pools.add();
                        pools.give(pool, earlier, b);
                        pools.let_take(pool, a);
                    }
                    continue;
                }
            }
            let mut known: HashMap<(u32, u32), u32> = HashMap::new();
            for row in then.iter().flat_map(|&thread| rows(earlier, thread)) {
                let above = above(&earlier.nodes.parent, row, &pools.of_earlier);
                let pool = *known
                    .entry((above, earlier_site(row)))
                    .or_insert_with(|| pools.add());
                pools.give(pool, earlier, row);
            }
            for row in now.iter().flat_map(|&thread| rows(later, thread)) {
                let parent = later.nodes.parent[row];
                let above = above(&later.nodes.parent, row, &pools.of_later);
                // Below what was not there nothing was there.
                if parent != NO_PARENT && above == NONE {
                    continue;
                }
                if let Some(&pool) = known.get(&(above, later_site(row))) {
                    pools.let_take(pool, row);
                }
            }
        }
        pools
    }

    fn group(&mut self, later: &Snapshot, earlier: &Snapshot) {
        let mut known: HashMap<(&str, u32), usize> = HashMap::with_capacity(later.threads.len());
        for (index, thread) in later.threads.iter().enumerate() {
            let group = *known.entry((&thread.name, thread.tid)).or_insert_with(|| {
                self.groups.push(Group::default());
                self.groups.len() - 1
            });
            self.groups[group].later.push(index);
            self.group_of_later.push(group);
        }
        for (index, thread) in earlier.threads.iter().enumerate() {
            let of = |name: &str, tid| known.get(&(name, tid)).copied();
            // A thread that has ended since was folded into the row of those that have ended, and one of a process that has ended into
            // that of ended processes.
            let after_end = || after_end(&thread.name).and_then(|name| of(&name, 0));
            let group = of(&thread.name, thread.tid)
                .or_else(|| of(&thread.name, 0))
                .or_else(after_end);
            self.group_of_earlier.push(group);
            if let Some(group) = group {
                let group = &mut self.groups[group];
                group.earlier.push(index);
                group.outside_ticks = group.outside_ticks.saturating_add(thread.outside_ticks);
                group.cpu_ns = group.cpu_ns.saturating_add(thread.cpu_ns.unwrap_or(0));
            }
        }
    }

    fn add(&mut self) -> u32 {
        self.calls.push(0);
        self.ticks.push(0);
        self.givers.push(0);
        self.takers.push(0);
        self.calls.len() as u32 - 1
    }

    fn give(&mut self, pool: u32, earlier: &Snapshot, row: usize) {
        self.of_earlier[row] = pool;
        let pool = pool as usize;
        self.calls[pool] = self.calls[pool].saturating_add(earlier.nodes.calls[row]);
        self.ticks[pool] = self.ticks[pool].saturating_add(earlier.nodes.self_ticks[row]);
        self.givers[pool] += 1;
    }

    fn let_take(&mut self, pool: u32, row: usize) {
        self.of_later[row] = pool;
        self.takers[pool as usize] += 1;
    }

    /// Where a row of the earlier snapshot gives to.
    pub(super) fn given_to(&self, row: u32) -> Option<u32> {
        let pool = self.of_earlier.get(row as usize).copied();
        pool.filter(|&pool| pool != NONE)
    }

    /// Where a row of the later snapshot takes from.
    pub(super) fn taken_from(&self, row: u32) -> Option<u32> {
        self.of_later
            .get(row as usize)
            .copied()
            .filter(|&pool| pool != NONE)
    }
}

fn rows(snapshot: &Snapshot, thread: usize) -> std::ops::Range<usize> {
    snapshot.rows_of(ThreadId(thread as u32))
}

/// The pool of the row above; none at the top.
fn above(parents: &[u32], row: usize, pools: &[u32]) -> u32 {
    match parents[row] {
        NO_PARENT => NONE,
        parent => pools[parent as usize],
    }
}
