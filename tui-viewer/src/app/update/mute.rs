//! Muting what costs more than it tells.

use std::collections::HashMap;
use std::rc::Rc;

use tickscope_format::Snapshot;
use tickscope_format::muting;
use tickscope_format::muting::SiteCost;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{AutoMute, Muted, Site};
use tickscope_report::muting::reason;

use crate::app::figures::What;
use crate::app::message::Effect;
use crate::app::state::App;
use crate::output::console::printable;
use crate::output::muted::NOTHING_OFFERED;
use crate::source::events::Request;

impl App {
    /// Notes what is worth muting, and tells of it once.
    pub(in crate::app) fn note_offered(&mut self, newest: &Snapshot) {
        let offered: HashMap<Site, SiteCost> = muting::offered(newest)
            .into_iter()
            .map(|cost| (newest.sites[cost.site.index()].clone(), cost))
            .collect();
        let count = offered.len();
        self.program.offered = Rc::new(offered);
        if count > self.program.told_offered && self.program.status.answers() {
            self.tell(match count {
                1 => "1 scope costs more than it tells: X mutes it".to_string(),
                many => format!("{many} scopes cost more than they tell: X mutes them"),
            });
        }
        self.program.told_offered = count;
    }

    /// Mutes the selected site, if it is worth it, or else all that are.
    pub(in crate::app) fn mute_offered(&mut self, effects: &mut Vec<Effect>) {
        if self.program.offered.is_empty() && self.program.status.answers() {
            let newest = self.program.newest.as_ref();
            return match newest.is_some_and(|newest| newest.muting.policy == AutoMute::Off) {
                true => self.complain(NOTHING_OFFERED),
                false => self.tell("no scope costs more than it tells"),
            };
        }
        let selected = self.list().selected().map(|row| row.what);
        let row = self.derived.data.as_ref().zip(selected);
        let own = row.and_then(|(data, what)| {
            let What::Site(row) = what else { return None };
            let table = data.site_table();
            table.rows()[row as usize].offered?;
            let site = table.source(&data.snapshot, row)?;
            Pattern::of_path(&site.path())
        });
        let pattern = own.unwrap_or(Pattern::all());
        self.request_if_free("mute", effects, |app, effects| {
            app.send(Request::Mute(pattern), effects);
        });
    }
}

/// What muting has done; of a single site with its reason.
pub(in crate::app) fn said(newest: &Snapshot, pattern: &Pattern) -> String {
    let muted = newest.muting.muted.iter().filter(|muted| {
        let site = &newest.sites[muted.site.index()];
        !muted.reason.is_budget() && pattern.matches(site)
    });
    let muted: Vec<&Muted> = muted.collect();
    match muted[..] {
        [] => "no scope costs more than it tells".into(),
        [muted] => format!(
            "{} muted: {}; Space in Sites opens it",
            printable(&newest.sites[muted.site.index()].name),
            reason(muted)
        ),
        _ => format!(
            "{} scopes are muted, their time is their callers'; Space in Sites opens one again",
            muted.len()
        ),
    }
}
