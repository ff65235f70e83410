//! Places in the source that the program has reached. If the snapshots of the program contain functions, all of its
//! functions are listed, grouped by crate and module.
//!
//! Without functions, the list is flat, because there are only a few dozen sites, all chosen by hand, and most modules
//! would contain just one of them. Functions that were never called do not appear in snapshots. They come from the function
//! table in the program's file (`known_functions.rs` of tickscope-programs).

use std::collections::HashMap;
use std::rc::Rc;

use tickscope_analysis::sites::sites;
use tickscope_format::Snapshot;
use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::{Site, Sites};
use tickscope_programs::known_functions::KnownFunctions;

use crate::app::keyhash::number_of;
use crate::app::names::is_exact;
use crate::text::cells::safe;

/// The part of the site table that stays the same until new places become known.
#[derive(Debug, Default)]
pub(crate) struct Places {
    of: Sites,
    pub(crate) known: Option<Rc<KnownFunctions>>,
    /// Whether places are listed below their modules.
    pub(crate) grouped: bool,
    pub(crate) rows: Vec<Place>,
    /// Rows at the top.
    pub(crate) top: Vec<u32>,
    ascii: bool,
}

/// A place in the source, or a module.
#[derive(Debug, Default)]
pub(crate) struct Place {
    pub(crate) site: Option<SiteId>,
    /// Index of the function in [`KnownFunctions::sites`].
    pub(crate) function: Option<u32>,
    /// Key that identifies the row across snapshots.
    pub(crate) key: u64,
    /// Name within its module or, for a module, the last part of its path. Printable.
    pub(crate) name: String,
    /// Path of the module that contains the place or, for a module, its own path. Printable.
    pub(crate) module: String,
    /// For a module, its path exactly as the program reports it.
    pub(crate) path: String,
    /// Whole path, printable.
    pub(crate) full: String,
    /// Whole path in lower case, for searches.
    small_path: String,
    /// Row of the module that contains this row.
    pub(crate) parent: Option<u32>,
    /// Rows in a module.
    pub(crate) children: Vec<u32>,
    /// Number of rows below the row.
    pub(crate) below: u32,
}

impl Places {
    pub(crate) fn new(snapshot: &Snapshot, known: Option<&Rc<KnownFunctions>>, ascii: bool) -> Self {
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
            // A macro can create several sites on one line, so only their order tells them apart.
            let nth = alike.entry(site).or_default();
            *nth += 1;
            let key = number_of((site, *nth));
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
                places.add(&mut modules, site, None, Some(number), number_of((site, 1u32)));
            }
        }
        places.settle();
        places
    }

    /// Whether these places can be reused for a snapshot, given the known functions and the character set.
    pub(crate) fn are_of(
        &self,
        snapshot: &Snapshot,
        known: Option<&Rc<KnownFunctions>>,
        ascii: bool,
    ) -> bool {
        let same_known = match (&self.known, known) {
            (Some(then), Some(now)) => Rc::ptr_eq(then, now),
            (then, now) => then.is_none() && now.is_none(),
        };
        let grouped = snapshot.functions.is_some();
        self.ascii == ascii && self.grouped == grouped && same_known && self.of == snapshot.sites
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
        let full = path_of(&module, &name);
        self.push(Place {
            small_path: full.to_lowercase(),
            full,
            site: id,
            function,
            key,
            name,
            module,
            parent,
            ..Place::default()
        });
    }

    /// Returns the row of a module. A new module is added after the rows of the modules that contain it.
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
            key: number_of(("module", path)),
            name: safe(name, self.ascii).into_owned(),
            full: module.clone(),
            small_path: module.to_lowercase(),
            module,
            path: path.to_string(),
            parent,
            ..Place::default()
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

    /// Returns the place in the source that a row stands for; `None` for modules.
    pub(crate) fn site<'a>(&'a self, place: &Place) -> Option<&'a Site> {
        match (place.site, place.function) {
            (Some(site), _) => self.of.get(site.index()),
            (None, Some(function)) => self.known.as_ref()?.sites.get(function as usize),
            (None, None) => None,
        }
    }

    /// Returns, for each row, whether it matches, and whether any row below it matches. A row matches if its name contains
    /// the text. If there is no such row, places match if their path contains the text.
    pub(crate) fn matching(&self, text: &str) -> (Vec<bool>, Vec<bool>) {
        let places = &self.rows;
        let exact = is_exact(text);
        let in_path = |place: &Place| match exact {
            true => place.full.contains(text),
            false => place.small_path.contains(text),
        };
        let in_name = |place: &Place| match exact {
            true => place.name.contains(text),
            false => place.small_path[place.small_name_at()..].contains(text),
        };
        let mut hits: Vec<bool> = places.iter().map(in_name).collect();
        if !hits.contains(&true) {
            let is_hit = |place: &Place| !place.is_module() && in_path(place);
            hits = places.iter().map(is_hit).collect();
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

impl Place {
    pub(crate) fn is_module(&self) -> bool {
        !self.children.is_empty()
    }

    /// Returns the byte offset of the name in the lower-case path.
    fn small_name_at(&self) -> usize {
        let name = self.name.to_lowercase().len();
        let at = self.small_path.len().saturating_sub(name);
        if self.small_path.is_char_boundary(at) {
            at
        } else {
            0
        }
    }
}

fn path_of(module: &str, name: &str) -> String {
    match module {
        "" => name.to_string(),
        module => format!("{module}::{name}"),
    }
}
