//! The rows of the view Sites: the places in the source that were met.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use tickscope_analysis::sites::sites;
use tickscope_format::Snapshot;
use tickscope_format::ids::SiteId;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::Site;

use crate::text::cells::safe;

/// What is known of a place, in the order in which people look for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SiteState {
    /// Switched off.
    Off,
    /// Met, but not since the reset.
    NotSince,
    /// Met since the reset.
    Hit,
}

/// A place in the source.
#[derive(Debug)]
pub(crate) struct SiteRow {
    /// Which one.
    pub(crate) site: SiteId,
    /// What it is, whatever the snapshot.
    pub(crate) key: u64,
    /// Its module, printable.
    pub(crate) module: String,
    /// Calls begun since the reset.
    pub(crate) calls: u64,
    /// What is known of it.
    pub(crate) state: SiteState,
    /// The rule that decides whether it is measured, printable; none where no rule chooses it.
    pub(crate) rule: Option<String>,
}

/// All of them, in the order of the snapshot.
pub(crate) fn of(snapshot: &Snapshot, ascii: bool) -> Vec<SiteRow> {
    let rules: Vec<Pattern> = snapshot
        .measuring
        .rules
        .iter()
        .filter_map(|rule| Pattern::new(&rule.pattern).ok())
        .collect();
    let mut alike: HashMap<&Site, u32> = HashMap::new();
    sites(snapshot)
        .into_iter()
        .map(|row| {
            let site = &snapshot.sites[row.site.index()];
            // A macro makes several of one line: what tells them apart is their order.
            let nth = alike.entry(site).or_default();
            *nth += 1;
            // The last rule that chooses a site decides.
            let rule = rules.iter().rev().find(|pattern| pattern.matches(site));
            let mut hasher = DefaultHasher::new();
            (site, *nth).hash(&mut hasher);
            SiteRow {
                site: row.site,
                key: hasher.finish(),
                module: safe(&site.module, ascii).into_owned(),
                calls: row.calls,
                state: match (row.off, row.calls) {
                    (true, _) => SiteState::Off,
                    (false, 0) => SiteState::NotSince,
                    (false, _) => SiteState::Hit,
                },
                rule: rule.map(|pattern| safe(pattern.as_str(), ascii).into_owned()),
            }
        })
        .collect()
}

impl SiteState {
    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::NotSince => "not since reset",
            Self::Hit => "on",
        }
    }
}
