//! The rows of the view Sites: the places in the source that were met. Where the program has functions, all of them
//! stand below their crates and modules.
//!
//! Without functions the list is flat: there are tens of sites, all chosen by hand, and most modules would have one. Functions
//! that were never called are in no snapshot: they come from the table in the program's file (`source/known_functions.rs`). Rules
//! and choice in the snapshot decide which are on, by the collector's own code (`function_choice.rs` of tickscope-format).

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use tickscope_analysis::sites::sites;
use tickscope_format::Snapshot;
use tickscope_format::function_choice::Chosen;
use tickscope_format::ids::SiteId;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{FunctionChoice, OverBudget, Rule, Site, Sites};
use tickscope_programs::known_functions::KnownFunctions;

use crate::text::cells::safe;

/// State of a place, in the order in which people look for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SiteState {
    /// Switched off.
    Off,
    /// A function that was switched off because measuring it cost too much.
    OverBudget,
    /// A function that was not to be measured from the beginning.
    NotChosen,
    /// Met, but not since the reset, or a function that was never called.
    NotSince,
    /// Met since the reset.
    Hit,
}

/// A place in the source, or a module with all its places.
#[derive(Debug)]
pub(crate) struct SiteRow {
    /// Site of the place; `None` for modules and for functions that were not met.
    pub(crate) site: Option<SiteId>,
    /// Key of the row, the same in all snapshots.
    pub(crate) key: u64,
    /// Calls begun since the reset.
    pub(crate) calls: u64,
    /// State of the place; for a module the best state of its places.
    pub(crate) state: SiteState,
    /// Index of the rule that decides whether the place is measured; `None` where no rule chooses it.
    rule: Option<u16>,
    /// Reason why the place was not chosen.
    pub(crate) chosen: Chosen,
    /// Cost of measuring, where it was over the budget, so that the place is off.
    pub(crate) over_budget: Option<OverBudget>,
    /// Number of places in it, and of places that are on; a place counts itself.
    pub(crate) places: u32,
    pub(crate) on: u32,
}

/// The part of the table that does not change as long as the same places are known.
#[derive(Debug, Default)]
struct Places {
    of: Sites,
    known: Option<Rc<KnownFunctions>>,
    grouped: bool,
    rows: Vec<Place>,
    top: Vec<u32>,
    ascii: bool,
}

#[derive(Debug)]
struct Place {
    site: Option<SiteId>,
    /// Index among the functions of the program.
    function: Option<u32>,
    key: u64,
    /// Name in the module, or the last part of a module's path; printable.
    name: String,
    /// Path of the place's module, or of the module itself; printable.
    module: String,
    /// Path of a module, as the program has it.
    path: String,
    /// Whole path, printable.
    full: String,
    /// Whole path in the form that a search reads.
    small_path: String,
    parent: Option<u32>,
    children: Vec<u32>,
    /// Number of rows below it.
    below: u32,
}

/// Rule of each place, and the program's first choice of functions.
#[derive(Debug)]
struct Ruled {
    rules: Vec<Rule>,
    choice: FunctionChoice,
    /// Rule by place.
    rule: Vec<Option<u16>>,
    /// Choice by function.
    chosen: Vec<Chosen>,
}

/// The parts that the next table can reuse.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    places: Rc<Places>,
    ruled: Rc<Ruled>,
}

/// The table of all rows; a module stands before its rows.
#[derive(Debug)]
pub(crate) struct SiteTable {
    kept: Kept,
    rows: Vec<SiteRow>,
}

