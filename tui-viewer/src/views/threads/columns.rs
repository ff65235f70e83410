//! The columns of the list of threads.

use ratatui::layout::Rect;
use tickscope_format::snapshot::Thread;
use tickscope_report::number;

use crate::app::sort::{Order, or_last};
use crate::app::thread_rows::{RunState, ThreadRow};
use crate::text::cells::{cut_end, cut_middle, safe, width, without_module};
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::{Cell, Column, Content, Place, Value};
use crate::ui::view::lane;
use crate::ui::view::marks::UNKNOWN;
use crate::ui::view::place::Width::{Cells, Own, Parts};
use crate::ui::view::place::{Columns, side_by_side_names_first};
use crate::ui::view::popup::who;
use crate::views::functions::{STATE_HELP, TOTAL};

static THREAD: Column = Column::name(
    "THREAD",
    "name of the thread",
    Content::Text(|canvas, cell| cell.cut(canvas, &of(cell).name)),
)
.by(Order::NAME)
.looks(|cell| cell.name(Meaning::Plain));
static TID: Column = Column::number(
    "TID",
    "its kernel id; of ended ones how many",
    8,
    Content::Text(|canvas, cell| match who(in_snapshot(cell), canvas.ascii) {
        id if id.is_empty() => UNKNOWN.to_string(),
        id => id.chars().take(cell.room()).collect(),
    }),
)
.by(Order::of("tid", |data, what| {
    u64::from(u32::MAX - data.snapshot.threads[what.row as usize].tid)
})
.fixed());
static STATE: Column = Column::text(
    "STATE",
    STATE_HELP,
    Content::Text(|_, cell| of(cell).run_state.word().to_string()),
)
.by(Order::of("state", |data, what| {
    u64::MAX - data.threads()[what.row as usize].run_state as u64
})
.fixed())
.looks(|cell| match of(cell).run_state {
    RunState::Waiting => Meaning::Notable,
    RunState::Running | RunState::Paused | RunState::Idle | RunState::Finished => cell.usual(),
});
static BUSY: Column = Column::number(
    "BUSY",
    "share of a CPU in the last interval",
    6,
    Content::Text(|_, cell| of(cell).busy.map_or_else(|| UNKNOWN.to_string(), number::percent)),
)
// The value is in whole percents, so that equally busy threads do not change places all the time.
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
/// Work and waits in the last 30 s, side by side.
pub(super) static COURSE: Column = Column::text(
    "LAST 30 s",
    "work by module, waiting on top of it",
    Content::Drawn(draw_course),
);
static CPU: Column = Column::number(
    "CPU",
    "time on a CPU, as the kernel counts it",
    6,
    Content::Value(Value::CpuTime(|data, what| {
        data.snapshot.threads[what.row as usize].cpu_ns
    })),
)
.by(Order::of("cpu", |data, what| {
    or_last(data.snapshot.threads[what.row as usize].cpu_ns)
})
.adding_up());
static OUTSIDE: Column = Column::number(
    "OUTSIDE",
    "time outside of any scope",
    8,
    Content::Value(Value::TimeOf(|data, what| {
        data.threads()[what.row as usize].outside_ns
    })),
)
.by(Order::of("outside", |data, what| {
    data.threads()[what.row as usize].outside_ns
})
.adding_up());
static NOW: Column = Column::text(
    "NOW",
    "what it does or waits in, in which scope",
    Content::Text(now),
);

/// All columns, in the order of the help.
pub(super) static ALL: [&Column; 9] = [
    &THREAD, &TID, &STATE, &BUSY, &COURSE, &CPU, &TOTAL, &OUTSIDE, &NOW,
];

/// Returns the columns of a list that is `width` cells wide, from left to right.
pub(super) fn places(width: u16) -> Vec<Place> {
    let (thread, course) = match width {
        160.. => (24, 30),
        120.. => (16, 30),
        80.. => (15, 12),
        60.. => (13, 10),
        _ => (12, 0),
    };
    let columns: &Columns = match width {
        60.. => &[
            (&THREAD, Cells(thread)),
            (&TID, Own),
            (&STATE, Cells(8)),
            (&BUSY, Own),
            (&COURSE, Cells(course)),
            (&CPU, Own),
            (&TOTAL, Own),
            (&OUTSIDE, Own),
            (&NOW, Parts(1)),
        ],
        40.. => &[(&THREAD, Cells(thread)), (&BUSY, Own), (&NOW, Parts(1))],
        _ => &[(&THREAD, Parts(1)), (&BUSY, Own)],
    };
    // The names of a thread and of its current function share the part of the line that names have.
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

/// Text between a thread's activity and its function.
const IN: &str = " in ";

/// Cells that a function needs, unless its name is shorter.
const ROOM_FOR_FUNCTION: usize = 12;

/// Describes a thread's activity or wait, as far as it is known, and the innermost function that is open.
fn now(canvas: &Canvas<'_>, cell: &Cell<'_>) -> String {
    let (data, cells) = (cell.data, cell.room());
    let function = of(cell).doing;
    let function = function.map(|function| data.names.short[function.index()].as_str());
    let now = data.snapshot.waits_in.now_of(cell.row.what.row);
    let does = now.map(|now| safe(now.call().unwrap_or(now.word()), canvas.ascii));
    // Without room for the module, the function stands alone.
    let short = |name: &str, cells: usize| {
        cut_middle(without_module(name, cells), cells, canvas.glyphs.cut).into_owned()
    };
    match (does, function) {
        (Some(does), Some(function)) => {
            let room = cells.saturating_sub(width(&does) + IN.len());
            // Where only one of both fits, the function stays.
            if room < ROOM_FOR_FUNCTION.min(width(without_module(function, room))) {
                return short(function, cells);
            }
            format!("{does}{IN}{}", short(function, room))
        }
        (Some(does), None) => cut_end(&does, cells, canvas.glyphs.cut).into_owned(),
        (None, Some(function)) => short(function, cells),
        (None, None) => UNKNOWN.to_string(),
    }
}
