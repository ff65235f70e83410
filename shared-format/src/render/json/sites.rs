//! The places in the source that were met, and what is switched off of them.

use serde::Serialize;

use super::document::VERSION;
use crate::profile::sites;
use crate::render::ProcessState;
use crate::snapshot::Snapshot;

/// What `tickscope sites` prints: the members of the same names in the whole document, and whose they are.
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
    /// Since the reset, in all places of all threads.
    calls: u64,
}

/// The last rule that matches a site decides.
#[derive(Serialize)]
pub(super) struct Rule<'a> {
    pattern: &'a str,
    off: bool,
}

// === impl SitesDocument ===

impl<'a> SitesDocument<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, state: ProcessState) -> Self {
        Self {
            tickscope: VERSION,
            name: &snapshot.process.name,
            pid: snapshot.process.pid,
            state: state.as_str(),
            mode: snapshot.capture.mode.as_str(),
            reset_epoch: snapshot.capture.reset_epoch,
            sites: sites(snapshot),
            rules: rules(snapshot),
        }
    }
}

pub(super) fn sites(snapshot: &Snapshot) -> Vec<Site<'_>> {
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
                calls: row.calls,
            }
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
