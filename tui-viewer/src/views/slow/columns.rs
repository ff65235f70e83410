//! The columns of two lists: the paths of a watched function, and the functions with a tail.

use tickscope_analysis::slow::SlowRow;
use tickscope_report::number;
use tickscope_report::slow::{both_calls, difference, duration};

use crate::app::data::Data;
use crate::app::row::What;
use crate::app::sort::Order;
use crate::app::state::App;
use crate::app::tails::Tail;
use crate::keys::view::View;
use crate::text::cells::width;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::charts::bar;
use crate::ui::view::column::{Cell, Column, Place, names, numbers, texts};
use crate::ui::view::place::Width::{Cells, Own, Parts};
use crate::ui::view::place::{Columns, side_by_side_names_first};
use crate::ui::view::unit::UNKNOWN;

/// Initial order: functions by their tail, and paths by the difference between slow and typical calls. If there are no
/// slow calls, paths are sorted by their typical time, longest first.
pub(super) const ORDER: Order = Order::of("difference", |data, what| {
    if what.of != View::Slow {
        return data.tail(what).map_or(0, Tail::weight);
    }
    let means = means(data, what);
    weight(means.difference_ns().or(means.typical.map(|typical| typical.ns)))
})
.of_now();

static DIFFERENCE: Column = numbers("DIFFERENCE", 11, "slow less typical, per call")
    .shows(|canvas, cell| {
        let ns = of(cell).difference_ns();
        ns.map_or_else(unknown, |ns| difference(ns, canvas.ascii))
    })
    .by(ORDER);
static SHARE: Column = numbers("SHARE", 6, "part of the whole difference")
    .shows(|_, cell| share(cell).map_or_else(unknown, number::percent))
    .by(ORDER);
static BAR: Column = texts("", "the share, as a bar")
    .shows(|canvas, cell| bar(share(cell).unwrap_or(0.0), cell.place.width, canvas.glyphs))
    .wide(10);
static TYPICAL: Column = numbers("TYPICAL", 8, "in the path itself, in a typical call")
    .shows(|canvas, cell| time(canvas, of(cell).typical.map(|typical| typical.ns)))
    .by(Order::of("typical", |data, what| {
        weight(means(data, what).typical.map(|typical| typical.ns))
    })
    .of_now())
    .looks(|_| Meaning::Quiet);
static SLOW: Column = numbers("SLOW", 6, "in the path itself, in a slow call")
    .shows(|canvas, cell| time(canvas, of(cell).slow.map(|slow| slow.ns)))
    .by(Order::of("slow", |data, what| {
        weight(means(data, what).slow.map(|slow| slow.ns))
    })
    .of_now())
    .looks(|_| Meaning::Plain);
static CALLS: Column = numbers("CALLS", 13, "calls in a typical and in a slow call")
    .shows(|canvas, cell| both_calls(of(cell), canvas.ascii))
    .by(Order::of("calls", |data, what| {
        weight(means(data, what).slow.map(|slow| slow.calls * 1e3))
    })
    .of_now())
    .looks(|cell| {
        let means = of(cell);
        let called_more = means.typical.zip(means.slow).is_some_and(|(typical, slow)| {
            // The number of calls has at least doubled, and has grown by enough to show in whole numbers.
            slow.calls >= 2.0 * typical.calls && slow.calls - typical.calls >= 0.5
        });
        match called_more {
            true => Meaning::Notable,
            false => Meaning::Quiet,
        }
    });
static NAME: Column = names("PATH", "from the watched function on")
    .shows(name)
    .looks(|cell| cell.name(Meaning::Plain))
    .titled(|app, cells| {
        let all = whose_means(app).into_iter().map(|words| format!("PATH  {words}"));
        // One cell is left for the mark of the sort order.
        all.into_iter()
            .find(|title| width(title) < usize::from(cells).max(1))
    });

/// Returns the columns of a table that is `width` cells wide, from left to right.
pub(super) fn places(width: u16) -> Vec<Place> {
    let difference = if width < 40 { Cells(7) } else { Own };
    let columns: &Columns = &[
        (&DIFFERENCE, difference, 0),
        (&SHARE, Own, 40),
        (&BAR, Own, 100),
        (&TYPICAL, Own, 80),
        (&SLOW, Own, 80),
        (&CALLS, Own, 60),
        (&NAME, Parts(1), 0),
    ];
    side_by_side_names_first(columns, &[&NAME], &[&BAR, &TYPICAL, &SLOW, &SHARE], width)
}

fn means(data: &Data, what: What) -> &SlowRow {
    &data.slow().rows[what.row as usize].means
}

