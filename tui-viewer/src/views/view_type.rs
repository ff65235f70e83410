//! [`About`], which describes a view, and [`ViewType`], the trait that every view implements. The default methods of
//! the trait suit most views.

use ratatui::layout::{Position, Rect};

use crate::app::data::Data;
use crate::app::layout::Layout;
use crate::app::listing::{Listing, Shape};
use crate::app::row::{PercentOf, Portion, Row, What};
use crate::app::sort::Order;
use crate::app::state::App;
use crate::app::timeline::TimeColumns;
use crate::app::update::acts::Act;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::{Column, Place};
use crate::ui::view::detail::Legend;
use crate::ui::view::{detail, large_pane, rows, table};
use crate::views::functions;

/// Facts about a view.
#[derive(Debug)]
pub(crate) struct About {
    /// Actions that work differently in this view, or that are available under different conditions.
    pub(crate) acts: &'static [Act],
    /// Initial order of the rows.
    pub(crate) sort: Order,
    /// Which part of a row's time is the basis for shares, bars and colours.
    pub(crate) main: Portion,
    /// Plural noun for the rows, such as `threads`.
    pub(crate) rows: &'static str,
    /// Whether rows stand for parts of the measured time, so that each has a share of it.
    pub(crate) is_of_time: bool,
    /// Whether the view's own rows are the same no matter which threads are chosen and whether groups are shown.
    pub(crate) is_of_all: bool,
    /// Whether the view's call tree also covers all threads, even if only some are chosen.
    pub(crate) is_of_all_threads: bool,
    /// Whether a focus limits the calls that the view shows.
    pub(crate) has_focus: bool,
    /// Whether the view shows calls as a tree. Only then can it be bottom-up, and show rows as shares of their parents.
    pub(crate) has_parents: bool,
    /// Whether the rows are paths of the call tree.
    pub(crate) has_paths: bool,
    /// Whether the view shows watched functions. Its tab is marked while any function is being watched.
    pub(crate) is_of_watches: bool,
    /// Whether a function that the user selected by hand in another view is selected here too.
    pub(crate) follows: bool,
    /// Whether the cursor stays on the top row, whichever row that is, until the user moves it.
    pub(crate) stays_at_top: bool,
}

impl About {
    /// Defaults for a list whose rows are not parts of the measured time.
    pub(crate) const LIST: Self = Self {
        acts: &[],
        sort: Order::TOTAL,
        main: Portion::Total,
        rows: "rows",
        is_of_time: false,
        is_of_all: false,
        is_of_all_threads: false,
        has_focus: false,
        has_parents: false,
        has_paths: false,
        is_of_watches: false,
        follows: false,
        stays_at_top: false,
    };

    /// Defaults for a view of the measured time.
    pub(crate) const TIME: Self = Self {
        is_of_time: true,
        ..Self::LIST
    };
}

impl App {
    /// Returns the columns of the current view, laid out in `area` from left to right.
    pub(crate) fn places(&self, area: Rect) -> Vec<Place> {
        let lists = self.views.current.kind().lists(self, area);
        lists.into_iter().flat_map(|(_, places)| places).collect()
    }
}

/// A view of the program.
pub(crate) trait ViewType: Sync {
    // Rows

    /// Returns the rows of the view.
    fn list(&self, app: &App, data: &Data, shape: &Shape<'_>) -> Listing;

    /// Returns the view's columns for a list that is `width` cells wide, from left to right.
    fn columns(&self, _width: u16) -> Vec<Place> {
        Vec::new()
    }

    /// Returns the area and the columns of each of the view's lists within `area`.
    fn lists(&self, _app: &App, area: Rect) -> Vec<(Rect, Vec<Place>)> {
        vec![(area, self.columns(area.width))]
    }

    /// Returns the columns of the view's tables, in the order in which the help lists them.
    fn all_columns(&self) -> Vec<&'static Column> {
        let widest = self.columns(u16::MAX).into_iter();
        widest.map(|place| place.column).collect()
    }

    /// Returns the look of a row's first cell, and the look of its other cells.
    fn weigh(&self, app: &App, data: &Data, row: &Row) -> [Meaning; 2] {
        functions::weigh(app, data, row)
    }

    /// Returns a number that changes whenever a choice made in the view changes which rows it has.
    fn choices(&self, _app: &App) -> u64 {
        0
    }

    /// Whether the view's rows keep their order for a moment after a key press.
    fn holds(&self, _app: &App) -> bool {
        true
    }

