//! Switching places in the source off and on. It is done when a snapshot shows it, not when it was promised.

use tickscope_format::Snapshot;
use tickscope_format::pattern::{BYTES_MAX, Pattern};
use tickscope_format::snapshot::Site;

use crate::app::figures::What;
use crate::app::message::Effect;
use crate::app::requests::rule_of;
use crate::app::site_rows::SiteState;
use crate::app::state::App;
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

impl App {
    /// Switches the selected place off, or on again.
    pub(in crate::app) fn toggle_site(&mut self, effects: &mut Vec<Effect>) {
        let Some((data, What::Site(row))) = self
            .derived
            .data
            .as_ref()
            .zip(self.list().selected().map(|row| row.what))
        else {
            return;
        };
        if !self.program.status.answers() {
            self.complain(format!(
                "nothing to switch: the program is {}",
                self.program.status.word().to_lowercase()
            ));
            return;
        }
        let row = &data.sites()[row as usize];
        let pattern = pattern_of(&data.snapshot.sites[row.site.index()]);
        // Asked twice before the screen shows it, it goes back.
        let under_way = |off: bool| match &pattern {
            Ok(pattern) => self.requests.is_switched_off(pattern, off),
            Err(_) => off,
        };
        let request = match (&pattern, under_way(row.state == SiteState::Off)) {
            (Ok(pattern), true) => Request::SitesOn(*pattern),
            (Ok(pattern), false) => Request::SitesOff(*pattern),
            (Err(why), _) => {
                let why = why.clone();
                return self.complain(why);
            }
        };
        self.requests.await_rule(request, self.screen.now, false);
        effects.push(Effect::Send(request));
    }

    /// The program says that a rule is in force: it is done as soon as a snapshot shows it.
    pub(in crate::app) fn rule_is_granted(&mut self, request: Request) {
        self.requests.granted(request, self.screen.now);
        self.settle_rules();
    }

    /// Says what is done as soon as the newest snapshot shows it.
    pub(in crate::app) fn settle_rules(&mut self) {
        let Some(newest) = &self.program.newest else {
            return;
        };
        if let Some(request) = self.requests.settle_rules(newest) {
            let text = said(newest, request);
            self.tell(text);
            self.screen.dirty = true;
        }
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
