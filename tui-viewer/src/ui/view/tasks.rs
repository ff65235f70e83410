//! View Tasks: calls of futures, by the futures that await each other, and their waits.

use ratatui::layout::Rect;
use tickscope_analysis::tasks::{TaskKind, TaskRow};
use tickscope_report::number;

use crate::app::columns::place::Place;
use crate::app::columns::tasks;
use crate::app::columns::tasks::TaskColumn;
use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::row::Row;
use crate::app::state::App;
use crate::text::cells::cut_middle;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::marks::UNKNOWN;
use crate::ui::view::rows;
use crate::ui::view::rows::Look;
use crate::ui::view::unit;

/// Text where no future was polled.
const NOTHING: &str = "No profiled future has been polled. #[tickscope::profile] on async functions and tickscope::wait! \
    at awaits show them here.";

/// Draws the rows.
pub(super) fn draw(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    if app.list().rows.is_empty() {
        return rows::tell(canvas, area, NOTHING);
    }
    let places = tasks::places(area.width);
    rows::each(canvas, app, data, area, |canvas, row, y, look| {
        if let What::Task(index) = row.what {
            line(canvas, app, data, index, row, &places, y, look);
        }
    });
}

#[expect(clippy::too_many_arguments, reason = "the data of a line, and its place")]
fn line(
    canvas: &mut Canvas<'_>,
    app: &App,
    data: &Data,
    index: u32,
    row: &Row,
    places: &[Place<TaskColumn>],
    y: u16,
    look: Look,
) {
    let task = &data.tasks().rows[index as usize];
    let whole = match task.in_flight {
        0 => Meaning::Quiet,
        _ => Meaning::Plain,
    };
    for place in places {
        let text = text(canvas, app, data, index, task, row, *place);
        let meaning = match place.column {
            TaskColumn::Name if row.hit => Meaning::Strong,
            TaskColumn::Where => Meaning::Quiet,
            TaskColumn::Busy if task.blocks_executor() => Meaning::Notable,
            TaskColumn::InFlight
            | TaskColumn::Oldest
            | TaskColumn::P50
            | TaskColumn::P99
            | TaskColumn::Busy
            | TaskColumn::Await
            | TaskColumn::Polls
            | TaskColumn::Cancelled
            | TaskColumn::Name => whole,
        };
        let is_number = place.column.spec().is_number();
        rows::cell(canvas, place, is_number, y, &text, look.of(meaning));
    }
}

fn text(
    canvas: &Canvas<'_>,
    app: &App,
    data: &Data,
    index: u32,
    task: &TaskRow,
    row: &Row,
    place: Place<TaskColumn>,
) -> String {
    let unnamed = task.kind == TaskKind::UnnamedAwait;
    let unknown = || UNKNOWN.to_string();
    let time = |ns: Option<u64>| match ns.filter(|_| !unnamed) {
        Some(ns) => {
            let ticks = unit::clock_ticks(data, ns);
            unit::time(canvas, app.query.in_ticks, None, ns, ticks, false).unwrap_or_else(unknown)
        }
        None => unknown(),
    };
    let quantile = |share: f64| {
        let ticks = data.tasks().wall(index).quantile(share);
        ticks.map_or_else(unknown, |ticks| unit::length(canvas, app, data, ticks))
    };
    match place.column {
        TaskColumn::InFlight => number::count(task.in_flight),
        TaskColumn::Oldest if task.in_flight == 0 => unknown(),
        TaskColumn::Oldest => canvas.duration(task.oldest_ns),
        TaskColumn::P50 => quantile(0.5),
        TaskColumn::P99 => quantile(0.99),
        TaskColumn::Busy => time(task.mean_busy_ns()),
        TaskColumn::Await => time(task.mean_await_ns()),
        TaskColumn::Polls if unnamed || task.started == 0 => unknown(),
        TaskColumn::Polls => number::quotient(task.polls, task.started),
        TaskColumn::Cancelled if unnamed => unknown(),
        TaskColumn::Cancelled => number::count(task.cancelled),
        TaskColumn::Name => {
            let indent = "  ".repeat(row.depth.min(u32::from(place.width) / 4) as usize);
            let room = usize::from(place.width).saturating_sub(indent.len());
            format!(
                "{indent}{}",
                cut_middle(data.label(row.what), room, canvas.glyphs.cut)
            )
        }
        TaskColumn::Where if unnamed => String::new(),
        TaskColumn::Where => {
            let function = data.tree.functions.get(task.function);
            rows::file_and_line(canvas, &function.file, function.line, place.width)
        }
    }
}

/// Draws the pane below: the waits of the selected future's calls, and their outcome.
pub(super) fn detail(canvas: &mut Canvas<'_>, data: &Data, index: u32, area: Rect) {
    let tasks = data.tasks();
    let task = &tasks.rows[index as usize];
    let path: Vec<&str> = tasks
        .chain(index)
        .into_iter()
        .map(|row| data.label(What::Task(row)))
        .collect();
    let path = path.join(canvas.glyphs.then);
    let waits = match task.in_flight {
        0 => format!("no call is in flight in {path}"),
        1 => format!(
            "1 call is in flight in {path}, for {}",
            canvas.duration(task.oldest_ns)
        ),
        calls => format!(
            "{} calls are in flight in {path}, the oldest for {}",
            number::count(calls),
            canvas.duration(task.oldest_ns)
        ),
    };
    canvas.put_cut(area.x, area.y + 2, area.width, &waits, Meaning::Plain);
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
        let text = format!(
            "from a wake to the poll that follows {} on average",
            canvas.duration(delay)
        );
        canvas_line(canvas, area, 4, &text);
    }
    if task.blocks_executor() {
        let text = format!(
            "its polls block their executor: {} of {} in polls were waits of the thread",
            canvas.duration(task.blocked_ns),
            canvas.duration(task.busy_ns)
        );
        canvas.put_cut(area.x, area.bottom() - 2, area.width, &text, Meaning::Notable);
    }
    let legend = "P50, P99 of calls by the wall clock   BUSY in polls   AWAIT the rest   of all threads";
    canvas.put_cut(area.x, area.bottom() - 1, area.width, legend, Meaning::Quiet);
}

fn canvas_line(canvas: &mut Canvas<'_>, area: Rect, line: u16, text: &str) {
    if area.y + line < area.bottom() - 1 {
        canvas.put_cut(area.x, area.y + line, area.width, text, Meaning::Quiet);
    }
}
