//! The sites of a snapshot with their calls, and whether they are disabled.

use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::Snapshot;

/// Calls of a site, summed over all threads and paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SiteRow {
    /// The site.
    pub site: SiteId,
    /// Calls begun since the reset.
    pub calls: u64,
    /// Whether the site is disabled now.
    pub off: bool,
}

/// Returns every site of a snapshot, in the order of the sites. Sites of rows that summarize other rows, such as "(pruned)", are
/// left out because they do not exist in the source. Functions that were only sampled are left out too.
pub fn sites(snapshot: &Snapshot) -> Vec<SiteRow> {
    let mut rows: Vec<SiteRow> = (0..snapshot.sites.len() as u32)
        .map(|site| SiteRow {
            site: SiteId(site),
            calls: 0,
            off: false,
        })
        .collect();
    for (&site, &calls) in snapshot.nodes.site.iter().zip(&snapshot.nodes.calls) {
        rows[site as usize].calls = rows[site as usize].calls.saturating_add(calls);
    }
    for site in &snapshot.measuring.off_sites {
        rows[site.index()].off = true;
    }
    rows.retain(|row| {
        let site = &snapshot.sites[row.site.index()];
        let is_only_sampled = site.line == 0 && row.calls == 0 && !row.off;
        !site.file.is_empty() && !is_only_sampled
    });
    rows
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::Site;
    use tickscope_testkit::fixture;

    use super::*;

    #[test]
    fn calls_of_all_threads_and_what_is_off() {
        let mut snapshot = fixture::two_threads();
        snapshot.measuring.off_sites = vec![SiteId(2)];
        snapshot.sites.push(Site {
            name: "(pruned)".into(),
            ..Site::default()
        });
        // A function that was sampled, but never counted.
        snapshot.sites.push(Site {
            name: "memchr".into(),
            file: "memchr.rs".into(),
            ..Site::default()
        });
        let site = SiteId(snapshot.sites.len() as u32 - 1);
        snapshot.nodes.push(None, site, 0, 10);
        snapshot.threads.last_mut().unwrap().rows += 1;
        let rows: Vec<_> = sites(&snapshot)
            .iter()
            .map(|row| (row.site.0, row.calls, row.off))
            .collect();
        let due = [(0, 2, false), (1, 800, false), (2, 200, true), (3, 2, false)];
        assert_eq!(rows, due);
    }
}
