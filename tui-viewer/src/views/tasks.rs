//! View Tasks: calls of futures in flight, and their waits.

mod columns;
mod pane;
mod rows;

use ratatui::layout::Rect;

use crate::app::about::About;
use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::listing::{self, Listing, Shape};
use crate::app::row::Row;
use crate::app::row_table::RowTable;
use crate::app::state::App;
use crate::keys::view::View;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::{Column, Place};
use crate::ui::view::detail;
use crate::views::view_type::ViewType;

/// Text where no future was polled.
const NOTHING: &str = "No profiled future has been polled. #[tickscope::profile] on async functions and tickscope::wait! \
    at awaits show them here.";

/// The view.
#[derive(Debug)]
pub(crate) struct Tasks;

const ABOUT: About = About {
    sort: columns::ORDER,
    is_of_all: true,
    follows: true,
    ..About::LIST
};

impl ViewType for Tasks {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn table(&self) -> &'static dyn RowTable {
        &rows::TaskRows
    }

    fn list(&self, _app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        let top = data.tasks().top().iter().copied();
        listing::walk(data, shape, View::Tasks.rows(top))
    }

    fn columns(&self, width: u16) -> Vec<Place> {
        columns::places(width)
    }

    fn all_columns(&self) -> &'static [&'static Column] {
        &columns::ALL
    }

    fn weigh(&self, _app: &App, data: &Data, row: &Row, _then: Option<(&Data, What)>) -> [Meaning; 2] {
        match data.tasks().rows[row.what.row as usize].in_flight {
            0 => [Meaning::Quiet; 2],
            _ => [Meaning::Plain; 2],
        }
    }

    fn why_empty(&self, _app: &App, _data: &Data) -> Option<String> {
        Some(NOTHING.to_string())
    }

    fn searched(&self, _app: &App, data: &Data) -> usize {
        data.tasks().rows.len()
    }

    fn facts(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, row: &Row, area: Rect) {
        detail::heading(canvas, app, data, row, area);
        pane::detail(canvas, data, row.what.row, area);
    }
}
