//! Actions that choose which calls are shown, and actions that go to a function.

use tickscope_analysis::call_tree::TreeRow;
use tickscope_analysis::groups;

use crate::app::data::Data;
use crate::app::filter::{Focus, FocusOn};
use crate::app::function::Chosen;
use crate::app::row::{RowId, What};
use crate::app::state::App;
use crate::app::update::travel;
use crate::app::view::{Origin, View};

impl App {
    /// Shows the function of the selected row in the view Function.
    pub(crate) fn enter_row(&mut self) {
        if let Some(chosen) = self.selected_function() {
            self.go_to_function(chosen);
        }
    }

    /// Focuses on the calls of the selected function, on all paths, so that only they are shown. If this is already the
    /// current focus, leaves it.
    pub(crate) fn focus_function(&mut self) {
        let Some(Chosen { key, .. }) = self.selected_function() else {
            return self.tell("no function to focus on: choose a row with a function");
        };
        self.focus_on(FocusOn::Function(key));
    }

    /// Focuses on the selected row and the calls below it, so that only they are shown. If this is already the current
    /// focus, leaves it.
    pub(crate) fn focus_subtree(&mut self) {
        if self.views.current.about().has_parents && self.query.filter.inverted {
            return self.tell(
                "bottom-up there is no subtree of calls: i goes back to top-down, f shows the function",
            );
        }
        let Some((data, row)) = self.selected() else {
            return;
        };
        let place = row.what.table().place(data, row.what.row);
        let Some(path) = place.map(|row| data.tree.rows[row as usize].path) else {
            return self.tell("no function to focus on: choose a row with a function");
        };
        if !data.is_place(path) {
            return self.tell("folded recursion put this row here: c unfolds it, then F");
        }
        self.focus_on(FocusOn::Subtree(path));
    }

    fn focus_on(&mut self, on: FocusOn) {
        if self.query.filter.focus.last().is_some_and(|focus| focus.on == on) {
            self.leave_focus();
            return;
        }
        let Some((data, row)) = self.selected() else {
            return;
        };
        let (name, id) = (data.label(row.what).to_string(), row.id);
        self.query.filter.focus.push(Focus {
            on,
            name,
            view: self.views.current,
            cursor: self.list().cursor.clone(),
        });
        self.views.came_from = None;
        self.refresh();
        let open = self
            .data()
            .filter(|_| !self.query.filter.inverted)
            .map(|data| travel::first_look(data, self.page()));
        self.views.expanded.extend(open.unwrap_or_default());
        let has_paths = self.views.current.about().has_paths
            && !(self.views.current.about().has_parents && self.query.filter.inverted);
        if matches!(on, FocusOn::Function(_)) && has_paths {
            let top = self.data().and_then(|data| {
                let row = *data.tree.top().first()?;
                Some(RowId::Path(data.tree.rows[row as usize].path))
            });
            self.list_mut().cursor.want = top.into_iter().collect();
        } else {
            self.list_mut().cursor.want = vec![id];
        }
        self.refresh();
        self.settle_cursor();
    }

    /// Leaves the current focus and returns to the one before it, or to all calls. Returns false if there is no focus.
    pub(crate) fn leave_focus(&mut self) -> bool {
        if !self.query.filter.focuses(self.views.current) {
            return false;
        }
        let Some(focus) = self.query.filter.focus.pop() else {
            return false;
        };
        if focus.view == self.views.current {
            self.list_mut().cursor = focus.cursor;
        }
        self.refresh();
        true
    }

    /// Switches between showing groups and showing their members.
    pub(crate) fn group(&mut self) {
        let shown = self.shown().map(|shown| &**shown);
        if !self.query.filter.grouped && shown.is_some_and(|shown| groups::names(shown).0.is_empty()) {
            self.tell("nothing is in a group here: scope!(group = \"io\", \"read\") puts a scope into one");
            return;
        }
        self.query.filter.grouped = !self.query.filter.grouped;
        self.refresh();
        self.tell(match self.query.filter.grouped {
            true => "[groups] in place of their members; & shows the members",
            false => "members of groups by themselves",
        });
    }

