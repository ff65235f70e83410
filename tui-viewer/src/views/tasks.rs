//! View Tasks: calls of futures in flight, and their waits.

mod columns;
mod pane;
#[cfg(test)]
mod tests;

use ratatui::layout::Rect;
use tickscope_analysis::call_tree::{AsyncCalls, Figures};
use tickscope_analysis::functions::FunctionId;
use tickscope_format::latency::Histogram;

use crate::app::data::Data;
use crate::app::listing::{self, Listing, Shape};
use crate::app::row::{Row, RowId};
use crate::app::row_table::RowTable;
use crate::app::state::App;
use crate::keys::view::View;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::Place;
use crate::ui::view::detail;
use crate::views::view_type::{About, ViewType};

/// Text while no future was polled.
const NOTHING: &str = "No profiled future has been polled. #[tickscope::profile] on async functions and tickscope::wait! \
    at awaits show them here.";

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

    fn list(&self, _app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        let top = data.tasks().top().iter().copied();
        listing::walk(data, shape, View::Tasks.rows(top))
    }

    fn columns(&self, width: u16) -> Vec<Place> {
        columns::places(width)
    }

    fn weigh(&self, _app: &App, data: &Data, row: &Row) -> [Meaning; 2] {
        match data.tasks().rows[row.what.row as usize].in_flight {
            0 => [Meaning::Quiet; 2],
            _ => [Meaning::Plain; 2],
        }
    }

    fn why_empty(&self, _app: &App, _data: &Data) -> Option<String> {
        Some(NOTHING.to_string())
    }

    fn facts(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, row: &Row, area: Rect) {
        detail::heading(canvas, app, data, row, area);
        pane::detail(canvas, data, row.what.row, area);
    }
}

impl RowTable for Tasks {
    fn count(&self, data: &Data) -> u32 {
        data.tasks().rows.len() as u32
    }

    fn id(&self, data: &Data, row: u32) -> RowId {
        RowId::Task(data.tasks().rows[row as usize].path)
    }

    fn figures(&self, data: &Data, row: u32) -> Figures {
        let row = &data.tasks().rows[row as usize];
        Figures {
            total_ns: row.busy_ns,
            calls: row.started,
            asynchronous: AsyncCalls {
                ended: row.over(),
                ticks: 0,
                ns: row.wall_ns,
                is_future: true,
            },
            ..Figures::default()
        }
    }

    fn function(&self, data: &Data, row: u32) -> Option<FunctionId> {
        Some(data.tasks().rows[row as usize].function)
    }

    fn label<'a>(&self, data: &'a Data, row: u32) -> Option<&'a str> {
        Some(data.task_name(row))
    }

    fn latency<'a>(&self, data: &'a Data, row: u32) -> &'a Histogram {
        data.tasks().wall(row)
    }

    fn children<'a>(&self, data: &'a Data, row: u32) -> &'a [u32] {
        data.tasks().children(row)
    }

    fn is_open(&self) -> bool {
        true
    }
}
