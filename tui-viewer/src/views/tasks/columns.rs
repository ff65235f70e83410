//! The columns of the tree of tasks.

use tickscope_analysis::tasks::{TaskKind, TaskRow};
use tickscope_report::number;

use crate::app::sort::{Order, or_last};
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::{Cell, Column, Place, names, numbers, texts};
use crate::ui::view::place::Width::{Cells, Own, Parts};
use crate::ui::view::place::{Columns, side_by_side_names_first};
use crate::ui::view::unit::UNKNOWN;
use crate::ui::view::{rows, unit};

/// Initial order of the calls.
pub(super) const ORDER: Order = Order::of("in flight", |data, what| {
    data.tasks().rows[what.row as usize].in_flight
});

static IN_FLIGHT: Column = numbers("IN FLIGHT", 9, "async calls begun and not over")
    .shows(|_, cell| number::count(of(cell).in_flight))
    .by(ORDER);
static OLDEST: Column = numbers("OLDEST", 6, "age of the oldest call")
    .shows(|canvas, cell| match of(cell).in_flight {
        0 => UNKNOWN.to_string(),
        _ => canvas.duration(of(cell).oldest_ns),
    })
    .by(Order::of("oldest", |data, what| {
        data.tasks().rows[what.row as usize].oldest_ns
    }));
static P50: Column = numbers("P50", 6, "half of the calls took no longer")
    .shows(|canvas, cell| quantile(canvas, cell, 0.5))
    .by(Order::P50);
static P99: Column = numbers("P99", 6, "99 of 100 calls took no longer")
    .shows(|canvas, cell| quantile(canvas, cell, 0.99))
    .by(Order::P99);
static BUSY: Column = numbers("BUSY", 6, "polls of a call, on average")
    .shows(|canvas, cell| time(canvas, cell, of(cell).mean_busy_ns()))
    .by(Order::of("busy", |data, what| {
        or_last(data.tasks().rows[what.row as usize].mean_busy_ns())
    }))
    .looks(|cell| match of(cell).blocks_executor() {
        true => Meaning::Notable,
        false => cell.usual(),
    });
static AWAIT: Column = numbers("AWAIT", 6, "time between polls, on average")
    .shows(|canvas, cell| time(canvas, cell, of(cell).mean_await_ns()))
    .by(Order::of("await", |data, what| {
        or_last(data.tasks().rows[what.row as usize].mean_await_ns())
    }));
static POLLS: Column = numbers("POLLS", 6, "number of polls of a call")
    .shows(|_, cell| match of(cell).started {
        0 => UNKNOWN.to_string(),
        _ if is_unnamed(cell) => UNKNOWN.to_string(),
        started => number::quotient(of(cell).polls, started),
    })
    .by(Order::of("polls", |data, what| {
        let row = &data.tasks().rows[what.row as usize];
        row.polls.saturating_mul(1_000) / row.started.max(1)
    }));
static CANCELLED: Column = numbers("CANCELLED", 9, "calls dropped before they were ready")
    .shows(|_, cell| match is_unnamed(cell) {
        true => UNKNOWN.to_string(),
        false => number::count(of(cell).cancelled),
    })
    .by(Order::of("cancelled", |data, what| {
        data.tasks().rows[what.row as usize].cancelled
    }));
static NAME: Column = names("FUTURE", "async function, block or await")
    .shows(|canvas, cell| {
        let indent = "  ".repeat(cell.row.depth.min(u32::from(cell.place.width) / 4) as usize);
        let room = cell.room().saturating_sub(indent.len());
        let name = canvas.cut_middle(cell.data.label(cell.row.what), room);
        format!("{indent}{name}")
    })
    .looks(|cell| cell.name(cell.usual()));
static WHERE: Column = texts("WHERE", "file and line")
    .shows(|canvas, cell| {
        if is_unnamed(cell) {
            return String::new();
        }
        let function = cell.data.tree.functions.get(of(cell).function);
        rows::file_and_line(canvas, &function.file, function.line, cell.place.width)
    })
    .looks(|_| Meaning::Quiet);

/// Returns the columns of a tree that is `width` cells wide, from left to right.
pub(super) fn places(width: u16) -> Vec<Place> {
    let in_flight = if width < 40 { Cells(5) } else { Own };
    let columns: &Columns = &[
        (&IN_FLIGHT, in_flight, 0),
        (&OLDEST, Own, 40),
        (&P50, Own, 80),
        (&P99, Own, 60),
        (&BUSY, Own, 80),
        (&AWAIT, Own, 100),
        (&POLLS, Own, 100),
        (&CANCELLED, Own, 100),
        (&NAME, Parts(3), 0),
        (&WHERE, Parts(2), 120),
    ];
    let leaving = [&WHERE, &CANCELLED, &POLLS, &P50, &AWAIT, &BUSY, &P99, &OLDEST];
    side_by_side_names_first(columns, &[&NAME], &leaving, width)
}

fn of<'a>(cell: &Cell<'a>) -> &'a TaskRow {
    &cell.data.tasks().rows[cell.row.what.row as usize]
}

fn is_unnamed(cell: &Cell<'_>) -> bool {
    of(cell).kind == TaskKind::UnnamedAwait
}

fn time(canvas: &Canvas<'_>, cell: &Cell<'_>, ns: Option<u64>) -> String {
    let ns = ns.filter(|_| !is_unnamed(cell));
    let text = ns.and_then(|ns| {
        let ticks = unit::clock_ticks(cell.data, ns);
        unit::time(canvas, cell.app.query.in_ticks, None, ns, ticks, false)
    });
    text.unwrap_or_else(|| UNKNOWN.to_string())
}

fn quantile(canvas: &Canvas<'_>, cell: &Cell<'_>, share: f64) -> String {
    let ticks = cell.data.tasks().wall(cell.row.what.row).quantile(share);
    let text = ticks.map(|ticks| unit::length(canvas, cell.app, cell.data, ticks));
    text.unwrap_or_else(|| UNKNOWN.to_string())
}
