//! The sites in the JSON document, and which of them are disabled.

use serde::Serialize;
use tickscope_analysis::per_call::PerCall;
use tickscope_analysis::sites;
use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::Snapshot;

use super::layout::VERSION;
use crate::ProcessState;
use crate::quotient::Quotient;

/// The document of `tickscope sites`. It names the program, and has the same members for sites as the document of a whole
/// snapshot.
#[derive(Serialize)]
pub(super) struct SitesDocument<'a> {
    tickscope: u32,
    name: &'a str,
    pid: u32,
    state: &'static str,
    mode: &'static str,
    reset_epoch: u64,
    sites: Vec<Site<'a>>,
    rules: Vec<Rule<'a>>,
}

#[derive(Serialize)]
pub(super) struct Site<'a> {
    name: &'a str,
    module: &'a str,
    file: &'a str,
    line: u32,
    group: &'a str,
    off: bool,
    /// Number of calls since the reset, in all threads and on all paths.
    calls: Quotient,
    id: u32,
}

/// A site without a place in the source. For example, the site "(pruned)" stands for rows that were merged.
#[derive(Serialize)]
pub(super) struct OtherSite<'a> {
    id: u32,
    name: &'a str,
    module: &'a str,
    line: u32,
    group: &'a str,
    off: bool,
}

/// A rule that switches sites on or off. If several rules match a site, the last one decides.
#[derive(Serialize)]
pub(super) struct Rule<'a> {
    pattern: &'a str,
    off: bool,
}

impl<'a> SitesDocument<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, state: ProcessState) -> Self {
        Self {
            tickscope: VERSION,
            name: &snapshot.process.name,
            pid: snapshot.process.pid,
            state: state.as_str(),
            mode: snapshot.capture.mode.as_str(),
            reset_epoch: snapshot.capture.reset_epoch,
            sites: sites(snapshot, None),
            rules: rules(snapshot),
        }
    }
}

pub(super) fn sites<'a>(snapshot: &'a Snapshot, per: Option<&PerCall>) -> Vec<Site<'a>> {
    let rows = sites::sites(snapshot);
    rows.iter()
        .map(|row| {
            let site = &snapshot.sites[row.site.index()];
            Site {
                name: &site.name,
                module: &site.module,
                file: &site.file,
                line: site.line,
                group: &site.group,
                off: row.off,
                calls: Quotient::of(row.calls, per),
                id: row.site.0,
            }
        })
        .collect()
}

/// Returns the sites without a source file.
pub(super) fn other_sites(snapshot: &Snapshot) -> Vec<OtherSite<'_>> {
    let sites = (0..).zip(&snapshot.sites);
    let is_off = |id: u32| snapshot.measuring.off_sites.contains(&SiteId(id));
    sites
        .filter(|(_, site)| site.file.is_empty())
        .map(|(id, site)| OtherSite {
            id,
            name: &site.name,
            module: &site.module,
            line: site.line,
            group: &site.group,
            off: is_off(id),
        })
        .collect()
}

pub(super) fn rules(snapshot: &Snapshot) -> Vec<Rule<'_>> {
    let rules = snapshot.measuring.rules.iter();
    rules
        .map(|rule| Rule {
            pattern: &rule.pattern,
            off: rule.off,
        })
        .collect()
}
