//! The columns of the list of threads.

use ratatui::layout::Rect;
use tickscope_format::snapshot::Thread;
use tickscope_report::number;

use crate::app::sort::{Order, or_last};
use crate::app::threads::{RunState, ThreadRow};
use crate::text::cells::{width, without_module};
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::{Cell, Column, Place, Value, names, numbers, texts};
use crate::ui::view::lane;
use crate::ui::view::place::Width::{Cells, Own, Parts};
use crate::ui::view::place::{Columns, side_by_side_names_first};
use crate::ui::view::popup::who;
use crate::ui::view::unit::UNKNOWN;
use crate::views::functions::{STATE_HELP, TOTAL};

static THREAD: Column = names("THREAD", "name of the thread")
    .shows(|canvas, cell| cell.cut(canvas, &of(cell).name))
    .looks(|cell| cell.name(Meaning::Plain));
static TID: Column = numbers("TID", 8, "kernel id; of ended threads the number")
    .shows(|canvas, cell| match who(in_snapshot(cell), canvas.ascii) {
        id if id.is_empty() => UNKNOWN.to_string(),
        id => id.chars().take(cell.room()).collect(),
    })
    .by(Order::of("tid", |data, what| {
        u64::from(u32::MAX - data.snapshot.threads[what.row as usize].tid)
    })
    .fixed());
static STATE: Column = texts("STATE", STATE_HELP)
    .shows(|_, cell| of(cell).run_state.word().to_string())
    .by(Order::of("state", |data, what| {
        u64::MAX - data.threads()[what.row as usize].run_state as u64
    })
    .fixed())
    .looks(|cell| match of(cell).run_state {
        RunState::Waiting => Meaning::Notable,
        RunState::Running | RunState::Paused | RunState::Idle | RunState::Finished => cell.usual(),
    });
static BUSY: Column = numbers("BUSY", 6, "share of a CPU in the last interval")
    .shows(|_, cell| of(cell).busy.map_or_else(|| UNKNOWN.to_string(), number::percent))
    // The sort key is in whole percent, so that threads with nearly the same load do not keep swapping places.
    .by(Order::of("busy", |data, what| {
        let busy = data.threads()[what.row as usize].busy;
        or_last(busy.map(|busy| (busy * 100.0).round() as u64))
    })
    .of_now())
    .looks(|cell| match of(cell).busy {
        Some(0.75..) => Meaning::Hottest,
        Some(0.25..) => Meaning::Warm,
        Some(0.01..) => Meaning::Plain,
        Some(_) | None => Meaning::Small,
    });
/// Chart of a thread's work and waits over the last 30 s.
pub(super) static COURSE: Column =
    texts("LAST 30 s", "work by module, waiting on top of it").drawn(draw_course);
static CPU: Column = numbers("CPU", 6, "time on a CPU, as the kernel counts it")
    .of(Value::CpuTime(|data, what| {
        data.snapshot.threads[what.row as usize].cpu_ns
    }))
    .by(Order::of("cpu", |data, what| {
        or_last(data.snapshot.threads[what.row as usize].cpu_ns)
    })
    .adding_up());
static OUTSIDE: Column = numbers("OUTSIDE", 8, "time outside of any scope")
    .of(Value::TimeOf(|data, what| {
        data.threads()[what.row as usize].outside_ns
    }))
    .by(Order::of("outside", |data, what| {
        data.threads()[what.row as usize].outside_ns
    })
    .adding_up());
static NOW: Column = texts("NOW", "its work or wait, and its current scope").shows(now);

/// Returns the columns of a list that is `width` cells wide, from left to right.
pub(super) fn places(width: u16) -> Vec<Place> {
    let (thread, course) = match width {
        160.. => (24, 30),
        120.. => (16, 30),
        80.. => (15, 12),
        60.. => (13, 10),
        _ => (12, 0),
    };
    let thread = if width < 40 { Parts(1) } else { Cells(thread) };
    let columns: &Columns = &[
        (&THREAD, thread, 0),
        (&TID, Own, 60),
        (&STATE, Cells(8), 60),
        (&BUSY, Own, 0),
        (&COURSE, Cells(course), 60),
        (&CPU, Own, 60),
        (&TOTAL, Own, 60),
        (&OUTSIDE, Own, 60),
        (&NOW, Parts(1), 40),
    ];
    // The thread's name and its current function share the part of the line that is reserved for names.
    let leaving = [&OUTSIDE, &TID, &CPU, &TOTAL, &STATE, &COURSE];
    side_by_side_names_first(columns, &[&THREAD, &NOW], &leaving, width)
}

fn of<'a>(cell: &Cell<'a>) -> &'a ThreadRow {
    &cell.data.threads()[cell.row.what.row as usize]
}

fn in_snapshot<'a>(cell: &Cell<'a>) -> &'a Thread {
    &cell.data.snapshot.threads[cell.row.what.row as usize]
}

fn draw_course(canvas: &mut Canvas<'_>, cell: &Cell<'_>) {
    let area = cell.area();
    for column in 0..area.width {
        let at = Rect::new(area.x + column, area.y, 1, 1);
        let load = cell.app.views.strip.load(of(cell).key, column);
        lane::column(canvas, &cell.data.names, load, 1.0, at, false);
    }
}

/// Joins what a thread is doing and the function in which it is doing it.
const IN: &str = " in ";

/// Minimum number of cells for a function, unless its whole name is shorter than that.
const ROOM_FOR_FUNCTION: usize = 12;

/// Describes what a thread is doing or waiting for, if that is known, and its innermost open function.
fn now(canvas: &Canvas<'_>, cell: &Cell<'_>) -> String {
    let (data, cells) = (cell.data, cell.room());
    let function = of(cell).doing;
    let function = function.map(|function| data.names.short[function.index()].as_str());
    let now = data.snapshot.waits_in.now_of(cell.row.what.row);
    let does = now.map(|now| canvas.safe(now.call().unwrap_or(now.word())));
    // If the module does not fit, only the function name is shown.
    let short = |name: &str, cells: usize| canvas.without_module(name, cells).into_owned();
    match (does, function) {
        (Some(does), Some(function)) => {
            let room = cells.saturating_sub(width(&does) + IN.len());
            // If there is not enough room for both, only the function is shown.
            if room < ROOM_FOR_FUNCTION.min(width(without_module(function, room))) {
                return short(function, cells);
            }
            format!("{does}{IN}{}", short(function, room))
        }
        (Some(does), None) => canvas.cut_end(&does, cells).into_owned(),
        (None, Some(function)) => short(function, cells),
        (None, None) => UNKNOWN.to_string(),
    }
}
