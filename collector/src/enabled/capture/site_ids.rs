//! The numbers that snapshots use to refer to sites.

use std::collections::BTreeMap;

use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::Sites;

use crate::enabled::record::site::Site;

/// The sites shown so far. A site keeps its number.
#[derive(Debug, Default)]
pub(crate) struct SiteIds {
    by_address: BTreeMap<usize, SiteId>,
    /// `None` before the first site, so that the first holder of the capture lock need not allocate.
    list: Option<Sites>,
}

impl SiteIds {
    /// Returns the number of a site.
    pub(crate) fn id(&mut self, site: &'static Site) -> SiteId {
        *self
            .by_address
            .entry(std::ptr::from_ref(site).addr())
            .or_insert_with(|| {
                let list = self.list.get_or_insert_default();
                list.push(site.describe());
                SiteId(list.len() as u32 - 1)
            })
    }

    /// Returns all sites by number.
    pub(crate) fn list(&self) -> Sites {
        self.list.clone().unwrap_or_default()
    }
}
