//! The Function view: one function, its callers and its callees.

use std::ops::Range;

use ratatui::layout::{Position, Rect};
use tickscope_analysis::call_tree::Figures;
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::uncertainty::Uncertainty;

use crate::app::cursor::Cursor;
use crate::app::data::Data;
use crate::app::function::{Around, Chosen, Step};
use crate::app::keyhash::number_of;
use crate::app::layout::{Layout, halves};
use crate::app::listing::{self, Listing, Shape};
use crate::app::row::{CallId, PercentOf, RowId, What};
use crate::app::row_table::RowTable;
use crate::app::state::App;
use crate::app::update::acts::{Act, act, has_rows};
use crate::keys::action::Action;
use crate::keys::view::View;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::Place;
use crate::ui::view::detail::Legend;
use crate::ui::view::rows;
use crate::views::functions;
use crate::views::view_type::{About, ViewType};

pub(crate) mod parts;
pub(crate) mod source;
#[cfg(test)]
mod tests;

#[derive(Debug)]
pub(crate) struct Function;

pub(super) const ABOUT: About = About {
    acts: ACTS,
    ..About::TIME
};

const ACTS: &[Act] = &[
    act(&[Action::Enter], has_rows, App::enter_line),
    act(&[Action::ToCallers], has_lists, |app| app.go_beside(0)),
    act(&[Action::ToCallees], has_lists, |app| app.go_beside(1)),
    act(&[Action::SourceDown], App::shows_source, |app| {
        app.scroll_source(true)
    }),
    act(&[Action::SourceUp], App::shows_source, |app| {
        app.scroll_source(false)
    }),
];

impl App {
    /// Returns the areas for the lists of callers and callees, if the current view is Function and they fit into `area`
    /// side by side.
    pub(crate) fn lists_beside(&self, area: Rect) -> Option<[Rect; 2]> {
        halves(area).filter(|_| self.views.current == View::Function)
    }

    /// Shows the callers and callees of the function on the selected line.
    fn enter_line(&mut self) {
        let now = self.views.function.chosen.as_ref().map(|chosen| chosen.key);
        match self.selected_function() {
            Some(chosen) if Some(chosen.key) == now => {
                self.tell("this is the function itself: its callers are above, its callees below");
            }
            Some(chosen) => self.go_to_function(chosen),
            None => self.tell("no scope called it: these calls are at the top of their threads"),
        }
    }
}

fn has_lists(app: &App) -> bool {
    app.list().second.is_some()
}

fn has_headings(app: &App) -> bool {
    app.page() >= listing::ROOM_FOR_HEADINGS
}

fn are_beside(app: &App) -> bool {
    app.lists_beside(app.layout().rows).is_some()
}

impl ViewType for Function {
    fn list(&self, app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        list(data, shape, has_headings(app), are_beside(app))
    }

    fn columns(&self, width: u16) -> Vec<Place> {
        let lists = functions::of_function(Rect::new(0, 0, width, 1));
        lists.into_iter().flat_map(|(_, places)| places).collect()
    }

    fn lists(&self, _app: &App, area: Rect) -> Vec<(Rect, Vec<Place>)> {
        functions::of_function(area)
    }

    fn choices(&self, app: &App) -> u64 {
        number_of((has_headings(app), are_beside(app)))
    }

    fn searched(&self, app: &App, _data: &Data) -> (usize, &'static str) {
        let rows = app.list().rows.iter().filter(|row| !row.is_heading());
        (rows.count(), ABOUT.rows)
    }

    fn begin(&self, app: &mut App) {
        app.choose_function();
    }

    fn subject(&self, app: &App) -> Option<u64> {
        app.views.function.chosen.as_ref().map(|chosen| chosen.key)
    }

    fn why_empty(&self, app: &App, data: &Data) -> Option<String> {
        let chosen = app.views.function.chosen.as_ref();
        let Some(chosen) = chosen.filter(|_| data.around.is_none()) else {
            return rows::why_no_calls(app, data);
        };
        let name = &chosen.name;
        let hidden = app.hidden_by_groups(data, chosen.key, name);
        hidden.or_else(|| {
            Some(format!(
                "No call of {name} in this snapshot. 2 shows what was called."
            ))
        })
    }

    fn step_back(&self, app: &mut App) -> bool {
        app.go_back()
    }

