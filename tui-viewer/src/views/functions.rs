//! The columns of the lists whose rows are functions: Tree, Hot and Function.

use ratatui::layout::Rect;
use tickscope_format::path::tail;
use tickscope_report::number;

use crate::app::data::Data;
use crate::app::layout::halves;
use crate::app::row::{Fold, Portion, Row, What};
use crate::app::sort::{Order, or_last};
use crate::app::state::App;
use crate::keys::view::View;
use crate::text::cells::{cut_middle, width};
use crate::text::glyphs::Glyphs;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::{Canvas, Pen};
use crate::ui::view::column::{Cell, Column, Place, Value, names, numbers, texts};
use crate::ui::view::place::{gap, names_first};
use crate::ui::view::{charts, difference, rows};
use crate::views::function::parts;

/// Help text for the STATE columns of the Threads and Sites views.
pub(crate) const STATE_HELP: &str = "what a thread does; if a site is off";

static TOT_SHARE: Column = numbers("%TOT", 6, "share of all time shown, callees included")
    .of(Value::Share(Portion::Total))
    .by(Order::TOTAL);
static OWN_SHARE: Column = numbers("%SELF", 6, "share of all time shown, without callees")
    .of(Value::Share(Portion::Own))
    .by(Order::SELF)
    // In a bottom-up tree, a row's self time is the part spent in calls that have no caller.
    .titled(|app, _| bottom_up(app).then(|| "%TOP".to_string()));
static OF_SHARE: Column = numbers("%OF", 6, "share of the function that is shown")
    .of(Value::Share(Portion::Total))
    .by(Order::TOTAL);
/// The view's main share, drawn as a bar. While two moments are compared, the change of the mean is shown instead.
static BAR: Column = texts("", "the first share, as a bar")
    .drawn(draw_bar)
    .titled(|app, width| {
        let title = if width < 10 { "AVG %" } else { "AVG change" };
        app.compared().map(|_| title.to_string())
    });
pub(crate) static TOTAL: Column = numbers("TOTAL", 6, "time in it, with callees and waiting")
    .of(Value::Time(Portion::Total))
    .by(Order::TOTAL);
static WAIT: Column = numbers("WAIT", 6, "part of TOTAL that waits, off the CPU")
    .of(Value::OffCpu(|off| off.waiting_ns))
    .by(Order::of("wait", |data, what| data.figures(what).total_off.waiting_ns).adding_up());
static READY: Column = numbers("READY", 6, "part of TOTAL ready, without a CPU")
    .of(Value::OffCpu(|off| off.ready_ns))
    .by(Order::of("ready", |data, what| data.figures(what).total_off.ready_ns).adding_up());
static SELF: Column = numbers("SELF", 6, "time in it, without measured callees")
    .of(Value::Time(Portion::Own))
    .by(Order::SELF)
    .titled(|app, _| bottom_up(app).then(|| "TOP".to_string()));
pub(crate) static CALLS: Column = numbers("CALLS", 6, "calls that began")
    .of(Value::Calls)
    .by(Order::CALLS);
// Wide enough for two counts with a separator between them.
static CALLS_OF: Column = numbers("CALLS", 11, "in Function: calls by it, of all calls")
    .of(Value::CallsOf)
    .by(Order::CALLS);
static AVG: Column = numbers("AVG", 6, "TOTAL of a call on average, or wall")
    .of(Value::Mean)
    .by(Order::of("avg", |data, what| {
        or_last(data.figures(what).avg_ns())
    }));
static P50: Column = numbers("P50", 6, "half of the calls took no longer")
    .of(Value::Quantile(50))
    .by(Order::P50);
static P99: Column = numbers("P99", 6, "99 of 100 calls took no longer")
    .of(Value::Quantile(99))
    .by(Order::P99);
// One cell wider than the other columns, to make room for the mark of an upper bound.
static MAX: Column = numbers("MAX", 7, "the longest call")
    .of(Value::Longest)
    .by(Order::of("max", |data, what| match data.figures(what).tally {
        Some(_) => 0,
        None => or_last(data.latency(what).max().map(|(ticks, _)| ticks)),
    }));
