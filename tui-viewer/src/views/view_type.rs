//! Facts about views, and the trait that every view implements. Its default methods suit most views.

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
    /// Actions that act differently in the view, or are available at other times.
    pub(crate) acts: &'static [Act],
    /// Initial order of the rows.
    pub(crate) sort: Order,
    /// Part of a row's time that shares, bars and colours show.
    pub(crate) main: Portion,
    /// Plural noun for the rows, such as `threads`.
    pub(crate) rows: &'static str,
    /// Whether the rows are parts of the measured time.
    pub(crate) is_of_time: bool,
    /// Whether the view's own rows ignore the choices of threads and of groups.
    pub(crate) is_of_all: bool,
    /// Whether the call tree is of all threads too, whichever are chosen.
    pub(crate) is_of_all_threads: bool,
    /// Whether a focus limits the calls that the view shows.
    pub(crate) has_focus: bool,
    /// Whether the view shows the calls as a tree, which can be bottom-up, and rows as shares of their parents.
    pub(crate) has_parents: bool,
    /// Whether the rows are paths of the call tree.
    pub(crate) has_paths: bool,
    /// Whether the view shows watched functions. Its tab has a mark while functions are watched.
    pub(crate) is_of_watches: bool,
    /// Whether a function that the user selected by hand in another view is selected here too.
    pub(crate) follows: bool,
    /// Whether the cursor stays on the top row, whichever row that is, until the user moves it.
    pub(crate) stays_at_top: bool,
}

impl About {
    /// Facts of a list whose rows are not parts of the measured time.
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

    /// Facts of a view of the measured time.
    pub(crate) const TIME: Self = Self {
        is_of_time: true,
        ..Self::LIST
    };
}

impl App {
    /// Returns the columns of the view on screen, on the cells of `area`, from left to right.
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

    /// Returns the columns of the view on a list that is `width` cells wide, from left to right.
    fn columns(&self, _width: u16) -> Vec<Place> {
        Vec::new()
    }

    /// Returns the columns of the view on these cells of the screen, list by list.
    fn lists(&self, _app: &App, area: Rect) -> Vec<(Rect, Vec<Place>)> {
        vec![(area, self.columns(area.width))]
    }

    /// Returns the columns of the view's tables, in the order of the help.
    fn all_columns(&self) -> Vec<&'static Column> {
        let widest = self.columns(u16::MAX).into_iter();
        widest.map(|place| place.column).collect()
    }

    /// Returns the look of the first cell of a row, and of the other cells.
    fn weigh(&self, app: &App, data: &Data, row: &Row) -> [Meaning; 2] {
        functions::weigh(app, data, row)
    }

    /// Returns a number that changes with each choice in the view that decides its rows.
    fn choices(&self, _app: &App) -> u64 {
        0
    }

    /// Whether a key press holds the order of the view's rows for a moment.
    fn holds(&self, _app: &App) -> bool {
        true
    }

    /// Returns the row that is selected if no row was selected before.
    fn first<'a>(&self, _data: &Data, rows: &'a [Row]) -> Option<&'a Row> {
        rows.first()
    }

    /// Returns the number of rows that a search covers, and the plural noun for them.
    fn searched(&self, app: &App, data: &Data) -> (usize, &'static str) {
        let count = app.views.current.table().count(data);
        (count as usize, app.views.current.about().rows)
    }

    /// Chooses the subject of the view when it is first shown.
    fn begin(&self, _app: &mut App) {}

    /// Returns the key of the function whose callers and callees the view shows.
    fn subject(&self, _app: &App) -> Option<u64> {
        None
    }

    /// Corrects the state of the view after its rows were made.
    fn settle(&self, _app: &mut App) {}

    /// Returns the reason for an empty list.
    fn why_empty(&self, app: &App, data: &Data) -> Option<String> {
        app.nothing_in_focus(data)
            .or_else(|| rows::why_no_calls(app, data))
    }

    /// Returns the columns of time that the view shows.
    fn time_columns(&self, _app: &App) -> Option<TimeColumns> {
        None
    }

    // Keys and mouse

    /// Takes one step back inside the view; returns false without a step.
    fn step_back(&self, _app: &mut App) -> bool {
        false
    }

    /// Returns the word for the state to which Escape leads.
    fn way_back(&self, app: &App) -> Option<&'static str> {
        app.way_back()
    }

    /// Selects a row that may be hidden. Returns false if the caller must do so, by opening the rows above it in the list.
    fn reveal(&self, _app: &mut App, _what: What) -> bool {
        false
    }

    /// Takes a click on line `line` of the view's rows.
    fn click(&self, app: &mut App, at: Position, line: usize) {
        app.click_row_of(0, at.x, line);
    }

    /// Takes a click on the pane of the selected row.
    fn click_pane(&self, _app: &mut App, _at: Position) {}

    /// Takes a move of the mouse while its button is held.
    fn drag(&self, _app: &mut App, _at: Position) {}

    /// Takes a turn of the wheel; returns false if it should scroll the list.
    fn wheel(&self, _app: &mut App, _rows: isize, _at: Position) -> bool {
        false
    }

    /// Takes a sideways turn of the wheel.
    fn wheel_aside(&self, _app: &mut App, _right: bool, _at: Position) {}

    // Screen

    /// Adjusts a layout to the parts of the view.
    fn layout(&self, _app: &App, layout: Layout) -> Layout {
        layout
    }

    /// Returns the number of screen lines of a row.
    fn lines_of_row(&self, _app: &App) -> u16 {
        1
    }

    /// Returns the index of the first line on the screen, and the number of all lines.
    fn scrolled(&self, app: &App) -> (usize, usize) {
        let list = app.list();
        let together = list.together();
        (list.cursor.offset.saturating_sub(together.start), together.len())
    }

    /// Returns the meaning of 100 % in the view, and its words.
    fn percent_of(&self, app: &App) -> (PercentOf, &'static str) {
        app.percent_of_query()
    }

    /// Switches to the next meaning of 100 %.
    fn next_percent_of(&self, app: &mut App) {
        app.next_percent_of_query();
    }

    /// Returns settings that only this view has, in words.
    fn settings(&self, _app: &App) -> Option<String> {
        None
    }

    /// Draws the lines above the titles of the columns.
    fn title(&self, _canvas: &mut Canvas<'_>, _app: &App, _data: &Data, _area: Rect) {}

    /// Draws the line above the rows.
    fn heading(&self, canvas: &mut Canvas<'_>, app: &App, _data: &Data, area: Rect) {
        table::titles(canvas, app, area);
    }

    /// Draws the rows.
    fn draw(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        table::draw(canvas, app, data, area);
    }

    /// Draws the view's parts below the rows.
    fn below(&self, _canvas: &mut Canvas<'_>, _app: &App, _data: &Data, _layout: &Layout) {}

    /// Returns the line that says how to read the view's columns.
    fn legend(&self, legend: &Legend) -> String {
        let (dot, itself, inside) = (legend.glyphs.dot, legend.itself, &legend.inside);
        format!("{itself}{dot}{inside}{dot}recursion counts once{}", legend.bars())
    }

    /// Draws the facts of the selected row in the pane.
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