impl SiteTable {
    /// Makes the rows of a snapshot. `former` has the reusable parts of the table before.
    pub(crate) fn of(
        snapshot: &Snapshot,
        known: Option<&Rc<KnownFunctions>>,
        former: Option<&Kept>,
        ascii: bool,
    ) -> Self {
        let same_known = |places: &Places| match (&places.known, known) {
            (Some(then), Some(now)) => Rc::ptr_eq(then, now),
            (then, now) => then.is_none() && now.is_none(),
        };
        let grouped = snapshot.functions.is_some();
        let same = former.filter(|former| {
            let places = &former.places;
            let looks_the_same = places.ascii == ascii && places.grouped == grouped;
            looks_the_same && same_known(places) && places.of == snapshot.sites
        });
        let places = same.map_or_else(
            || Rc::new(Places::of(snapshot, known, ascii)),
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

    /// Returns the parts that the next table can reuse.
    pub(crate) fn kept(&self) -> &Kept {
        &self.kept
    }

    /// Returns all rows.
    pub(crate) fn rows(&self) -> &[SiteRow] {
        &self.rows
    }

    /// Whether places stand below their modules.
    pub(crate) fn is_grouped(&self) -> bool {
        self.kept.places.grouped
    }

    fn place(&self, row: u32) -> &Place {
        &self.kept.places.rows[row as usize]
    }

    /// Returns the rows at the top.
    pub(crate) fn top(&self) -> &[u32] {
        &self.kept.places.top
    }

    /// Returns the rows in a module.
    pub(crate) fn children(&self, row: u32) -> &[u32] {
        &self.place(row).children
    }

    /// Returns the module that a row is in.
    pub(crate) fn parent(&self, row: u32) -> Option<u32> {
        self.place(row).parent
    }

    /// Whether a row is a module.
    pub(crate) fn is_module(&self, row: u32) -> bool {
        !self.children(row).is_empty()
    }

    /// Returns the number of rows below a row.
    pub(crate) fn below(&self, row: u32) -> u32 {
        self.place(row).below
    }

    /// Returns the name in the module, or the last part of a module's path.
    pub(crate) fn name(&self, row: u32) -> &str {
        &self.place(row).name
    }

    /// Returns the path of the place's module, or of the module itself.
    pub(crate) fn module(&self, row: u32) -> &str {
        &self.place(row).module
    }

    /// Returns the whole path of a row, printable.
    pub(crate) fn full_name(&self, row: u32) -> &str {
        &self.place(row).full
    }

    /// Returns the path of a module as the program has it.
    pub(crate) fn path(&self, row: u32) -> &str {
        &self.place(row).path
    }

    /// Returns the place of a row in the source; `None` for modules.
    pub(crate) fn source<'a>(&'a self, snapshot: &'a Snapshot, row: u32) -> Option<&'a Site> {
        let place = self.place(row);
        match (place.site, place.function) {
            (Some(site), _) => snapshot.sites.get(site.index()),
            (None, Some(function)) => self.kept.places.known.as_ref()?.sites.get(function as usize),
            (None, None) => None,
        }
    }

    /// Returns the rule that decides whether a row is measured.
    pub(crate) fn rule(&self, row: u32) -> Option<&Rule> {
        let rule = self.rows[row as usize].rule?;
        self.kept.ruled.rules.get(usize::from(rule))
    }

    /// Returns the rule with this very pattern.
    pub(crate) fn rule_of(&self, pattern: &Pattern) -> Option<&Rule> {
        let mut rules = self.kept.ruled.rules.iter();
        rules.find(|rule| rule.pattern == pattern.as_str())
    }

    /// Returns the number of places, and of places that are on.
    pub(crate) fn counts(&self) -> (u32, u32) {
        self.top().iter().fold((0, 0), |(places, on), &row| {
            let row = &self.rows[row as usize];
            (places + row.places, on + row.on)
        })
    }

    /// Returns by row whether its name or, where no name matches, its path has the text; and whether a row below it matches.
    pub(crate) fn matching(&self, text: &str) -> (Vec<bool>, Vec<bool>) {
        let places = &self.kept.places.rows;
        let exact = text.chars().any(char::is_uppercase);
        let in_path = |place: &Place| match exact {
            true => place.full.contains(text),
            false => place.small_path.contains(text),
        };
        let in_name = |place: &Place| match exact {
            true => place.name.contains(text),
            false => place.small_path[small_name_at(place)..].contains(text),
        };
        let mut hits: Vec<bool> = places.iter().map(in_name).collect();
        if !hits.contains(&true) {
            let is_place = |place: &Place| place.children.is_empty();
            hits = places
                .iter()
                .map(|place| is_place(place) && in_path(place))
                .collect();
        }
        let mut inside = vec![false; places.len()];
        for (index, place) in places.iter().enumerate().rev() {
            if let Some(parent) = place.parent
                && (hits[index] || inside[index])
            {
                inside[parent as usize] = true;
            }
        }
        (hits, inside)
    }
}

/// Returns the byte at which the name begins in the path that is searched.
fn small_name_at(place: &Place) -> usize {
    let name = place.name.to_lowercase().len();
    let at = place.small_path.len().saturating_sub(name);
    if place.small_path.is_char_boundary(at) {
        at
    } else {
        0
    }
}

fn path_of(module: &str, name: &str) -> String {
    match module {
        "" => name.to_string(),
        module => format!("{module}::{name}"),
    }
}

fn hash(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

impl Places {
    fn of(snapshot: &Snapshot, known: Option<&Rc<KnownFunctions>>, ascii: bool) -> Self {
        let mut places = Self {
            of: snapshot.sites.clone(),
            known: known.cloned(),
            grouped: snapshot.functions.is_some(),
            ascii,
            ..Self::default()
        };
        let mut modules = HashMap::new();
        let mut alike: HashMap<&Site, u32> = HashMap::new();
        let mut met: HashMap<&Site, SiteId> = HashMap::new();
        let functions: HashMap<&Site, u32> = match known {
            Some(known) => known.sites.iter().zip(0..).collect(),
            None => HashMap::new(),
        };
        for row in sites(snapshot) {
            let site = &snapshot.sites[row.site.index()];
            // A macro makes several sites in one line, so only their order tells them apart.
            let nth = alike.entry(site).or_default();
            *nth += 1;
            let key = hash((site, *nth));
            met.insert(site, row.site);
            places.add(
                &mut modules,
                site,
                Some(row.site),
                functions.get(site).copied(),
                key,
            );
        }
        for (site, number) in known.iter().flat_map(|known| known.sites.iter().zip(0..)) {
            if !met.contains_key(site) {
                places.add(&mut modules, site, None, Some(number), hash((site, 1u32)));
            }
        }
        places.settle();
        places
    }

    fn add(
        &mut self,
        modules: &mut HashMap<String, u32>,
        site: &Site,
        id: Option<SiteId>,
        function: Option<u32>,
        key: u64,
    ) {
        let parent = match self.grouped && !site.module.is_empty() {
            true => Some(self.module_row(modules, &site.module)),
            false => None,
        };
        let name = safe(&site.name, self.ascii).into_owned();
        let module = safe(&site.module, self.ascii).into_owned();
        self.push(Place {
            full: path_of(&module, &name),
            small_path: path_of(&module, &name).to_lowercase(),
            site: id,
            function,
            key,
            name,
            module,
            path: String::new(),
            parent,
            children: Vec::new(),
            below: 0,
        });
    }

    /// Returns the row of a module; adds it after the rows of the modules that it is in.
    fn module_row(&mut self, modules: &mut HashMap<String, u32>, path: &str) -> u32 {
        if let Some(&row) = modules.get(path) {
            return row;
        }
        let (above, name) = path.rsplit_once("::").unwrap_or(("", path));
        let parent = match above {
            "" => None,
            above => Some(self.module_row(modules, above)),
        };
        let module = safe(path, self.ascii).into_owned();
        let row = self.push(Place {
            site: None,
            function: None,
            key: hash(("module", path)),
            name: safe(name, self.ascii).into_owned(),
            full: module.clone(),
            small_path: module.to_lowercase(),
            module,
            path: path.to_string(),
            parent,
            children: Vec::new(),
            below: 0,
        });
        modules.insert(path.to_string(), row);
        row
    }

    fn push(&mut self, place: Place) -> u32 {
        let row = self.rows.len() as u32;
        match place.parent {
            Some(parent) => self.rows[parent as usize].children.push(row),
            None => self.top.push(row),
        }
        self.rows.push(place);
        row
    }

    /// Counts the rows below each row, and sorts grouped rows by name.
    fn settle(&mut self) {
        for index in (0..self.rows.len()).rev() {
            if let Some(parent) = self.rows[index].parent {
                let below = self.rows[index].below + 1;
                self.rows[parent as usize].below += below;
            }
        }
        if !self.grouped {
            return;
        }
        let mut lists: Vec<Vec<u32>> = self
            .rows
            .iter_mut()
            .map(|place| std::mem::take(&mut place.children))
            .collect();
        for list in lists.iter_mut().chain([&mut self.top]) {
            list.sort_by(|&a, &b| self.rows[a as usize].name.cmp(&self.rows[b as usize].name));
        }
        for (place, children) in self.rows.iter_mut().zip(lists) {
            place.children = children;
        }
    }

    /// Returns the site of a row.
    fn site<'a>(&'a self, place: &Place) -> Option<&'a Site> {
        match (place.site, place.function) {
            (Some(site), _) => self.of.get(site.index()),
            (None, Some(function)) => self.known.as_ref()?.sites.get(function as usize),
            (None, None) => None,
        }
    }
}

impl Ruled {
    fn of(places: &Places, rules: &[Rule], choice: Option<&FunctionChoice>) -> Self {
        let patterns = rules.iter().enumerate().rev();
        let patterns: Vec<(Pattern, u16)> = patterns
            .filter_map(|(number, rule)| Some((Pattern::new(&rule.pattern).ok()?, number as u16)))
            .collect();
        // The last rule that chooses a site decides.
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

/// Makes the rows of all places, and sums up the modules that they are in.
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
        let SiteRow {
            calls,
            state,
            places,
            on,
            ..
        } = rows[index];
        let above = &mut rows[parent as usize];
        above.calls += calls;
        above.places += places;
        above.on += on;
        above.state = above.state.max(state);
    }
    rows
}

impl SiteRow {
    /// Whether the place is not measured; for a module whether none of its places is measured.
    pub(crate) fn is_off(&self) -> bool {
        self.on == 0
    }
}

impl SiteState {
    /// Returns the state in words.
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
