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
struct Group {
    later: Vec<usize>,
    earlier: Vec<usize>,
}

/// Where rows of both belong, by group of threads and path: what the earlier one gives to a pool, the later one takes from it.
#[derive(Default)]
pub(super) struct Pools {
    /// How many rows take from a pool.
    pub(super) takers: Vec<u32>,
    pub(super) of_later: Vec<u32>,
    pub(super) of_earlier: Vec<u32>,
    groups: Vec<Group>,
    pub(super) group_of_later: Vec<u32>,
    /// [`NONE`] of a thread whose name is not there any more.
    pub(super) group_of_earlier: Vec<u32>,
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
                        pools.of_earlier[b] = pool;
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
                pools.of_earlier[row] = pool;
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
            self.group_of_later.push(group as u32);
        }
        for (index, thread) in earlier.threads.iter().enumerate() {
            let of = |name: &str, tid| known.get(&(name, tid)).copied();
            // A thread that has ended since was folded into the row of those that have ended, and one of a process that has ended into
            // that of ended processes.
            let after_end = || after_end(&thread.name).and_then(|name| of(&name, 0));
            let group = of(&thread.name, thread.tid)
                .or_else(|| of(&thread.name, 0))
                .or_else(after_end);
            self.group_of_earlier
                .push(group.map_or(NONE, |group| group as u32));
            if let Some(group) = group {
                self.groups[group].earlier.push(index);
            }
        }
    }

    fn add(&mut self) -> u32 {
        self.takers.push(0);
        self.takers.len() as u32 - 1
    }

    fn let_take(&mut self, pool: u32, row: usize) {
        self.of_later[row] = pool;
        self.takers[pool as usize] += 1;
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
