//! What is searched for, and where it was found.

use std::cell::OnceCell;

use tickscope_analysis::call_tree::PathId;
use tui_input::Input;

use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::names;
use crate::app::row::RowId;

/// A search, typed or kept.
#[derive(Debug, Default)]
pub(crate) struct Search {
    /// The line as it is typed.
    pub(crate) input: Input,
    /// Only matches and what leads to them are listed.
    pub(crate) only: bool,
    /// The selection before, to return to.
    pub(crate) origin: Vec<RowId>,
    /// The first row on screen before.
    pub(crate) origin_offset: usize,
    /// Rows that were opened for the match on screen and close again with the next.
    pub(crate) opened: Vec<PathId>,
    /// The matches, in the order of the list.
    pub(crate) hits: Vec<What>,
    /// Matches before the selected row.
    pub(crate) before: usize,
    /// The row before which they were counted.
    pub(super) counted_at: Option<RowId>,
    /// Time in matches, what is inside of another match not counted again.
    pub(crate) time_ns: u64,
}

/// Which rows of the data match.
#[derive(Debug, Default)]
pub(crate) struct Matcher {
    text: String,
    by_function: Vec<bool>,
    inside: Vec<bool>,
    /// Of places below modules: which match, and what is above them.
    places: OnceCell<(Vec<bool>, Vec<bool>)>,
}

impl Search {
    /// What is searched for.
    pub(crate) fn text(&self) -> &str {
        self.input.value()
    }

    /// Whether there is something to look for.
    pub(crate) fn is_set(&self) -> bool {
        !self.text().is_empty()
    }
}

impl Matcher {
    /// Looks through all functions.
    pub(crate) fn of(data: &Data, text: &str) -> Self {
        let by_function = data.names.matching(text);
        let mut inside = vec![false; data.tree.rows.len()];
        for index in (0..data.tree.rows.len()).rev() {
            let row = &data.tree.rows[index];
            if let Some(parent) = row.parent
                && (inside[index] || by_function[row.function.index()])
            {
                inside[parent as usize] = true;
            }
        }
        Self {
            text: text.to_string(),
            by_function,
            inside,
            places: OnceCell::new(),
        }
    }

    fn places(&self, data: &Data) -> &(Vec<bool>, Vec<bool>) {
        self.places.get_or_init(|| data.site_table().matching(&self.text))
    }

    /// Whether the row itself matches.
    pub(crate) fn hits(&self, data: &Data, what: What) -> bool {
        if let What::Thread(row) = what {
            let row = &data.threads()[row as usize];
            let doing = row
                .doing
                .is_some_and(|function| self.by_function[function.index()]);
            return doing || names::contains(&row.name, &self.text);
        }
        if let What::Site(row) = what
            && data.site_table().is_grouped()
        {
            return self.places(data).0[row as usize];
        }
        data.function(what)
            .is_some_and(|function| self.by_function[function.index()])
    }

    /// Whether something below the row matches.
    pub(crate) fn inside(&self, data: &Data, what: What) -> bool {
        match what {
            What::Tree(row) => self.inside[row as usize],
            What::Site(row) if data.site_table().is_grouped() => self.places(data).1[row as usize],
            What::Hot(_)
            | What::Call(_)
            | What::Thread(_)
            | What::Site(_)
            | What::Task(_)
            | What::Slow(_)
            | What::Outside => false,
        }
    }

    /// Time in matches of the tree, each moment once.
    pub(crate) fn time_ns(&self, data: &Data) -> u64 {
        let mut covered = vec![false; data.tree.rows.len()];
        let mut time_ns = 0_u64;
        for (index, row) in data.tree.rows.iter().enumerate() {
            let above = row.parent.is_some_and(|parent| covered[parent as usize]);
            let hit = self.by_function[row.function.index()];
            covered[index] = above || hit;
            if hit && !above {
                time_ns = time_ns.saturating_add(row.total_ns);
            }
        }
        time_ns
    }
}
