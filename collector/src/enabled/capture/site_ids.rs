//! The numbers by which snapshots refer to sites.

use std::collections::BTreeMap;

use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::Sites;

use crate::enabled::record::site::Site;

/// The sites shown so far. A site keeps its number.
#[derive(Debug)]
pub(crate) struct SiteIds {
    by_address: BTreeMap<usize, SiteId>,
    /// `None` before the first site, because an empty list cannot be made in a `const`.
    list: Option<Sites>,
}

impl SiteIds {
    pub(crate) const fn new() -> Self {
        Self {
            by_address: BTreeMap::new(),
            list: None,
        }
    }

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
