//! Switching sites off and on. A switch counts as done when a snapshot shows it, not when the program has promised it.

use tickscope_format::Snapshot;
use tickscope_format::ids::SiteId;
use tickscope_format::path::tail;
use tickscope_format::pattern::{BYTES_MAX, Pattern};
use tickscope_format::snapshot::Site;
use tickscope_programs::events::Request;
use tickscope_programs::known_functions::KnownFunctions;

use crate::app::data::Data;
use crate::app::message::Effect;
use crate::app::requests::{Settled, rule_of};
use crate::app::row::What;
use crate::app::state::App;
use crate::outcome::switched::{Switch, outcome};

/// Maximum number of functions that one key switches, because each needs a rule, and a program takes 256 rules.
const TOGETHER_MOST: usize = 64;

/// Returns the pattern for a path, or the reason why there is none.
fn naming(path: &str) -> Result<Pattern, String> {
    Pattern::of_path(path).ok_or_else(|| "no rule can name it: it has no name".to_string())
}

/// Returns the pattern that chooses a site by its whole path.
fn pattern_of(site: &Site) -> Result<Pattern, String> {
    let path = site.path();
    if path.len() > BYTES_MAX {
        return Err(format!(
            "no rule can name it: a pattern has at most {BYTES_MAX} bytes, its path has {}; switch it by a \
             shorter pattern with *",
            path.len()
        ));
    }
    naming(&path)
}

/// Returns the pattern for a row: for a site, its path; for a module, all sites in it.
fn pattern_of_row(data: &Data, row: u32) -> Result<Pattern, String> {
    let table = data.site_table();
    match table.source(row) {
        Some(site) if table.is_grouped() => naming(&site.path()),
        Some(site) => pattern_of(site),
        None => naming(&format!("{}::*", table.place(row).path)),
    }
}

impl App {
    /// Switches the selected site, or all sites in the selected module, off or on again.
    pub(crate) fn toggle_site(&mut self) {
        if !self.answers("nothing to switch: ") {
            return;
        }
        let Some((data, row)) = self.selected() else {
            return;
        };
        let row = row.what.row;
        let pattern = pattern_of_row(data, row);
        let request = pattern.map(|pattern| self.toggled(data, pattern, data.sites()[row as usize].is_off()));
        match request {
            Ok(request) => self.send_rule(request),
            Err(why) => self.complain(why),
        }
    }

    fn send_rule(&mut self, request: Request) {
        self.requests.await_rule(request, self.screen.now, None);
        self.effects.push(Effect::Send(request));
    }

    /// Returns the request that switches the sites of a pattern off or, if they are off, on again.
    fn toggled(&self, data: &Data, pattern: Pattern, is_off: bool) -> Request {
        // A second key press undoes the first, even before a snapshot shows the first.
        if !self.requests.is_switched_off(&pattern, is_off) {
            return Request::SitesOff(pattern);
        }
        // Some functions are off even without a rule. Removing a rule brings that state back, whereas an opposite rule
        // would override it.
        let table = data.site_table();
        let is_own = table.rule_of(&pattern).is_some_and(|rule| rule.off);
        if table.is_grouped() && (is_own || !is_off) {
            Request::ForgetRule(pattern)
        } else {
            Request::SitesOn(pattern)
        }
    }

