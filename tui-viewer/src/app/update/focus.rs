//! Keys that choose the part of the tree that is shown, and top-down or bottom-up.

use tickscope_analysis::groups;

use crate::app::figures::What;
use crate::app::filter::{Focus, FocusOn};
use crate::app::function::Chosen;
use crate::app::row::RowId;
use crate::app::sort::Sort;
use crate::app::state::App;
use crate::app::timeline::Lanes;
use crate::app::update::travel;
use crate::app::view::Origin;
use crate::app::view::View;

impl App {
    /// Opens the selected row: a function with its callers, a thread, a frame, or a module.
    pub(in crate::app) fn enter_row(&mut self) {
        match self.views.current {
            View::Threads => self.enter_thread(),
            View::Timeline if self.views.timeline.lanes == Lanes::Threads => self.enter_thread(),
            View::Flame => self.zoom_in(),
            View::Tree
            | View::Hot
            | View::Function
            | View::Sites
            | View::Tasks
            | View::Slow
            | View::Timeline => {
                let chosen = self.selected_function();
                match chosen {
                    Some(chosen) if self.views.current == View::Function && self.is_chosen(chosen.key) => {
                        self.tell("this is the function itself: its callers are above, its callees below");
                    }
                    Some(chosen) => self.go_to_function(chosen),
                    None if self.views.current == View::Function => {
                        self.tell("no scope called it: these calls are at the top of their threads");
                    }
                    None if self.views.current == View::Sites => self.enter_place(),
                    // No row is selected.
                    None => {}
                }
            }
        }
    }

    /// Opens or closes a module; the callers of a function that was never called are not known.
    fn enter_place(&mut self) {
        let Some((data, row)) = self.selected() else {
            return;
        };
        let is_module = matches!(row.what, What::Site(row) if data.site_table().is_module(row));
        if is_module {
            self.fold();
        } else {
            self.tell("it was not called yet: its callers and callees are not known");
        }
    }

    fn is_chosen(&self, key: u64) -> bool {
        let chosen = self.views.function.chosen.as_ref();
        chosen.is_some_and(|chosen| chosen.key == key)
    }

    /// Shows only this function, in all its places, or all calls again.
    pub(in crate::app) fn focus_function(&mut self) {
        let Some(Chosen { key, .. }) = self.selected_function() else {
            return self.tell("no function to focus on: choose a row with a function");
        };
        self.focus_on(FocusOn::Function(key));
    }

