//! Extracts a part of a snapshot: only certain threads, and only certain rows of these.

use std::collections::HashMap;

use super::{Part, RowMap, Site, Snapshot, Thread};
use crate::ids::{NO_PARENT, NodeId, SiteId, ThreadId};

/// What happens to the rows that are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left<'a> {
    /// Rows that have the same parent are merged, together with all rows below them, into one row with this name.
    Summed(&'a str),
    /// The rows are removed. Any rows below them that are kept no longer have a parent.
    Out,
}

impl Snapshot {
    /// Returns a copy of the snapshot with only the `chosen` threads, and only the rows of these threads for which
    /// `kept` returns true. `left` says what happens to the other rows.
    #[must_use]
    pub fn part(
        &self,
        chosen: impl Fn(ThreadId) -> bool,
        kept: impl Fn(usize) -> bool,
        left: Left<'_>,
    ) -> Self {
        let mut out = self.facts();
        let mut map = RowMap::nowhere(self);
        out.nodes.reserve(self.nodes.len());
        for (id, thread) in (0..).map(ThreadId).zip(&self.threads) {
            if !chosen(id) {
                continue;
            }
            map.threads[id.index()] = out.threads.len() as u32;
            let first_row = out.nodes.len() as u32;
            // The rows into which others are merged, by the new index of their parent.
            let mut sums: HashMap<u32, u32> = Default::default();
            for row in self.rows_of(id) {
                let above = map.rows.get(self.nodes.parent[row] as usize).copied();
                let above = above.filter(|&above| above != NO_PARENT);
                let sum = above.filter(|&above| Some(SiteId(out.nodes.site[above as usize])) == map.sums);
                let mut push = |site| out.nodes.push(above.map(NodeId), site, 0, 0).0;
                map.rows[row] = match (sum, left) {
                    (Some(sum), _) => sum,
                    _ if kept(row) => push(SiteId(self.nodes.site[row])),
                    (None, Left::Out) => NO_PARENT,
                    (None, Left::Summed(name)) => {
                        let site = *map.sums.get_or_insert_with(|| {
                            out.sites.push(Site {
                                name: name.into(),
                                ..Site::default()
                            });
                            SiteId(out.sites.len() as u32 - 1)
                        });
                        *sums
                            .entry(above.unwrap_or(NO_PARENT))
                            .or_insert_with(|| push(site))
                    }
                };
            }
            out.threads.push(Thread {
                first_row,
                rows: out.nodes.len() as u32 - first_row,
                ..thread.without_counts()
            });
        }
        out.gather(&[Part::now(self, map)]);
        out
    }
}
