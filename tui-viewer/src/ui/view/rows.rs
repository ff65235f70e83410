//! Rows of the list: only the rows that are on the screen.

use std::borrow::Cow;
use std::ops::Range;

use ratatui::layout::Rect;
use tickscope_analysis::measure::Measure;
use tickscope_format::path::tail;
use tickscope_report::{label, number};

use crate::app::columns;
use crate::app::columns::functions;
use crate::app::columns::functions::FunctionColumn;
use crate::app::columns::place::Place;
use crate::app::data::Data;
use crate::app::figures::{Portion, What, share};
use crate::app::row::{Fold, Row};
use crate::app::state::App;
use crate::app::thread_choice::ThreadChoice;
use crate::app::views::List;
use crate::source::status::Status;
use crate::text::cells::{cut_middle, cut_path, cut_start, safe, width, without_module};
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::{bar, difference, figure, function, spark};

/// Draws the rows.
pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    let list = app.list();
    if let Some(why) = app.nothing_chosen().filter(|_| list.rows.is_empty()) {
        let why = safe(&why, canvas.ascii);
        return tell(canvas, area, &why);
    }
    if list.rows.is_empty() && data.tree.rows.is_empty() {
        return nothing(canvas, app, data, area);
    }
    let lists = functions::lists(app.views.current, area);
    if let [(first, _), _] = &lists[..] {
        divide(canvas, list, *first);
    }
    for ((area, places), rows) in lists.into_iter().zip(list.on_screen()) {
        each_of(canvas, app, data, (area, rows), |canvas, row, y, look| {
            line(canvas, app, data, row, &places, y, look);
        });
    }
}

/// Draws a line between two lists, below their headings.
fn divide(canvas: &mut Canvas<'_>, list: &List, first: Rect) {
    let side = canvas.glyphs.frame[4];
    let area = Rect::new(first.right(), first.y, 1, first.height);
    for y in area.top()..area.bottom() {
        canvas.put(area.x, y, 1, side, Meaning::Rule);
    }
    let is_heading = |rows: Range<usize>| list.rows.get(rows.start).is_some_and(Row::is_heading);
    if area.height > 0 && list.on_screen().all(is_heading) {
        canvas.rule(Rect { height: 1, ..area });
    }
}

/// Draws each row on the screen; the selected row on its ground.
pub(crate) fn each<'a>(
    canvas: &mut Canvas<'a>,
    app: &App,
    data: &Data,
    area: Rect,
    line: impl FnMut(&mut Canvas<'a>, &Row, u16, Look),
) {
    let rows = app.list().cursor.offset..app.list().rows.len();
    each_of(canvas, app, data, (area, rows), line);
}

/// Draws each of these rows, while there is room.
fn each_of<'a>(
    canvas: &mut Canvas<'a>,
    app: &App,
    data: &Data,
    (area, rows): (Rect, Range<usize>),
    mut line: impl FnMut(&mut Canvas<'a>, &Row, u16, Look),
) {
    let list = app.list();
    for (index, y) in rows.zip(area.top()..area.bottom()) {
        let Some(row) = list.rows.get(index) else { return };
        if row.is_heading() {
            function::heading(canvas, data.label(row.what), Rect { y, height: 1, ..area });
            continue;
        }
        let selected = index == list.cursor.index;
        let look = Look {
            selected,
            stale: matches!(app.program.status, Status::Stale { .. }) && !app.playback.stands_still(),
        };
        if selected {
            canvas.paint(Rect { y, height: 1, ..area }, Meaning::Selected);
            if app.screen.theme.points() {
                canvas.put(area.x, y, 1, ">", Meaning::Selected);
            }
        }
        line(canvas, row, y, look);
    }
}

/// Draws a sentence in place of rows.
pub(crate) fn tell(canvas: &mut Canvas<'_>, area: Rect, text: &str) {
    canvas.put_cut(
        area.x + 2,
        area.y,
        area.width.saturating_sub(3),
        text,
        Meaning::Plain,
    );
}

