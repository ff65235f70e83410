//! View Function: one function, its callers and its callees.

mod keys;
pub(crate) mod parts;
mod rows;
pub(crate) mod source;
mod source_pane;

use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::layout::{Position, Rect};

use crate::app::about::About;
use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::layout::{Layout, halves};
use crate::app::listing::{self, Listing, Shape};
use crate::app::percent_of::PercentOf;
use crate::app::row::Row;
use crate::app::row_table::RowTable;
use crate::app::state::App;
use crate::app::update::acts::{Act, act, has_rows};
use crate::keys::action::Action;
use crate::keys::view::View;
use crate::ui::theme::Meaning;
use crate::ui::view;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::{Column, Place};
use crate::ui::view::detail::Legend;
use crate::views::functions;
use crate::views::view_type::ViewType;

/// The view.
#[derive(Debug)]
pub(crate) struct Function;

const ABOUT: About = About::TIME;

const ACTS: &[Act] = &[
    act(&[Action::Enter], has_rows, |app, _, _| app.enter_line()),
    act(&[Action::ToCallers], App::has_second_list, |app, _, _| {
        app.go_beside(0)
    }),
    act(&[Action::ToCallees], App::has_second_list, |app, _, _| {
        app.go_beside(1)
    }),
    act(&[Action::SourceDown], App::shows_source, |app, _, _| {
        app.scroll_source(true)
    }),
    act(&[Action::SourceUp], App::shows_source, |app, _, _| {
        app.scroll_source(false)
    }),
];

impl App {
    /// Returns the areas of callers and callees side by side, where they have room in `area`.
    pub(crate) fn lists_beside(&self, area: Rect) -> Option<[Rect; 2]> {
        halves(area).filter(|_| self.views.current == View::Function)
    }

    fn has_second_list(&self) -> bool {
        self.list().second.is_some()
    }

    /// Shows the function of the selected line.
    fn enter_line(&mut self) {
        let now = self.views.function.chosen.as_ref().map(|chosen| chosen.key);
        match self.selected_function() {
            Some(chosen) if Some(chosen.key) == now => {
                self.tell("this is the function itself: who calls it stands above, what it calls below");
            }
            Some(chosen) => self.go_to_function(chosen),
            None => self.tell("no scope called it: these calls stand at the top of their threads"),
        }
    }
}

fn has_headings(app: &App) -> bool {
    app.page() >= listing::ROOM_FOR_HEADINGS
}

fn are_beside(app: &App) -> bool {
    app.lists_beside(app.layout().rows).is_some()
}

impl ViewType for Function {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn table(&self) -> &'static dyn RowTable {
        &rows::FunctionRows
    }

    fn list(&self, app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        rows::list(data, shape, has_headings(app), are_beside(app))
    }

    fn columns(&self, width: u16) -> Vec<Place> {
        let lists = functions::of_function(Rect::new(0, 0, width, 1));
        lists.into_iter().flat_map(|(_, places)| places).collect()
    }

    fn lists(&self, _app: &App, area: Rect) -> Vec<(Rect, Vec<Place>)> {
        functions::of_function(area)
    }

    fn all_columns(&self) -> &'static [&'static Column] {
        &functions::ALL
    }

    fn weigh(&self, app: &App, data: &Data, row: &Row, then: Option<(&Data, What)>) -> [Meaning; 2] {
        functions::weigh(app, data, row, then)
    }

    fn choices(&self, app: &App) -> u64 {
        let mut choices = DefaultHasher::new();
        (has_headings(app), are_beside(app)).hash(&mut choices);
        choices.finish()
    }

    fn searched(&self, app: &App, _data: &Data) -> usize {
        app.list().rows.iter().filter(|row| !row.is_heading()).count()
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
            return data
                .tree
                .rows
                .is_empty()
                .then(|| view::rows::nothing(app, data).to_string());
        };
        let name = &chosen.name;
        let hidden = app.hidden_by_groups(data, chosen.key, name);
        hidden.or_else(|| {
            Some(format!(
                "No call of {name} in this snapshot. 2 shows what was called."
            ))
        })
    }

    fn acts(&self) -> &'static [Act] {
        ACTS
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
            // The whole is the function on the screen, because its lines are its parts.
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
            source_pane::draw(canvas, app, area);
        }
    }

    fn legend(&self, legend: &Legend) -> String {
        let (dot, again) = (legend.glyphs.dot, legend.glyphs.again);
        match legend.is_wide {
            true => format!(
                "callers add up to 100%, and so do (self) and what it calls{dot}CALLS of all calls{dot}{again} calls back"
            ),
            false => format!("callers are 100%, (self) and callees too{dot}{again} calls back"),
        }
    }
}