    /// Returns the row to select if none has been selected yet.
    fn first<'a>(&self, _data: &Data, rows: &'a [Row]) -> Option<&'a Row> {
        rows.first()
    }

    /// Returns the number of rows that a search covers, and the plural noun for them.
    fn searched(&self, app: &App, data: &Data) -> (usize, &'static str) {
        let count = app.views.current.table().count(data);
        (count as usize, app.views.current.about().rows)
    }

    /// Chooses what the view is about, such as a function, unless that has already been chosen.
    fn begin(&self, _app: &mut App) {}

    /// Returns the key of the function whose callers and callees the view shows.
    fn subject(&self, _app: &App) -> Option<u64> {
        None
    }

    /// Adjusts the state of the view after its rows have been computed.
    fn settle(&self, _app: &mut App) {}

    /// Returns the reason for an empty list.
    fn why_empty(&self, app: &App, data: &Data) -> Option<String> {
        app.nothing_in_focus(data)
            .or_else(|| rows::why_no_calls(app, data))
    }

    /// Returns which columns of time the view shows; `None` if it shows none.
    fn time_columns(&self, _app: &App) -> Option<TimeColumns> {
        None
    }

    // Keys and mouse

    /// Goes back one step within the view. Returns false if there is no step to undo.
    fn step_back(&self, _app: &mut App) -> bool {
        false
    }

    /// Returns a label for what Escape goes back to, such as `all time`; `None` if there is nothing to go back to.
    fn way_back(&self, app: &App) -> Option<&'static str> {
        app.way_back()
    }

    /// Selects a row that may be hidden. Returns false to leave this to the caller, who then opens the rows above it in
    /// the list.
    fn reveal(&self, _app: &mut App, _what: What) -> bool {
        false
    }

    /// Handles a click on line `line` of the view's rows.
    fn click(&self, app: &mut App, at: Position, line: usize) {
        app.click_row_of(0, at.x, line);
    }

    /// Handles a click on the pane of the selected row.
    fn click_pane(&self, _app: &mut App, _at: Position) {}

    /// Handles a movement of the mouse while its button is held down.
    fn drag(&self, _app: &mut App, _at: Position) {}

    /// Handles a turn of the mouse wheel. Returns false if the wheel should scroll the list instead.
    fn wheel(&self, _app: &mut App, _rows: isize, _at: Position) -> bool {
        false
    }

    /// Handles a sideways turn of the mouse wheel.
    fn wheel_aside(&self, _app: &mut App, _right: bool, _at: Position) {}

    // Screen

    /// Adapts the layout to the parts that the view has.
    fn layout(&self, _app: &App, layout: Layout) -> Layout {
        layout
    }

    /// Returns the height of a row, in screen lines.
    fn lines_of_row(&self, _app: &App) -> u16 {
        1
    }

    /// Returns the index of the first visible line, and the total number of lines.
    fn scrolled(&self, app: &App) -> (usize, usize) {
        let list = app.list();
        let together = list.together();
        (list.cursor.offset.saturating_sub(together.start), together.len())
    }

    /// Returns what 100 % stands for in the view, and a label for it.
    fn percent_of(&self, app: &App) -> (PercentOf, &'static str) {
        app.percent_of_query()
    }

    /// Switches to the next meaning of 100 %.
    fn next_percent_of(&self, app: &mut App) {
        app.next_percent_of_query();
    }

    /// Describes the settings that only this view has.
    fn settings(&self, _app: &App) -> Option<String> {
        None
    }

    /// Draws the text above the column titles.
    fn title(&self, _canvas: &mut Canvas<'_>, _app: &App, _data: &Data, _area: Rect) {}

    /// Draws the line above the rows, which by default has the column titles.
    fn heading(&self, canvas: &mut Canvas<'_>, app: &App, _data: &Data, area: Rect) {
        table::titles(canvas, app, area);
    }

    /// Draws the rows.
    fn draw(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        table::draw(canvas, app, data, area);
    }

    /// Draws the view's parts below the rows.
    fn below(&self, _canvas: &mut Canvas<'_>, _app: &App, _data: &Data, _layout: &Layout) {}

    /// Returns the line that explains how to read the view's columns.
    fn legend(&self, legend: &Legend) -> String {
        let (dot, itself, inside) = (legend.glyphs.dot, legend.itself, &legend.inside);
        format!("{itself}{dot}{inside}{dot}recursion counts once{}", legend.bars())
    }

    /// Draws the details of the selected row in the pane.
    fn facts(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, row: &Row, area: Rect) {
        detail::figures_of(canvas, app, data, row, area);
    }

    /// Draws the pane of the selected row.
    fn pane(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        match app.layout().has_large_pane {
            true => large_pane::draw(canvas, app, data, area),
            false => detail::draw(canvas, app, data, area),
        }
    }
}