/// Cells below which only the name fits.
const ROOM_FOR_MARKS: usize = 14;

/// Draws the reason for an empty list, in every state.
pub(crate) fn nothing(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    let text = match (&app.query.threads, data.thread) {
        (ThreadChoice::All, _) if !data.snapshot.capture.mode.traits().is_counting => {
            "Measuring is off: no scope is counted."
        }
        (ThreadChoice::All, _) if app.compared().is_some() => "Nothing was counted, now or then.",
        (ThreadChoice::All, _) => "No scope has been entered since the reset.",
        (ThreadChoice::One { .. }, Some(_)) => "This thread has entered no scope since the reset.",
        (ThreadChoice::One { .. }, None) => "The chosen thread is not there any more.",
    };
    tell(canvas, area, text);
}

/// Look of a whole row.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    /// Whether the row is selected.
    pub(crate) selected: bool,
    /// Whether the data is old.
    pub(crate) stale: bool,
}

impl Look {
    /// Returns the meaning of a cell: the same for all cells of the selected row, and of old data.
    pub(crate) fn of(self, meaning: Meaning) -> Meaning {
        match (self.selected, self.stale) {
            (true, _) => Meaning::Selected,
            (false, true) => Meaning::Quiet,
            (false, false) => meaning,
        }
    }
}

fn line(
    canvas: &mut Canvas<'_>,
    app: &App,
    data: &Data,
    row: &Row,
    places: &[Place<FunctionColumn>],
    y: u16,
    look: Look,
) {
    let (of_total, of_self) = app.shares(data, row.what);
    // A row that has become small keeps the colour of its former share.
    let (then_total, then_self) = data
        .counterpart(row.what)
        .map_or((0.0, 0.0), |(then, there)| app.shares(then, there));
    let main = match app.views.current.about().main {
        Portion::Total => of_total.max(then_total),
        Portion::Own => of_self.max(then_self),
    };
    let is_counter = data.figures(row.what).tally.is_some();
    let weight = match main {
        _ if is_counter => Meaning::Plain,
        0.25.. => Meaning::Hottest,
        0.05.. => Meaning::Warm,
        _ if main < 0.01 => Meaning::Small,
        _ => Meaning::Plain,
    };
    let rest = if weight == Meaning::Small {
        Meaning::Small
    } else {
        Meaning::Plain
    };
    for (index, place) in places.iter().enumerate() {
        let column = place.column;
        if column == FunctionColumn::Name {
            name(canvas, app, data, row, *place, y, look, rest);
            continue;
        }
        if column == FunctionColumn::Bar && data.then.is_none() {
            // The selected row reverses the bar too: a dark bar on the light row.
            let off = off_cpu(app, data, row.what);
            let [working, off] = bar::in_two(main, off, place.width, canvas.glyphs);
            let x = canvas.put(place.x, y, place.width, &working, look.of(weight));
            let rest = place.x + place.width - x;
            canvas.put(x, y, rest, &off, look.of(Meaning::Waiting));
            continue;
        }
        let (text, meaning) = if column == FunctionColumn::Bar {
            difference::of_avg(canvas, data, row.what, place.width)
        } else if column == FunctionColumn::Spark {
            (spark::of(canvas, app, row.id, place.width), Meaning::Quiet)
        } else if column == FunctionColumn::Where {
            (place_of(canvas, data, row.what, place.width), Meaning::Quiet)
        } else {
            let text = figure::text(canvas, app, data, row.what, column.spec().value);
            (text, if index == 0 { weight } else { rest })
        };
        let is_number = place.column.spec().is_number();
        cell(canvas, place, is_number, y, &text, look.of(meaning));
    }
}

/// Whether bars and frames tell time off the CPU.
pub(crate) fn tells_waits(app: &App, data: &Data) -> bool {
    app.measure() == Measure::Time && data.snapshot.waits
}

