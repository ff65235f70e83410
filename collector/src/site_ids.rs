//! The numbers under which snapshots name sites.

use std::collections::BTreeMap;

use tickscope_format::ids::SiteId;
use tickscope_format::snapshot;

use crate::site::Site;

/// The sites shown so far. A number once given stays.
#[derive(Debug)]
pub(crate) struct SiteIds {
    by_address: BTreeMap<usize, SiteId>,
    list: Vec<snapshot::Site>,
}

// === impl SiteIds ===

impl SiteIds {
    pub(crate) const fn new() -> Self {
        Self {
            by_address: BTreeMap::new(),
            list: Vec::new(),
        }
    }

    /// The number of a site.
    pub(crate) fn id(&mut self, site: &'static Site) -> SiteId {
        *self
            .by_address
            .entry(std::ptr::from_ref(site).addr())
            .or_insert_with(|| {
                self.list.push(site.describe());
                SiteId(self.list.len() as u32 - 1)
            })
    }

    /// All sites, by number.
    pub(crate) fn list(&self) -> &[snapshot::Site] {
        &self.list
    }
}
