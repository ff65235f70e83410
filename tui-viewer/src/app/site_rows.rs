//! The rows of the Sites view: calls and state of each place in the source, and totals for modules.
//!
//! Which places are on depends on the rules and on the choice of functions in the snapshot. Both are applied by the same
//! code that the collector uses (`function_choice.rs` of tickscope-format).

use std::collections::HashMap;
use std::rc::Rc;

use tickscope_analysis::sites::sites;
use tickscope_format::Snapshot;
use tickscope_format::function_choice::Chosen;
use tickscope_format::ids::SiteId;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{FunctionChoice, OverBudget, Rule, Site};
use tickscope_programs::known_functions::KnownFunctions;

use crate::app::site_places::{Place, Places};

/// State of a place. The states are ordered, and a module has the greatest state of its places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SiteState {
    /// Switched off.
    Off,
    /// A function that was switched off because it cost too much to measure.
    OverBudget,
    /// A function that was not chosen for measuring when the program started.
    NotChosen,
    /// On, but not reached since the reset. Includes functions that were never called.
    NotSince,
    /// Reached since the reset.
    Hit,
}

/// A place in the source, or a module with all its places.
#[derive(Debug)]
pub(crate) struct SiteRow {
    /// Site of the place; `None` for modules and for functions that were never reached.
    pub(crate) site: Option<SiteId>,
    /// Key that identifies the row across snapshots.
    pub(crate) key: u64,
    /// Calls begun since the reset.
    pub(crate) calls: u64,
    /// State of the place or, for a module, the greatest state of its places.
    pub(crate) state: SiteState,
    /// Index of the rule that decides whether the place is measured; `None` if no rule chooses it.
    rule: Option<u16>,
    /// Whether the function was chosen for measuring when the program started and, if not, the reason.
    pub(crate) chosen: Chosen,
    /// Cost of measuring the function, if it was switched off because this cost exceeded the budget.
    pub(crate) over_budget: Option<OverBudget>,
    /// Number of places in a module; 1 for the row of a place.
    pub(crate) places: u32,
    /// Number of these places that are on.
    pub(crate) on: u32,
}

/// Which rule applies to each place, and which functions the program chose when it started.
#[derive(Debug)]
struct Ruled {
    rules: Vec<Rule>,
    choice: FunctionChoice,
    /// For each place, the index of its rule.
    rule: Vec<Option<u16>>,
    /// For each known function, whether it was chosen.
    chosen: Vec<Chosen>,
}

/// The parts of a table that the next table can reuse.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    places: Rc<Places>,
    ruled: Rc<Ruled>,
}

/// The table of all rows. Each module comes before the rows that it contains.
#[derive(Debug)]
pub(crate) struct SiteTable {
    pub(crate) kept: Kept,
    pub(crate) rows: Vec<SiteRow>,
}

impl SiteTable {
    /// Builds the table for a snapshot. `former` contains the reusable parts of the previous table.
    pub(crate) fn of(
        snapshot: &Snapshot,
        known: Option<&Rc<KnownFunctions>>,
        former: Option<&Kept>,
        ascii: bool,
    ) -> Self {
        let same = former.filter(|former| former.places.are_of(snapshot, known, ascii));
        let places = same.map_or_else(
            || Rc::new(Places::new(snapshot, known, ascii)),
            |former| Rc::clone(&former.places),
        );
        let rules = &snapshot.measuring.rules;
        let choice = snapshot.functions.as_ref().map(|functions| &functions.choice);
        let same = same.filter(|former| {
            let ruled = &former.ruled;
            ruled.rules == *rules && choice.is_none_or(|choice| ruled.choice == *choice)
        });
        let ruled = same.map_or_else(
            || Rc::new(Ruled::of(&places, rules, choice)),
            |former| Rc::clone(&former.ruled),
        );
        let rows = rows(snapshot, &places, &ruled);
        Self {
            kept: Kept { places, ruled },
            rows,
        }
    }

    /// Whether places are listed below their modules.
    pub(crate) fn is_grouped(&self) -> bool {
        self.kept.places.grouped
    }

    /// Returns the places and modules that the rows stand for.
    pub(crate) fn places(&self) -> &Places {
        &self.kept.places
    }

    /// Returns the place or module that a row stands for.
    pub(crate) fn place(&self, row: u32) -> &Place {
        &self.kept.places.rows[row as usize]
    }