/// Returns the part of a bar's time that is off the CPU, 0 to 1: only where the measure is time.
pub(crate) fn off_cpu(app: &App, data: &Data, what: What) -> f64 {
    if !tells_waits(app, data) {
        return 0.0;
    }
    let figures = data.figures(what);
    let (off, of_ns) = match app.views.current.about().main {
        Portion::Total => (figures.total_off, figures.total_ns),
        Portion::Own => (figures.self_off, figures.self_ns),
    };
    share(off.ns(), of_ns)
}

/// Draws a cell of text, or of a number.
pub(crate) fn cell<C>(
    canvas: &mut Canvas<'_>,
    place: &Place<C>,
    is_number: bool,
    y: u16,
    text: &str,
    meaning: Meaning,
) {
    if is_number {
        number(canvas, place, y, text, meaning);
    } else {
        canvas.put(place.x, y, place.width, text, meaning);
    }
}

/// Draws a number. A sign or a mark before a long number stands in the gap, so that the number keeps its place.
pub(crate) fn number<C>(canvas: &mut Canvas<'_>, place: &Place<C>, y: u16, text: &str, meaning: Meaning) {
    let gap = place.x.min(1);
    canvas.put_right(place.x - gap, y, place.width + gap, text, meaning);
}

fn place_of(canvas: &Canvas<'_>, data: &Data, what: What, cells: u16) -> String {
    let Some(function) = data.function(what) else {
        return String::new();
    };
    let function = data.tree.functions.get(function);
    file_and_line(canvas, &function.file, function.line, cells)
}

/// Formats a place in the source, in this number of cells.
pub(crate) fn file_and_line(canvas: &Canvas<'_>, file: &str, line: u32, cells: u16) -> String {
    let text = label::place(file, line, canvas.ascii);
    cut_path(&safe(&text, canvas.ascii), usize::from(cells), canvas.glyphs.cut).into_owned()
}