    /// Switches the callees of the selected row off, or on again.
    pub(crate) fn toggle_callees(&mut self) {
        if !self.answers("nothing to switch: ") {
            return;
        }
        let Some((data, row)) = self.selected() else {
            return;
        };
        let name = data.label(row.what).to_string();
        let sites = match callees(data, row.what) {
            Ok(sites) => sites,
            Err(why) => return self.complain(why),
        };
        let mut patterns: Vec<Pattern> = Vec::new();
        for site in &sites {
            let site = &data.snapshot.sites[site.index()];
            if let Some(pattern) = Pattern::of_path(&site.path())
                && !patterns.contains(&pattern)
            {
                patterns.push(pattern);
            }
        }
        if patterns.is_empty() || patterns.len() > TOGETHER_MOST {
            let why = match patterns.len() {
                0 => format!("{name} calls nothing that is measured"),
                many => format!(
                    "{name} calls {many} functions, and one key switches {TOGETHER_MOST} at most: switch modules in Sites"
                ),
            };
            return self.complain(why);
        }
        let is_off = |site: &SiteId| data.snapshot.measuring.off_sites.contains(site);
        let all_off = sites.iter().all(is_off);
        let requests: Vec<Request> = patterns
            .into_iter()
            .map(|pattern| self.toggled(data, pattern, all_off))
            .collect();
        let switched_off = matches!(requests.first(), Some(Request::SitesOff(_)));
        let count = match requests.len() {
            1 => "1 function".to_string(),
            many => format!("{many} functions"),
        };
        let said = if switched_off {
            format!(
                "off everywhere: {count} called by {name}; their time counts for callers; - takes it back"
            )
        } else {
            format!("on again: {count} called by {name}; - switches off")
        };
        for &request in &requests {
            self.send_rule(request);
        }
        self.requests.together = Some((requests, said));
    }

    /// Tells the user which pending rules are in force, according to the newest snapshot.
    pub(crate) fn settle_rules(&mut self) {
        let Some(newest) = &self.program.newest else {
            return;
        };
        if let Some(settled) = self.requests.settle_rules(newest) {
            let text = match settled {
                Settled::One(request) => said(newest, self.program.functions.as_deref(), request),
                Settled::Together(said) => said,
            };
            self.tell_done(text);
        }
    }
}

/// Returns the sites of the functions that a row calls.
fn callees(data: &Data, what: What) -> Result<Vec<SiteId>, String> {
    let functions = what.table().callees(data, what.row)?;
    // The row's own function, which recursion may make one of its callees, is left out.
    let own = data.function(what);
    let of_site = data.tree.functions.of_site.iter().zip(0u32..);
    let chosen = of_site.filter(|(function, _)| functions.contains(function) && Some(**function) != own);
    let sites = chosen.map(|(_, site)| SiteId(site));
    // A site that sums up others has no place in the source, so it cannot be switched.
    let is_place = |site: &SiteId| !data.snapshot.sites[site.index()].file.is_empty();
    Ok(sites.filter(is_place).collect())
}

/// Returns the text about the effect of a rule. If a key reverses the effect, the text names the key.
fn said(snapshot: &Snapshot, known: Option<&KnownFunctions>, request: Request) -> String {
    let Some((pattern, off)) = rule_of(request) else {
        return String::new();
    };
    let has_functions = snapshot.functions.is_some();
    let mut chosen = snapshot.sites.iter().filter(|site| pattern.matches(site));
    let unmet = known.map_or(0, |known| known.unmet(snapshot, &pattern));
    let whole = |site: &Site| match has_functions {
        true => Pattern::of_path(&site.path()) == Some(pattern),
        false => pattern_of(site).is_ok_and(|own| own == pattern),
    };
    match (chosen.next(), chosen.next()) {
        (Some(site), None) if whole(site) && unmet == 0 => {
            let path = site.path();
            let label = tail(&path, 2);
            match off {
                Some(true) => format!("{label} off; Space switches it on again"),
                Some(false) => format!("{label} on; Space switches it off again"),
                None => format!("{label} as before; Space switches it"),
            }
        }
        _ => {
            let switch = match off {
                Some(true) => Switch::Off,
                Some(false) => Switch::On,
                None => Switch::Back,
            };
            let said = outcome(snapshot, unmet, &pattern, switch);
            let is_row = pattern.as_str() != "*" && has_functions;
            let back = match switch {
                Switch::Off if is_row => "; Space takes it back",
                Switch::On if is_row => "; Space switches off",
                Switch::Off | Switch::On | Switch::Back => "",
            };
            format!("{said}{back}")
        }
    }
}
