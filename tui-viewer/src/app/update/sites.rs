//! Switching places in the source off and on. It is done when a snapshot shows it, not when it was promised.

use std::time::Duration;

use tickscope_format::Snapshot;
use tickscope_format::pattern::{BYTES_MAX, Pattern};
use tickscope_format::snapshot::Site;

use crate::app::figures::What;
use crate::app::message::Effect;
use crate::app::pending::PATIENCE;
use crate::app::pending::{Switching, rule_of};
use crate::app::site_rows::SiteState;
use crate::app::state::Model;
use crate::output::switched::{Switch, outcome};
use crate::source::events::Request;

/// The pattern that chooses a site by its whole path.
fn pattern_of(site: &Site) -> Result<Pattern, String> {
    let path = match site.module.as_str() {
        "" => site.name.clone(),
        module => format!("{module}::{}", site.name),
    };
    Pattern::new(&path).map_err(|_| {
        format!(
            "no rule can name it: a pattern has at most {BYTES_MAX} bytes, its path has {}; switch it by a \
             shorter pattern with *",
            path.len()
        )
    })
}

impl Model {
    /// Switches the selected place off, or on again.
    pub(in crate::app) fn toggle_site(&mut self, effects: &mut Vec<Effect>) {
        let Some((data, What::Site(row))) =
            self.data.as_ref().zip(self.list().selected().map(|row| row.what))
        else {
            return;
        };
        if !self.status.answers() {
            self.complain(format!(
                "nothing to switch: the program is {}",
                self.status.word().to_lowercase()
            ));
            return;
        }
        let row = &data.sites()[row as usize];
        let pattern = pattern_of(&data.snapshot.sites[row.site.index()]);
        // Asked twice before the screen shows it, it goes back.
        let under_way = |off: bool| {
            self.switching
                .iter()
                .rev()
                .filter_map(|switching| rule_of(switching.request))
                .find(|(asked, _)| pattern.as_ref().is_ok_and(|pattern| pattern == asked))
                .map_or(off, |(_, off)| off)
        };
        let request = match (&pattern, under_way(row.state == SiteState::Off)) {
            (Ok(pattern), true) => Request::SitesOn(*pattern),
            (Ok(pattern), false) => Request::SitesOff(*pattern),
            (Err(why), _) => {
                let why = why.clone();
                return self.complain(why);
            }
        };
        self.await_switching(request, false);
        effects.push(Effect::Send(request));
    }

    fn await_switching(&mut self, request: Request, granted: bool) {
        let pattern = |request| rule_of(request).map(|(pattern, _)| pattern);
        // A later rule of the same pattern takes the place of the one before.
        self.switching
            .retain(|switching| pattern(switching.request) != pattern(request));
        self.switching.push(Switching {
            request,
            asked: self.now,
            granted,
        });
    }

    /// The program says that a rule is in force: it is done as soon as it shows.
    pub(in crate::app) fn switch_granted(&mut self, request: Request) {
        if self.pending.is_some_and(|pending| pending.request == request) {
            self.pending = None;
        }
        // A former one of the same pattern is only passed by: what came after it will be answered as well.
        let later =
            |switching: &Switching| switching.request != request && same_pattern(switching.request, request);
        if !self.switching.iter().any(later) {
            self.await_switching(request, true);
        }
        self.settle_switching();
    }

    /// Says what is done as soon as the newest snapshot shows it.
    pub(in crate::app) fn settle_switching(&mut self) {
        let Some(newest) = self.newest.clone() else { return };
        let (done, open) = std::mem::take(&mut self.switching)
            .into_iter()
            .partition(|switching: &Switching| switching.granted && switching.is_in(&newest));
        self.switching = open;
        if let Some(Switching { request, .. }) = done.last() {
            let text = said(&newest, *request);
            self.tell(text);
            self.dirty = true;
        }
    }

    /// When waiting for an answer has been long enough.
    pub(in crate::app) fn switching_deadline(&self) -> Option<Duration> {
        self.switching
            .iter()
            .map(|switching| switching.asked + PATIENCE)
            .min()
    }

    /// What has not come until now is not waited for any more.
    pub(in crate::app) fn give_up_switching(&mut self) {
        let now = self.now;
        let due = |switching: &Switching| switching.asked + PATIENCE <= now;
        let Some(late) = self.switching.iter().copied().find(due) else {
            return;
        };
        self.switching.retain(|switching| !due(switching));
        let name = rule_of(late.request).map_or(String::new(), |(pattern, _)| pattern.as_str().to_string());
        self.complain(if late.granted {
            format!("{name}: the program has answered, but no snapshot has shown it in 2 s")
        } else {
            format!("{name}: no answer from the program in 2 s: it may be stopped, or too busy to publish")
        });
        self.dirty = true;
    }
}

fn same_pattern(one: Request, other: Request) -> bool {
    match (rule_of(one), rule_of(other)) {
        (Some((one, _)), Some((other, _))) => one == other,
        (None, _) | (_, None) => false,
    }
}

/// What a rule has done; for a single site the way back as well.
pub(in crate::app) fn said(snapshot: &Snapshot, request: Request) -> String {
    let Some((pattern, off)) = rule_of(request) else {
        return String::new();
    };
    let mut chosen = snapshot.sites.iter().filter(|site| pattern.matches(site));
    let whole = |site: &Site| pattern_of(site).is_ok_and(|own| own == pattern);
    match (chosen.next(), chosen.next()) {
        (Some(site), None) if whole(site) => {
            let module = site
                .module
                .rsplit("::")
                .next()
                .filter(|module| !module.is_empty());
            let label = module.map_or(site.name.clone(), |module| format!("{module}::{}", site.name));
            if off {
                format!("{label} off; Space switches it on again")
            } else {
                format!("{label} on; Space switches it off again")
            }
        }
        _ => outcome(snapshot, &pattern, if off { Switch::Off } else { Switch::On }),
    }
}