/// Draws tree lines, the mark of the fold, the name, and its marks.
#[expect(
    clippy::too_many_arguments,
    reason = "one place on the screen, nothing of it is kept"
)]
fn name(
    canvas: &mut Canvas<'_>,
    app: &App,
    data: &Data,
    row: &Row,
    place: Place<FunctionColumn>,
    y: u16,
    look: Look,
    meaning: Meaning,
) {
    let end = place.x + place.width;
    let glyphs = canvas.glyphs;
    let mut x = place.x;
    if app.views.current.about().has_parents {
        x = lead(canvas, app, row, &place, y, look);
    }
    if let Some(mark) = function::direction(data, row.what, glyphs) {
        x = canvas.put(x, y, end - x, mark, look.of(Meaning::Rule));
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
    if matches!(row.what, What::Call(_)) && usize::from(end.saturating_sub(x)) < ROOM_FOR_MARKS {
        // The arrow before the name takes the room of the marks; the name itself comes first.
        marks.clear();
    }
    let marks_cells: usize = marks.iter().map(|(mark, _)| width(mark) + 1).sum();
    let hidden = match row.fold {
        Fold::Closed(rows) => format!("+{}", number::count(u64::from(rows))),
        Fold::Open | Fold::Leaf => String::new(),
    };
    let room = usize::from(end.saturating_sub(x));
    // The count of hidden rows goes first, because the mark before the name says that there are some.
    let extra = if hidden.is_empty() { 0 } else { hidden.len() + 2 };
    let text = match matches!(row.what, What::Call(line) if data.is_own(line)) && app.layout().title.is_none()
    {
        // No line above names the function of these callers and callees.
        true => data.label(data.in_full(row).what),
        false => data.label(row.what),
    };
    let hidden_fits = width(text) + marks_cells + extra <= room;
    // Without room for the module, the function alone says more than half of both.
    let cells = room.saturating_sub(marks_cells);
    let cut = cut_middle(without_module(text, cells), cells, glyphs.cut);
    let start = x;
    x = put_name(canvas, &cut, x, y, end, look, meaning);
    highlight(canvas, app, row, &cut, start, y, look);
    for (mark, meaning) in marks {
        x = canvas.put(x + 1, y, end.saturating_sub(x + 1), mark, look.of(meaning));
    }
    if hidden_fits && extra > 0 {
        canvas.put(
            x + 2,
            y,
            end.saturating_sub(x + 2),
            &hidden,
            look.of(Meaning::Quiet),
        );
    }
}

/// Draws tree lines and the mark of the fold. Returns where the name begins.
pub(crate) fn lead<C: Copy>(
    canvas: &mut Canvas<'_>,
    app: &App,
    row: &Row,
    place: &Place<C>,
    y: u16,
    look: Look,
) -> u16 {
    let (glyphs, end) = (canvas.glyphs, place.x + place.width);
    let lines = tree_lines(&app.list().rows, row, glyphs);
    let most = usize::from(columns::tree_cells(place));
    let lines = cut_start(&lines, most, glyphs.cut).into_owned();
    let x = canvas.put(place.x, y, place.width, &lines, look.of(Meaning::Rule));
    let (mark, meaning) = match row.fold {
        Fold::Open => (glyphs.open, Meaning::Plain),
        Fold::Closed(_) => (glyphs.closed, Meaning::Strong),
        Fold::Leaf if row.depth == 0 => (" ", Meaning::Rule),
        Fold::Leaf => (glyphs.leaf, Meaning::Rule),
    };
    canvas.put(x, y, end - x, mark, look.of(meaning)) + 1
}

/// Draws a name: the module quietly, the function plainly.
fn put_name(
    canvas: &mut Canvas<'_>,
    text: &str,
    x: u16,
    y: u16,
    end: u16,
    look: Look,
    meaning: Meaning,
) -> u16 {
    let split = text.len() - tail(text, 1).len();
    let x = canvas.put(
        x,
        y,
        end.saturating_sub(x),
        &text[..split],
        look.of(Meaning::Quiet),
    );
    canvas.put(x, y, end.saturating_sub(x), &text[split..], look.of(meaning))
}

/// Marks where the search found its text, as far as it is on the screen.
pub(crate) fn highlight(
    canvas: &mut Canvas<'_>,
    app: &App,
    row: &Row,
    text: &str,
    x: u16,
    y: u16,
    look: Look,
) {
    let Some(search) = app
        .views
        .search
        .as_ref()
        .filter(|search| row.hit && search.is_set())
    else {
        return;
    };
    let wanted = search.text();
    let exact = wanted.chars().any(char::is_uppercase);
    let seen = if exact {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.to_lowercase())
    };
    // Letters with a longer lower case would shift the mark; then the whole name is marked.
    let found = seen.find(wanted).filter(|_| seen.len() == text.len());
    let (at, part) = found.map_or((0, text), |at| (at, &text[at..at + wanted.len()]));
    if found.is_none() && seen.contains("::") && !look.selected {
        // The text stands in the part of the path that the short name leaves out.
        let cells = width(text) as u16;
        canvas.paint(Rect::new(x, y, cells, 1), Meaning::Strong);
        return;
    }
    let start = x + width(&text[..at]) as u16;
    let area = Rect::new(start, y, width(part) as u16, 1);
    canvas.paint(
        area,
        if look.selected {
            Meaning::Strong
        } else {
            Meaning::Match
        },
    );
}

/// Returns the lines that lead to a row: `│ ├─`.
fn tree_lines(rows: &[Row], row: &Row, glyphs: &crate::text::glyphs::Glyphs) -> String {
    if row.depth == 0 {
        return String::new();
    }
    let mut pieces = vec![if row.last { glyphs.last } else { glyphs.branch }];
    let mut at = row.parent.and_then(|parent| rows.get(parent as usize));
    while let Some(above) = at.filter(|above| above.depth > 0) {
        pieces.push(if above.last { "  " } else { glyphs.line });
        at = above.parent.and_then(|parent| rows.get(parent as usize));
    }
    pieces.reverse();
    pieces.concat()
}