static SPARK: Column = texts("LAST 30 s", "time a second, relative to its busiest")
    .shows(|canvas, cell| charts::spark(canvas, cell.app, cell.row.id, cell.place.width))
    .wide(10)
    .looks(|_| Meaning::Quiet);
static NAME: Column = names("FUNCTION", "function or scope, with its module")
    .drawn(draw_name)
    .titled(title_of_names);
pub(crate) static WHERE: Column = texts("WHERE", "file and line")
    .shows(|canvas, cell| {
        let function = cell.data.function(cell.row.what);
        let function = function.map(|function| cell.data.tree.functions.get(function));
        function.map_or_else(String::new, |function| {
            rows::file_and_line(canvas, &function.file, function.line, cell.place.width)
        })
    })
    .looks(|_| Meaning::Quiet);

/// All columns, in the order in which the help lists them.
pub(crate) static ALL: [&Column; 17] = [
    &TOT_SHARE, &OWN_SHARE, &OF_SHARE, &BAR, &TOTAL, &WAIT, &READY, &SELF, &CALLS, &CALLS_OF, &AVG, &P50,
    &P99, &MAX, &SPARK, &NAME, &WHERE,
];

/// Columns of the views, from left to right.
static TREE: [&Column; 14] = [
    &TOT_SHARE, &BAR, &TOTAL, &WAIT, &READY, &SELF, &OWN_SHARE, &CALLS, &AVG, &P50, &P99, &MAX, &SPARK, &NAME,
];
static HOT: [&Column; 15] = [
    &OWN_SHARE, &BAR, &SELF, &TOTAL, &TOT_SHARE, &WAIT, &READY, &CALLS, &AVG, &P50, &P99, &MAX, &SPARK,
    &NAME, &WHERE,
];
static FUNCTION: [&Column; 9] = [
    &OF_SHARE, &BAR, &TOTAL, &WAIT, &READY, &CALLS_OF, &AVG, &NAME, &WHERE,
];
static NARROW: [&Column; 9] = [
    &OF_SHARE, &BAR, &TOTAL, &WAIT, &READY, &CALLS, &AVG, &NAME, &WHERE,
];

/// Returns the columns of the tree, from left to right.
pub(crate) fn of_tree(width: u16) -> Vec<Place> {
    places(&TREE, width, false)
}

/// Returns the columns of the list of hotspots, from left to right.
pub(crate) fn of_hot(width: u16) -> Vec<Place> {
    places(&HOT, width, false)
}

/// Returns the area of each list in the Function view, together with the list's columns from left to right.
pub(crate) fn of_function(area: Rect) -> Vec<(Rect, Vec<Place>)> {
    let Some(halves) = halves(area) else {
        return vec![(area, places(&FUNCTION, area.width, false))];
    };
    // Both lists have the same columns, even if one list is a cell wider.
    let width = halves[0].width;
    let columns = if width < ROOM_FOR_ALL_CALLS {
        &NARROW
    } else {
        &FUNCTION
    };
    let places_on = |list: Rect| {
        let moved = places(columns, width, true).into_iter().map(|place| Place {
            x: list.x + place.x,
            ..place
        });
        (list, moved.collect())
    };
    halves.map(places_on).to_vec()
}