    /// Goes to the selected function in the tree: to the row of the selected frame or, from other views, to the row
    /// with the largest self time.
    pub(crate) fn show_in_tree(&mut self) {
        let Some(chosen) = self.selected_function() else {
            return self.tell("no function, so no place in the tree");
        };
        let (key, from) = (chosen.key, self.views.current);
        // In the flame graph, a frame is exactly one row of the tree. In other views, a row may stand for many rows of
        // the tree.
        let id = self.list().selected().map(|row| row.id);
        self.switch_to(View::Tree);
        self.refresh();
        let is_place = |row: &TreeRow| Some(RowId::Path(row.path)) == id;
        let found = self
            .data()
            .and_then(|data| data.tree.rows.iter().position(is_place));
        if let Some(row) = found {
            self.show_all_rows();
            self.reveal(View::Tree.row(row as u32));
        } else if !self.find_function(key) {
            // The function is not among the calls in focus, so the focus is dropped.
            self.query.filter.focus.clear();
            self.refresh();
            self.find_function(key);
        }
        self.views.came_from = Some(Origin {
            view: from,
            filtered: false,
        });
    }

    /// Selects a function in the tree, in its row with the largest self time. Returns false if the function is not in
    /// the tree.
    pub(crate) fn find_function(&mut self, key: u64) -> bool {
        let Some(row) = self.data().and_then(|data| data.place_of(key)) else {
            return false;
        };
        self.show_all_rows();
        self.reveal(View::Tree.row(row));
        true
    }

    /// Returns the function that the user has selected; `None` if the selection has not been moved.
    pub(crate) fn chosen_by_hand(&self) -> Option<Chosen> {
        self.selected_function().filter(|_| self.list().cursor.touched)
    }

    /// Selects the row of a function in a list of functions. If the function has several rows, selects the one with the
    /// most calls.
    pub(crate) fn follow(&mut self, key: u64) {
        self.refresh();
        let Some(data) = &self.derived.data else { return };
        let of_it = |what: What| {
            let function = data.function(what);
            function.is_some_and(|function| data.tree.functions.get(function).key == key)
        };
        let rows = self.list().rows.iter().enumerate();
        let found = rows
            .filter(|(_, row)| of_it(row.what))
            .max_by_key(|(index, row)| (data.figures(row.what).calls, std::cmp::Reverse(*index)))
            .map(|(index, _)| index);
        let Some(index) = found else { return };
        let (page, cursor) = (self.page(), &self.list().cursor);
        let on_screen = (cursor.offset..cursor.offset + page).contains(&index);
        self.select(index);
        if !on_screen {
            self.list_mut().centre(page);
        }
    }

    /// Lists all rows again, because the row to show may be hidden while only matches are listed.
    pub(crate) fn show_all_rows(&mut self) {
        if let Some(search) = &mut self.views.search {
            search.only = false;
        }
    }

    /// Returns the reason why a function is not shown: either its group is shown in its place, or the function is
    /// itself a group and its members are shown.
    pub(crate) fn hidden_by_groups(&self, data: &Data, key: u64, name: &str) -> Option<String> {
        let shows = match self.query.filter.grouped {
            true => "the functions in groups",
            false => "groups",
        };
        let is_hidden = data.is_hidden_by_groups(key);
        is_hidden.then(|| format!("{name} is not shown now. & shows {shows}."))
    }

    /// Returns the text to show instead of an empty list, if the list is empty because of a focus.
    pub(crate) fn nothing_in_focus(&self, data: &Data) -> Option<String> {
        let filter = &self.query.filter;
        let focus = filter
            .focus
            .last()
            .filter(|_| filter.focuses(self.views.current))?;
        if !data.calls().rows.is_empty() {
            return None;
        }
        let hidden = match focus.on {
            FocusOn::Function(key) => self.hidden_by_groups(data, key, &focus.name),
            FocusOn::Subtree(_) => None,
        };
        let name = &focus.name;
        hidden.or_else(|| {
            Some(format!(
                "No call of {name} in this snapshot. Esc shows everything."
            ))
        })
    }
}
