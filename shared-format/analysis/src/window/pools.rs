//! Prepares earlier counts so that they can be subtracted from the rows of a later snapshot.

use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::{Part, RowMap, Snapshot, Thread};

use crate::joined::{Joined, Threads, joined_sites};

/// Earlier counts, grouped into pools. Each row and each thread of the later snapshot has a pool, and the earlier counts in this
/// pool are subtracted from it. Rows on the same path share a pool if their threads have the same name and id.
pub(super) struct Pools {
    pub(super) then: Snapshot,
    pub(super) of_rows: Vec<u32>,
    pub(super) of_threads: Vec<u32>,
}

impl Pools {
    pub(super) fn of(later: &Snapshot, earlier: &Snapshot) -> Self {
        let known = Threads::of(later);
        let mut groups = vec![Vec::new(); later.threads.len()];
        for (of, snapshot) in [later, earlier].into_iter().enumerate() {
            for (id, thread) in (0..).map(ThreadId).zip(&snapshot.threads) {
                if let Some(group) = known.same(thread).or_else(|| known.ended(thread)) {
                    groups[group].push((of, id));
                }
            }
        }
        let (_, places) = joined_sites(&later.sites, [&earlier.sites], |site| site);
        let Joined { nodes, maps, .. } = Joined::of(&[later, earlier], &places, &groups, false);
        let mut then = Snapshot {
            capture: earlier.capture.clone(),
            threads: vec![Thread::default(); groups.len()],
            nodes,
            ..Snapshot::default()
        };
        let [of_later, of_earlier]: [RowMap; 2] = maps.try_into().unwrap_or_default();
        then.gather(&[Part::now(earlier, of_earlier)]);
        Self {
            then,
            of_rows: of_later.rows,
            of_threads: of_later.threads,
        }
    }
}

/// Subtracts the smaller of the two numbers from both.
pub(super) fn take(value: &mut u64, pool: &mut u64) {
    let part = (*value).min(*pool);
    *value -= part;
    *pool -= part;
}

/// Subtracts the rest of the earlier value in this pool, if any, from `value`.
pub(super) fn take_from(then: &mut [(u32, u64)], pool: u32, value: &mut u64) {
    if let Ok(at) = then.binary_search_by_key(&pool, |&(pool, _)| pool) {
        take(value, &mut then[at].1);
    }
}
