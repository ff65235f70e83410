//! The search in a list, and its matches.

use std::cell::OnceCell;

use tickscope_analysis::call_tree::PathId;
use tickscope_analysis::functions::FunctionId;
use tui_input::Input;

use crate::app::data::Data;
use crate::app::row::{RowId, What};

/// A search, both while its text is being typed and afterwards.
#[derive(Debug, Default)]
pub(crate) struct Search {
    /// Editor of the text.
    pub(crate) input: Input,
    /// Whether the list shows only matches and their ancestors.
    pub(crate) only: bool,
    /// The selection before the search, to which the user can return.
    pub(crate) origin: Vec<RowId>,
    /// The first row that was on screen before the search.
    pub(crate) origin_offset: usize,
    /// Rows that were opened to show the current match. They are closed again at the next match.
    pub(crate) opened: Vec<PathId>,
    /// The matches, in the order of the list.
    pub(crate) hits: Vec<What>,
    /// Number of matches before the selected row.
    pub(crate) before: usize,
    /// Row that was selected when `before` was counted.
    pub(crate) counted_at: Option<RowId>,
    /// Total time of the matches. A match below another match is not counted again.
    pub(crate) time_ns: u64,
}

/// The rows of the data that match.
#[derive(Debug, Default)]
pub(crate) struct Matcher {
    pub(crate) text: String,
    by_function: Vec<bool>,
    /// For each row of the tree, whether any row below it matches.
    pub(crate) inside: Vec<bool>,
    /// For each row of the site table, whether it matches, and whether any row below it matches.
    places: OnceCell<(Vec<bool>, Vec<bool>)>,
}

impl Search {
    /// Returns the text to search for.
    pub(crate) fn text(&self) -> &str {
        self.input.value()
    }

    /// Whether there is a text to search for.
    pub(crate) fn is_set(&self) -> bool {
        !self.text().is_empty()
    }
}

impl Matcher {
    /// Finds all functions whose names match a text.
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

    /// Returns, for each row of the site table, whether it matches, and whether any row below it matches.
    pub(crate) fn places(&self, data: &Data) -> &(Vec<bool>, Vec<bool>) {
        self.places
            .get_or_init(|| data.site_table().places().matching(&self.text))
    }

    /// Whether a function matches.
    pub(crate) fn finds(&self, function: FunctionId) -> bool {
        self.by_function[function.index()]
    }

    /// Whether the row itself matches.
    pub(crate) fn hits(&self, data: &Data, what: What) -> bool {
        what.table().is_hit(data, what.row, self)
    }

    /// Whether a row below the row matches.
    pub(crate) fn inside(&self, data: &Data, what: What) -> bool {
        what.table().has_hit_below(data, what.row, self)
    }

    /// Returns the total time of the matches in the tree. A match below another match is not counted again.
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