/// Returns the columns of a list that is `width` cells wide, from left to right. `is_half` says whether there is
/// another list beside it.
fn places(columns: &[&'static Column], width: u16, is_half: bool) -> Vec<Place> {
    // Leaves out the least important columns first, until the name has enough room. The detail pane shows all values
    // anyway.
    let (share, time) = match *columns[0] == TOT_SHARE {
        true => (&OWN_SHARE, &SELF),
        false => (&TOT_SHARE, &TOTAL),
    };
    let leaving = [
        &WHERE, &P50, &READY, share, &MAX, &P99, &SPARK, &WAIT, &AVG, &CALLS, &CALLS_OF, time, &BAR, &TOTAL,
        &SELF,
    ];
    let places = |bar: u16| {
        names_first(&[&NAME], &leaving, width, |gone| {
            let has_room = |column: &Column| *column != BAR || is_half || width >= ROOM_FOR_BAR;
            let stay = columns.iter().copied();
            let stay: Vec<_> = stay
                .filter(|column| has_room(column) && !gone.contains(column))
                .collect();
            side_by_side(&stay, width, bar)
        })
    };
    if !is_half {
        return places(if width >= 100 { LONG_BAR } else { SHORT_BAR });
    }
    // Makes the bar as long as possible without losing a column that fits when the bar is short.
    let short = places(SHORT_BAR);
    let longer = (SHORT_BAR + 1..=LONG_BAR).rev().map(places);
    let mut fitting = longer.filter(|places| places.len() == short.len());
    fitting.next().unwrap_or(short)
}

/// Width of a bar in cells: `SHORT_BAR` in a narrow list, `LONG_BAR` in a wide one.
const SHORT_BAR: u16 = 5;
const LONG_BAR: u16 = 10;

/// Minimum width in cells of a list with bars. In a narrower list, a bar says too little for the space it takes. This
/// does not apply to lists that are side by side.
const ROOM_FOR_BAR: u16 = 60;

/// If two lists are side by side, each must be at least this many cells wide for CALLS to include the total number of
/// calls.
const ROOM_FOR_ALL_CALLS: u16 = 72;

/// Maximum width in cells of the column with a function's file and line.
const LONGEST_WHERE: u16 = 40;

fn side_by_side(columns: &[&'static Column], width: u16, bar: u16) -> Vec<Place> {
    let gap = gap(width);
    // The first cell is reserved for the mark of the selected row.
    let mut x = gap;
    let mut out = Vec::with_capacity(columns.len());
    for &column in columns {
        if column.is_name {
            x += gap - 1;
            let rest = width.saturating_sub(x + 1);
            let to_where = match columns.contains(&&WHERE) {
                true => (rest / 5 * 2).min(LONGEST_WHERE),
                false => 0,
            };
            out.push(Place {
                column,
                x,
                width: rest - to_where - u16::from(to_where > 0),
            });
            if to_where > 0 {
                out.push(Place {
                    column: &WHERE,
                    x: x + rest - to_where,
                    width: to_where,
                });
            }
            break;
        }
        let width = if *column == BAR { bar } else { column.width };
        out.push(Place { column, x, width });
        let is_first_share = column.is_share() && out.len() == 1;
        x += width + if is_first_share { 1 } else { gap };
    }
    out
}

fn bottom_up(app: &App) -> bool {
    app.data().is_some_and(|data| data.bottom_up)
}

/// Minimum width in cells at which the description of the filters fits on the tab line.
const ROOM_IN_TABS: u16 = 110;

/// Returns the title of the name column, with a description of the filters; `None` if there are no filters, or if the
/// tab line already describes them.
fn title_of_names(app: &App, cells: u16) -> Option<String> {
    let layout = app.layout();
    let words = app.query.filter.words(app.views.current).join("  ");
    if words.is_empty() || (layout.tabs.is_some() && layout.columns.width >= ROOM_IN_TABS) {
        return None;
    }
    // One cell is left for the mark of the sort order.
    let room = usize::from(cells.saturating_sub(1));
    let all = format!("{}  {words}", NAME.title);
    Some(match width(&all) <= room {
        true => all,
        false => cut_middle(&words, room, Glyphs::of(app.screen.ascii).cut).into_owned(),
    })
}

/// Returns a row's main share, or its share at the moment of comparison if that is larger. A row that has shrunk
/// therefore keeps the colour of its former share.
fn main_share(app: &App, data: &Data, what: What) -> f64 {
    let share = |data: &Data, what| {
        let (total, own) = app.shares(data, what);
        match app.views.current.about().main {
            Portion::Total => total,
            Portion::Own => own,
        }
    };
    let then = data.counterpart(what);
    share(data, what).max(then.map_or(0.0, |(then, there)| share(then, there)))
}

/// Returns the look of a row's first cell, and the look of its other cells.
pub(crate) fn weigh(app: &App, data: &Data, row: &Row) -> [Meaning; 2] {
    if data.figures(row.what).tally.is_some() {
        return [Meaning::Plain; 2];
    }
    match main_share(app, data, row.what) {
        0.25.. => [Meaning::Hottest, Meaning::Plain],
        0.05.. => [Meaning::Warm, Meaning::Plain],
        share if share < 0.01 => [Meaning::Small; 2],
        _ => [Meaning::Plain; 2],
    }
}

fn draw_bar(canvas: &mut Canvas<'_>, cell: &Cell<'_>) {
    let (app, data, what, area) = (cell.app, cell.data, cell.row.what, cell.area());
    if data.then.is_some() {
        let (text, meaning) = difference::of_avg(canvas, data, what, area.width);
        return cell.put(canvas, &text, meaning);
    }
    // On the selected row, the bar is reversed too: dark on a light background.
    let share = main_share(app, data, what);
    let off = rows::off_cpu(app, data, what);
    let [working, off] = charts::in_two(share, off, area.width, canvas.glyphs);
    let mut pen = Pen::on(canvas, area, 0);
    pen.put(&working, cell.look.of(cell.weights[0]));
    pen.put(&off, cell.look.of(Meaning::Waiting));
}

/// If the name has fewer cells than this in the Function view, no marks follow it.
const ROOM_FOR_MARKS: usize = 14;

/// Draws the tree lines, the fold mark, the name, and the marks that follow it.
fn draw_name(canvas: &mut Canvas<'_>, cell: &Cell<'_>) {
    let Cell { app, data, row, .. } = *cell;
    let glyphs = canvas.glyphs;
    let mut pen = Pen::on(canvas, cell.area(), 0);
    if app.views.current.about().has_parents {
        pen.x = rows::lead(pen.canvas, cell);
    }
    if let Some(mark) = parts::direction(data, row.what, glyphs) {
        pen.put(mark, cell.look.of(Meaning::Rule));
    }
    let mut marks = Vec::new();
    if data.is_recursive(row.what) {
        marks.push((glyphs.again, Meaning::Notable));
    }
    let figures = data.figures(row.what);
    if figures.open > figures.waiting {
        marks.push((glyphs.running, Meaning::Good));
    } else if figures.open > 0 {
        marks.push((glyphs.waits, Meaning::Waiting));
    }
    if data.is_doubtful(row.what) {
        marks.push((glyphs.doubtful, Meaning::Notable));
    }
    if row.what.of == View::Function && pen.room() < ROOM_FOR_MARKS {
        // The arrow before the name leaves too little room for both the name and the marks.
        marks.clear();
    }
    let marks_cells: usize = marks.iter().map(|(mark, _)| width(mark) + 1).sum();
    let hidden = match row.fold {
        Fold::Closed(rows) => format!("+{}", number::count(u64::from(rows))),
        Fold::Open | Fold::Leaf => String::new(),
    };
    let room = pen.room();
    // The count of hidden rows is the first to go, because the fold mark already shows that some rows are hidden.
    let extra = if hidden.is_empty() { 0 } else { hidden.len() + 2 };
    let is_part = row.what.table().is_part(data, row.what.row);
    let text = match is_part && app.layout().title.is_none() {
        // No title names the function, so the row of the function itself does.
        true => data.label(data.in_full(row).what),
        false => data.label(row.what),
    };
    let hidden_fits = width(text) + marks_cells + extra <= room;
    // If the module does not fit, the function alone says more than fragments of both.
    let cells = room.saturating_sub(marks_cells);
    let name = pen.canvas.without_module(text, cells);
    let start = pen.x;
    // The module is drawn in the quiet colour, and the function in the colour of the row.
    let split = name.len() - tail(&name, 1).len();
    pen.put(&name[..split], cell.look.of(Meaning::Quiet));
    pen.put(&name[split..], cell.look.of(cell.weights[1]));
    rows::highlight(pen.canvas, cell, &name, start);
    for (mark, meaning) in marks {
        pen.skip(1);
        pen.put(mark, cell.look.of(meaning));
    }
    if hidden_fits && extra > 0 {
        pen.skip(2);
        pen.put(&hidden, cell.look.of(Meaning::Quiet));
    }
}