/// Converts a time in ns, which may be negative, to a sort key.
fn weight(ns: Option<f64>) -> u64 {
    const ZERO: f64 = (1u64 << 62) as f64;
    (ns.unwrap_or(0.0) * 16.0 + ZERO).max(0.0) as u64
}

fn of<'a>(cell: &Cell<'a>) -> &'a SlowRow {
    means(cell.data, cell.row.what)
}

/// Returns a path's share of the whole difference.
fn share(cell: &Cell<'_>) -> Option<f64> {
    cell.app.watched()?.slow.share_of(of(cell))
}

fn unknown() -> String {
    UNKNOWN.to_string()
}

fn time(canvas: &Canvas<'_>, ns: Option<f64>) -> String {
    ns.map_or_else(unknown, |ns| duration(ns, canvas.ascii))
}

/// Returns a note that the columns show means over all slow calls, of any cause, first in a long form and then in a
/// short one. Empty if there are fewer than two causes.
fn whose_means(app: &App) -> Vec<String> {
    let Some(slow) = app.watched().map(|watch| &watch.slow) else {
        return Vec::new();
    };
    if slow.causes.len() < 2 {
        return Vec::new();
    }
    let calls = number::count(slow.slow_calls);
    vec![
        format!("means of all {calls} slow calls, of any cause"),
        format!("means of all {calls} slow"),
    ]
}

/// Formats a path. If there is room, the difference in its time off the CPU follows, provided that this accounts for at
/// least a quarter of the path's whole difference.
fn name(canvas: &Canvas<'_>, cell: &Cell<'_>) -> String {
    let (means, room) = (of(cell), cell.room());
    let name = cell.data.label(cell.row.what);
    let off = |ns: Option<f64>, word: &str| match ns {
        Some(ns) if ns.abs() >= 1.0 && ns >= means.difference_ns().unwrap_or(0.0) / 4.0 => {
            format!("  {} {word}", difference(ns, canvas.ascii))
        }
        Some(_) | None => String::new(),
    };
    let waits = off(means.difference(|means| means.waiting_ns), "waiting");
    let ready = off(means.difference(|means| means.ready_ns), "without a CPU");
    let mut behind = format!("{waits}{ready}");
    if width(name) + width(&behind) > room {
        behind.clear();
    }
    // A path ends with the function itself, so the beginning is cut off.
    let name = canvas.cut_start(name, room - width(&behind));
    format!("{name}{behind}")
}

static TAIL: Column = numbers("TAIL", 6, "")
    .shows(|canvas, cell| tail_time(canvas, cell, |tail| Some(tail.ticks)))
    .by(ORDER)
    .looks(|_| Meaning::Warm);
static TAIL_CALLS: Column = numbers("CALLS", 6, "").shows(|_, cell| {
    let tail = cell.data.tail(cell.row.what);
    tail.map_or_else(String::new, |tail| number::count(tail.latency.count()))
});
static TAIL_P50: Column =
    numbers("P50", 6, "").shows(|canvas, cell| tail_time(canvas, cell, |tail| tail.latency.quantile(0.5)));
static TAIL_P99: Column =
    numbers("P99", 6, "").shows(|canvas, cell| tail_time(canvas, cell, |tail| tail.latency.quantile(0.99)));
static TAIL_MAX: Column = numbers("MAX", 7, "")
    .shows(|canvas, cell| tail_time(canvas, cell, |tail| tail.latency.max().map(|(ticks, _)| ticks)));
static TAIL_NAME: Column = texts("FUNCTION", "")
    .shows(|canvas, cell| {
        let name = cell.data.label(cell.row.what);
        canvas.cut_path(name, cell.room()).into_owned()
    })
    .looks(|cell| cell.name(Meaning::Plain));

/// Returns the columns of the functions with a tail, from left to right.
pub(super) fn tail_places(width: u16) -> Vec<Place> {
    let columns: &Columns = &[
        (&TAIL, Own, 0),
        (&TAIL_CALLS, Own, 60),
        (&TAIL_P50, Own, 40),
        (&TAIL_P99, Own, 60),
        (&TAIL_MAX, Own, 40),
        (&TAIL_NAME, Parts(1), 0),
    ];
    side_by_side_names_first(columns, &[&TAIL_NAME], &[], width)
}

fn tail_time(canvas: &Canvas<'_>, cell: &Cell<'_>, ticks: impl Fn(&Tail) -> Option<u64>) -> String {
    let Some(tail) = cell.data.tail(cell.row.what) else {
        return String::new();
    };
    let ns = ticks(tail).map(|ticks| cell.data.snapshot.nanos(ticks));
    ns.map_or_else(unknown, |ns| canvas.duration(ns))
}