    /// Shows only the calls below this row, or all calls again.
    pub(in crate::app) fn focus_subtree(&mut self) {
        if self.views.current == View::Tree && self.query.filter.inverted {
            return self.tell(
                "bottom-up there is no subtree of calls: i goes back to top-down, f shows the function",
            );
        }
        let Some((data, row)) = self.selected() else {
            return;
        };
        let place = match row.what {
            What::Tree(row) => Some(row),
            what @ (What::Hot(_)
            | What::Call(_)
            | What::Thread(_)
            | What::Site(_)
            | What::Task(_)
            | What::Slow(_)
            | What::Outside) => data
                .function(what)
                .and_then(|function| data.heaviest_place(function)),
        };
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
            .derived
            .data
            .as_ref()
            .filter(|_| !self.query.filter.inverted)
            .map(|data| travel::first_look(data, self.page()));
        self.views.expanded.extend(open.unwrap_or_default());
        if let FocusOn::Function(_) = on
            && (self.views.current == View::Flame
                || (self.views.current == View::Tree && !self.query.filter.inverted))
        {
            let top = self.derived.data.as_ref().and_then(|data| {
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

    /// Shows all calls again, or the calls in the focus before; returns false without a focus in this view.
    pub(in crate::app) fn leave_focus(&mut self) -> bool {
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

    /// Turns the tree bottom-up, or top-down.
    pub(in crate::app) fn invert(&mut self) {
        let chosen = self.selected_function();
        self.query.filter.inverted = !self.query.filter.inverted;
        if self.query.filter.inverted {
            // The order is by total time, because the self time is 0 for most rows.
            self.list_of(View::Tree).sort = Sort::of(View::Tree);
        }
        self.refresh();
        self.find_function(chosen);
        self.tell(match self.query.filter.inverted {
            true => "bottom-up: self time of functions, by who called them; i turns back",
            false => "top-down: who calls what",
        });
    }

    /// Shows recursion in one row, or call by call.
    pub(in crate::app) fn fold_recursion(&mut self) {
        self.query.filter.folded = !self.query.filter.folded;
        self.refresh();
        let data = self.derived.data.as_ref();
        let any =
            data.is_some_and(|data| (0..data.calls().rows.len() as u32).any(|row| data.recursion_at(row)));
        self.tell(match (self.query.filter.folded, any) {
            (true, true) => "recursion in one row; c shows it call by call",
            (true, false) => "recursion in one row, but nothing calls itself here",
            (false, _) => "recursion call by call",
        });
    }

    /// Shows groups in place of their members, or the members again.
    pub(in crate::app) fn group(&mut self) {
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

    /// Goes to the next place of the same function.
    pub(in crate::app) fn other_place(&mut self) {
        let Some((data, What::Tree(selected))) = self
            .derived
            .data
            .as_ref()
            .zip(self.list().selected().map(|row| row.what))
        else {
            return;
        };
        let function = data.tree.rows[selected as usize].function;
        let rows = data.tree.rows.iter().zip(0u32..);
        let places: Vec<u32> = rows
            .filter(|(row, _)| row.function == function)
            .map(|(_, index)| index)
            .collect();
        let next = places.iter().position(|&place| place > selected).unwrap_or(0);
        let count = places.len();
        let Some(&place) = places.get(next) else { return };
        if count == 1 {
            return self.tell("this is its only place");
        }
        self.show_all_rows();
        self.reveal(What::Tree(place));
        self.tell(format!("place {} of {count}", next + 1));
    }

    /// Goes from a function to its heaviest place in the tree.
    pub(in crate::app) fn show_in_tree(&mut self) {
        let Some(chosen) = self.selected_function() else {
            return self.tell("no function, so no place in the tree");
        };
        let (key, from) = (chosen.key, self.views.current);
        // A frame of the graph is one place; in other views a function has many places.
        let place = self.selected();
        let place = place.and_then(|(data, row)| match row.what {
            What::Tree(row) => Some(data.tree.rows[row as usize].path),
            What::Hot(_)
            | What::Call(_)
            | What::Thread(_)
            | What::Site(_)
            | What::Task(_)
            | What::Slow(_)
            | What::Outside => None,
        });
        self.switch_to(View::Tree);
        self.refresh();
        let found = self.derived.data.as_ref().zip(place);
        let found = found.and_then(|(data, path)| data.tree.rows.iter().position(|row| row.path == path));
        if let Some(row) = found {
            self.show_all_rows();
            self.reveal(What::Tree(row as u32));
        } else if !self.find_function(Some(chosen)) {
            // The calls in focus do not have the function.
            self.query.filter.focus.clear();
            self.refresh();
            let found = self.derived.data.as_ref().and_then(|data| data.place_of(key));
            if let Some(row) = found {
                self.show_all_rows();
                self.reveal(What::Tree(row));
            }
        }
        self.views.came_from = Some(Origin {
            view: from,
            filtered: false,
        });
    }

    /// Selects the heaviest place of a function in the tree; returns false where it has no place.
    fn find_function(&mut self, chosen: Option<Chosen>) -> bool {
        let place = self
            .derived
            .data
            .as_ref()
            .zip(chosen)
            .and_then(|(data, chosen)| data.place_of(chosen.key));
        let Some(row) = place else { return false };
        self.show_all_rows();
        self.reveal(What::Tree(row));
        true
    }

    /// Returns the function that the user has selected; `None` where the selection has not been moved.
    pub(in crate::app) fn chosen_by_hand(&self) -> Option<Chosen> {
        self.selected_function().filter(|_| self.list().cursor.touched)
    }

    /// Selects the row of a function in a list of functions; of several rows the row with most calls.
    pub(in crate::app) fn follow(&mut self, key: u64) {
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

    /// Lists all rows, because a row may be no match of a search that lists only matches.
    fn show_all_rows(&mut self) {
        if let Some(search) = &mut self.views.search {
            search.only = false;
        }
    }

    /// Returns the reason for an empty list, where the user's choice is the reason.
    pub(crate) fn nothing_chosen(&self) -> Option<String> {
        let data = self.derived.data.as_ref()?;
        // The function is there, but not under this name.
        let of_groups = |key: u64, name: &str| {
            let shows = match self.query.filter.grouped {
                true => "the functions in groups",
                false => "groups",
            };
            let is_hidden = data.is_hidden_by_groups(key);
            is_hidden.then(|| format!("{name} is not shown now. & shows {shows}."))
        };
        if self.views.current == View::Function {
            let chosen = self
                .views
                .function
                .chosen
                .as_ref()
                .filter(|_| data.around.is_none())?;
            if let Some(why) = of_groups(chosen.key, &chosen.name) {
                return Some(why);
            }
            return Some(format!(
                "No call of {} in this snapshot. 2 shows what was called.",
                chosen.name
            ));
        }
        let focus = self
            .query
            .filter
            .focus
            .last()
            .filter(|_| self.query.filter.focuses(self.views.current))?;
        if !data.calls().rows.is_empty() {
            return None;
        }
        let hidden = match focus.on {
            FocusOn::Function(key) => of_groups(key, &focus.name),
            FocusOn::Subtree(_) => None,
        };
        hidden.or_else(|| {
            Some(format!(
                "No call of {} in this snapshot. Esc shows everything.",
                focus.name
            ))
        })
    }
}