    /// Returns the place in the source that a row stands for; `None` for modules.
    pub(crate) fn source(&self, row: u32) -> Option<&Site> {
        self.kept.places.site(self.place(row))
    }

    /// Returns the rule that decides whether a row is measured.
    pub(crate) fn rule(&self, row: u32) -> Option<&Rule> {
        let rule = self.rows[row as usize].rule?;
        self.kept.ruled.rules.get(usize::from(rule))
    }

    /// Returns the rule with exactly this pattern.
    pub(crate) fn rule_of(&self, pattern: &Pattern) -> Option<&Rule> {
        let mut rules = self.kept.ruled.rules.iter();
        rules.find(|rule| rule.pattern == pattern.as_str())
    }
}

impl Ruled {
    fn of(places: &Places, rules: &[Rule], choice: Option<&FunctionChoice>) -> Self {
        let patterns = rules.iter().enumerate().rev();
        let patterns: Vec<(Pattern, u16)> = patterns
            .filter_map(|(number, rule)| Some((Pattern::new(&rule.pattern).ok()?, number as u16)))
            .collect();
        // If several rules match a site, the last one decides.
        let last = |site: &Site| {
            let mut patterns = patterns.iter();
            patterns
                .find(|(pattern, _)| pattern.matches(site))
                .map(|(_, number)| *number)
        };
        let rule = places
            .rows
            .iter()
            .map(|place| places.site(place).filter(|_| !patterns.is_empty()).and_then(last));
        let known = places.known.as_ref().zip(choice);
        Self {
            rule: rule.collect(),
            rules: rules.to_vec(),
            chosen: known.map_or_else(Vec::new, |(known, choice)| known.chosen(choice)),
            choice: choice.cloned().unwrap_or_default(),
        }
    }
}

/// Builds the rows of all places. The row of each module contains the totals of its places.
fn rows(snapshot: &Snapshot, places: &Places, ruled: &Ruled) -> Vec<SiteRow> {
    let mut by_site = vec![(0, false); snapshot.sites.len()];
    for row in sites(snapshot) {
        by_site[row.site.index()] = (row.calls, row.off);
    }
    let over_budget = snapshot.over_budget().iter();
    let over_budget: HashMap<SiteId, OverBudget> = over_budget.map(|over| (over.site, *over)).collect();
    let mut rows: Vec<SiteRow> = Vec::with_capacity(places.rows.len());
    for (place, &rule) in places.rows.iter().zip(&ruled.rule) {
        let is_module = place.site.is_none() && place.function.is_none();
        let chosen = place
            .function
            .and_then(|number| ruled.chosen.get(number as usize));
        let chosen = chosen.copied().unwrap_or(Chosen::On);
        let ruled_off = rule.and_then(|rule| ruled.rules.get(usize::from(rule)));
        let ruled_off = ruled_off.map(|rule| rule.off);
        let (calls, off) = match place.site {
            Some(site) => by_site[site.index()],
            None => (0, ruled_off.unwrap_or(chosen != Chosen::On)),
        };
        let over_budget = place.site.and_then(|site| over_budget.get(&site)).copied();
        let over_budget = over_budget.filter(|_| off && ruled_off.is_none());
        let state = match (off, calls) {
            (true, _) if over_budget.is_some() => SiteState::OverBudget,
            (true, _) if ruled_off.is_none() && chosen != Chosen::On => SiteState::NotChosen,
            (true, _) => SiteState::Off,
            (false, 0) => SiteState::NotSince,
            (false, _) => SiteState::Hit,
        };
        rows.push(SiteRow {
            site: place.site,
            key: place.key,
            calls,
            state: if is_module { SiteState::Off } else { state },
            rule,
            chosen,
            over_budget,
            places: u32::from(!is_module),
            on: u32::from(!is_module && !off),
        });
    }
    for index in (0..rows.len()).rev() {
        let Some(parent) = places.rows[index].parent else {
            continue;
        };
        let (above, from) = rows.split_at_mut(index);
        let above = &mut above[parent as usize];
        above.calls += from[0].calls;
        above.places += from[0].places;
        above.on += from[0].on;
        above.state = above.state.max(from[0].state);
    }
    rows
}

impl SiteRow {
    /// Whether the place is not measured; for a module, whether no place in it is measured.
    pub(crate) fn is_off(&self) -> bool {
        self.on == 0
    }
}

impl SiteState {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::OverBudget => "over budget",
            Self::NotChosen => "not chosen",
            Self::NotSince => "not since reset",
            Self::Hit => "on",
        }
    }
}
