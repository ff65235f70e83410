//! The Tasks view: calls of futures that are in flight, and where they wait.

use ratatui::layout::Rect;
use tickscope_analysis::call_tree::{AsyncCalls, Figures};
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::tasks::TaskKind;
use tickscope_format::latency::Histogram;
use tickscope_report::number;

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

mod columns;
#[cfg(test)]
mod tests;

/// Shown until a profiled future has been polled.
const NOTHING: &str = "No profiled future has been polled. #[tickscope::profile] on async functions and tickscope::wait! \
    at awaits show them here.";

#[derive(Debug)]
pub(crate) struct Tasks;

pub(super) const ABOUT: About = About {
    sort: columns::ORDER,
    is_of_all: true,
    follows: true,
    ..About::LIST
};

impl ViewType for Tasks {
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
        calls_of(canvas, data, row.what.row, area);
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

/// Draws the pane below the tree: how long calls of the selected future have been in flight, how the other calls ended,
/// how soon a poll follows a wake-up, and whether polls block the executor.
fn calls_of(canvas: &mut Canvas<'_>, data: &Data, index: u32, area: Rect) {
    let tasks = data.tasks();
    let task = &tasks.rows[index as usize];
    let path = tasks.chain(index).into_iter();
    let path: Vec<&str> = path.map(|row| data.label(View::Tasks.row(row))).collect();
    let path = path.join(canvas.glyphs.then);
    let (in_flight, oldest) = (number::count(task.in_flight), canvas.duration(task.oldest_ns));
    let waits = match task.in_flight {
        0 => format!("no call is in flight in {path}"),
        1 => format!("1 call is in flight in {path}, for {oldest}"),
        _ => format!("{in_flight} calls are in flight in {path}, the oldest for {oldest}"),
    };
    canvas.line(area, 2, &waits, Meaning::Plain);
    if task.kind == TaskKind::UnnamedAwait {
        let text = "these calls await a future without a name: tickscope::wait!(\"name\", future) names it";
        return canvas_line(canvas, area, 3, text);
    }
    let vanished = match task.vanished {
        0 => String::new(),
        some => format!("{} whose end was not seen, ", number::count(some)),
    };
    let calls = format!(
        "{} calls begun, {} ready, {} cancelled, {vanished}{} polls",
        number::count(task.started),
        number::count(task.ended),
        number::count(task.cancelled),
        number::count(task.polls)
    );
    canvas_line(canvas, area, 3, &calls);
    if let Some(delay) = task.mean_scheduled_ns() {
        let delay = canvas.duration(delay);
        let text = format!("from a wake to the poll that follows {delay} on average");
        canvas_line(canvas, area, 4, &text);
    }
    if task.blocks_executor() {
        let (blocked, busy) = (canvas.duration(task.blocked_ns), canvas.duration(task.busy_ns));
        let text =
            format!("its polls block their executor: {blocked} of {busy} in polls were waits of the thread");
        canvas.line(area, area.height - 2, &text, Meaning::Notable);
    }
    let legend = "P50, P99 of calls by the wall clock   BUSY in polls   AWAIT the rest   of all threads";
    canvas.line(area, area.height - 1, legend, Meaning::Quiet);
}

/// Draws a line of text, unless that line is reserved for the legend.
fn canvas_line(canvas: &mut Canvas<'_>, area: Rect, line: u16, text: &str) {
    if line < area.height - 1 {
        canvas.line(area, line, text, Meaning::Quiet);
    }
}