    fn way_back(&self, app: &App) -> Option<&'static str> {
        let has_way = !app.views.function.way.is_empty();
        has_way.then_some("back").or_else(|| app.way_back())
    }

    fn click(&self, app: &mut App, at: Position, line: usize) {
        let second = app.lists_beside(app.layout().rows).map(|[_, second]| second);
        let list = second.is_some_and(|second| at.x >= second.x);
        app.click_row_of(usize::from(list), at.x, line);
    }

    fn layout(&self, app: &App, layout: Layout) -> Layout {
        let latencies = app.keeps_latencies();
        if app.wants_source() {
            let rows = app.longest_list().max(listing::ROOM_FOR_HEADINGS as u16 - 1);
            return layout.with_source(rows, latencies);
        }
        layout.with_title().with_charts(app.longest_list(), latencies)
    }

    fn percent_of(&self, app: &App) -> (PercentOf, &'static str) {
        match app.views.function.of_all {
            true => (PercentOf::Measured, PercentOf::Measured.label()),
            // The time of the function on the screen is 100 %, because the lines are its parts.
            false => (PercentOf::Parent, "% of this function"),
        }
    }

    fn next_percent_of(&self, app: &mut App) {
        app.views.function.of_all = !app.views.function.of_all;
    }

    fn title(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        parts::title(canvas, app, data, area);
    }

    fn below(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, layout: &Layout) {
        if let Some(area) = layout.charts {
            parts::charts(canvas, app, data, area);
        }
        if let Some(area) = layout.source {
            source::draw(canvas, app, area);
        }
    }

    fn legend(&self, legend: &Legend) -> String {
        let (dot, again) = (legend.glyphs.dot, legend.glyphs.again);
        match legend.is_wide {
            true => format!(
                "callers add up to 100%, and so do (self) and callees{dot}CALLS of all calls{dot}{again} calls back"
            ),
            false => format!("callers are 100%, (self) and callees too{dot}{again} calls back"),
        }
    }
}

impl RowTable for Function {
    fn count(&self, data: &Data) -> u32 {
        data.around.as_ref().map_or(0, |around| around.callees().end)
    }

    fn id(&self, data: &Data, row: u32) -> RowId {
        let around = data.around.as_ref();
        around.map_or(RowId::Outside, |around| RowId::Call(around.id(&data.tree, row)))
    }

    fn figures(&self, data: &Data, row: u32) -> Figures {
        let around = data.around.as_ref();
        around.map_or_else(Figures::default, |around| around.figures(row))
    }

    fn function(&self, data: &Data, row: u32) -> Option<FunctionId> {
        data.around.as_ref()?.function(row)
    }

    fn label<'a>(&self, data: &'a Data, row: u32) -> Option<&'a str> {
        data.around.as_ref()?.label(row)
    }

    fn uncertainty(&self, data: &Data, row: u32) -> Option<Uncertainty> {
        data.around.as_ref()?.uncertainty(row)
    }

    fn parent_ns(&self, data: &Data, _row: u32) -> u64 {
        let around = data.around.as_ref();
        around.map_or(data.measured_ns, |around| around.neighbours.figures.total_ns)
    }

    fn is_recursive(&self, data: &Data, row: u32) -> bool {
        let around = data.around.as_ref();
        around.is_some_and(|around| around.is_recursive(row))
    }

    fn is_part(&self, data: &Data, row: u32) -> bool {
        data.around.as_ref().is_some_and(|around| row == around.own())
    }

    fn in_full(&self, data: &Data, row: u32) -> Option<What> {
        data.hotspot_of(self.function(data, row)?)
    }
}

/// Returns the callers of a function, the function itself, and its callees: in one list, or in two lists side by side.
fn list(data: &Data, shape: &Shape<'_>, headings: bool, are_beside: bool) -> Listing {
    let Some(around) = &data.around else {
        return Listing::default();
    };
    let sorted = |lines: std::ops::Range<u32>| listing::arranged(data, shape, View::Function.rows(lines));
    let heading = |line: u32| headings.then(|| View::Function.row(line));
    let mut items: Vec<What> = Vec::new();
    items.extend(heading(Around::CALLED_FROM));
    items.extend(sorted(around.callers()));
    let second = are_beside.then_some(items.len());
    items.extend(heading(around.time_goes_to()));
    items.extend(sorted(around.own()..around.own() + 1));
    items.extend(sorted(around.callees()));
    Listing {
        second,
        ..listing::walk_as_it_is(data, shape, items)
    }
}

/// Maximum number of steps that the user can go back.
pub(crate) const LONGEST_WAY: usize = 100;

/// Returns the [`Chosen`] for a function in the data.
fn chosen(data: &Data, function: FunctionId) -> Chosen {
    Chosen {
        key: data.tree.functions.get(function).key,
        name: data.names.full[function.index()].clone(),
    }
}

/// Returns a cursor on the line of the function whose callers and callees are shown.
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

    /// Chooses a function when the view is first shown: the function of the selected row or, if there is none, the
    /// function with the largest self time.
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

    /// Shows a function with its callers and callees. Escape returns to the current view and row.
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

    /// Moves the selection to the other of the two lists that are side by side, to the row on the same line of the
    /// screen.
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
        // If that list is too short, its last row is selected.
        let up_to = beside.clone().take(high + 1).rev().find(free);
        if let Some(index) = up_to.or_else(|| beside.clone().find(free)) {
            self.list_mut().cursor.offset = beside.start;
            self.select(index);
        }
    }

    /// Returns the label for the Escape key, which says where it leads.
    pub(crate) fn way_back(&self) -> Option<&'static str> {
        if self.views.came_from.is_some() {
            return Some("back");
        }
        self.query
            .filter
            .focuses(self.views.current)
            .then_some("everything")
    }

    /// Goes back one step on the way that led to this function. Returns false if there was no such step.
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
