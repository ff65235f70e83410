//! Steps to a function with its callers and callees, and back.

use std::ops::Range;

use tickscope_analysis::functions::FunctionId;

use crate::app::data::Data;
use crate::app::function::{Chosen, Step};
use crate::app::row::{CallId, RowId};
use crate::app::state::App;
use crate::app::view::View;
use crate::app::views::Cursor;

/// Number of steps back that are remembered.
pub(crate) const LONGEST_WAY: usize = 100;

/// Returns the choice of a function.
fn chosen(data: &Data, function: FunctionId) -> Chosen {
    Chosen {
        key: data.tree.functions.get(function).key,
        name: data.names.full[function.index()].clone(),
    }
}

/// Returns the selection of the function itself among its callers and callees.
fn on_itself() -> Cursor {
    Cursor {
        want: vec![RowId::Call(CallId::Own)],
        ..Cursor::default()
    }
}

impl App {
    /// Returns the function of the selected row.
    pub(crate) fn selected_function(&self) -> Option<Chosen> {
        let (data, row) = self.selected()?;
        Some(chosen(data, data.function(row.what)?))
    }

    /// Chooses the function when the view is first shown: the selected function, else the one with the
    /// largest self time.
    pub(crate) fn choose_function(&mut self) {
        if self.views.function.chosen.is_some() {
            return;
        }
        let hottest = || {
            let data = self.data()?;
            let hottest = data.hot().iter().max_by_key(|row| row.self_ns)?;
            Some(chosen(data, hottest.function))
        };
        self.views.function.chosen = self.selected_function().or_else(hottest);
        self.views.list_of(View::Function).cursor = on_itself();
    }

    /// Shows a function with its callers and callees; Escape leads back here.
    pub(crate) fn go_to_function(&mut self, chosen: Chosen) {
        let step = Step {
            view: self.views.current,
            chosen: self.views.function.chosen.replace(chosen),
            cursor: self.list().cursor.clone(),
            came_from: self.views.came_from.take(),
        };
        if self.views.current != View::Function {
            self.views.function.way.clear();
        }
        if self.views.function.way.len() == LONGEST_WAY {
            self.views.function.way.remove(0);
        }
        self.views.function.way.push(step);
        self.views.list_of(View::Function).cursor = on_itself();
        self.switch_to(View::Function);
        self.refresh();
        let page = self.page();
        let list = self.list_mut();
        list.cursor.touched = true;
        if list.cursor.index + 1 >= list.together().start + page {
            list.centre(page);
        }
    }

    /// Goes to the other of two lists side by side, to the row on the line of the selected row.
    pub(crate) fn go_beside(&mut self, to: usize) {
        let list = self.list();
        let both: Vec<Range<usize>> = list.on_screen().collect();
        let (Some(from), Some(beside)) = (both.get(1 - to), both.get(to)) else {
            return;
        };
        if list.together().end != from.end {
            return;
        }
        let high = list.cursor.index.saturating_sub(from.start);
        let free = |&at: &usize| !list.rows[at].is_heading();
        // In a list that ends above that line, the last row is selected.
        let up_to = beside.clone().take(high + 1).rev().find(free);
        if let Some(index) = up_to.or_else(|| beside.clone().find(free)) {
            self.list_mut().cursor.offset = beside.start;
            self.select(index);
        }
    }

    /// Returns the word for the state to which Escape leads.
    pub(crate) fn way_back(&self) -> Option<&'static str> {
        if self.views.came_from.is_some() {
            return Some("back");
        }
        self.query
            .filter
            .focuses(self.views.current)
            .then_some("everything")
    }

    /// Goes one step back on the way to this function; returns false without a step.
    pub(crate) fn go_back(&mut self) -> bool {
        let Some(step) = self.views.function.way.pop() else {
            return false;
        };
        if step.view == View::Function {
            self.views.function.chosen = step.chosen;
            self.list_mut().cursor = step.cursor;
        }
        self.views.came_from = step.came_from;
        self.switch_to(step.view);
        true
    }

    /// Forgets the way back.
    pub(crate) fn forget_way(&mut self) {
        self.views.function.way.clear();
    }
}
