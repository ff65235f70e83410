//! A part of a snapshot: chosen threads, and the rows that are kept.

use std::collections::HashMap;

use super::{Part, RowMap, Site, Snapshot, Thread};
use crate::ids::{NO_PARENT, NodeId, SiteId, ThreadId};

/// Treatment of rows that are not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left<'a> {
    /// The rows and all rows below them are summed up in a row of this name below their parent.
    Summed(&'a str),
    /// The rows are removed. Kept rows below them have no parent then.
    Out,
}

impl Snapshot {
    /// Returns the snapshot with only the chosen threads and their kept rows.
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
            // Rows that sum up others, by the new row of the parent.
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
