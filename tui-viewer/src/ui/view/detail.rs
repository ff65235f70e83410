//! The pane below the list: facts about the selected row that do not fit on its line.

use ratatui::layout::Rect;
use tickscope_analysis::measure::Measure;
use tickscope_format::snapshot::Values;
use tickscope_programs::clock_time::clock_time;
use tickscope_report::number;

use crate::app::data::Data;
use crate::app::past::activity::BEATS;
use crate::app::row::{PercentOf, Portion, Row, share};
use crate::app::state::App;
use crate::text::cells::width;
use crate::text::glyphs::Glyphs;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::{Canvas, Pen};
use crate::ui::view::charts::bar;
use crate::ui::view::column::Value;
use crate::ui::view::unit::{ABOUT, Known, UNKNOWN};
use crate::ui::view::{charts, counter, figure, latency, unit};

/// Minimum number of free cells on a line for drawing the chart of the last 30 seconds at its end.
const ROOM_FOR_PULSE: usize = 105;

/// Maximum number of system calls that are listed for a row's waits.
const CALLS_MOST: usize = 4;

/// Smallest share of time without a CPU (ready to run, but not running) that is mentioned.
const READY_LEAST: f64 = 0.005;

/// Minimum number of cells for listing threads: a name with its share, and the number of threads left out.
const ROOM_FOR_THREADS: usize = 34;

/// Minimum number of cells for the notes.
const ROOM_FOR_NOTES: usize = 12;

/// Width in cells of a thread's bar.
const BAR_CELLS: u16 = 8;

/// Returns the area of a pane without its margins, in which text is written.
pub(crate) fn inside(area: Rect) -> Rect {
    let (x, width) = (area.x + 2, area.width.saturating_sub(3));
    Rect { x, width, ..area }
}

pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    canvas.rule(area);
    let inner = inside(area);
    if let Some(row) = app.list().selected() {
        // The row of a caller or callee covers only part of that function's calls, but the pane shows the figures of
        // all of them.
        let row = &data.in_full(row);
        // For a function, `heading` writes the whole name, so only other rows need a title.
        if data.function(row.what).is_none() {
            title(canvas, data, row, inner, area);
        }
        app.views.current.kind().facts(canvas, app, data, row, inner);
    }
}

/// Draws the facts about a row: its figures, its path or callers, its latencies, its waits and its threads.
pub(crate) fn figures_of(canvas: &mut Canvas<'_>, app: &App, data: &Data, row: &Row, area: Rect) {
    if data.function(row.what).is_none() && !row.what.is_outside() {
        let text = "these calls were made by no function that is measured";
        return canvas.line(area, 1, text, Meaning::Quiet);
    }
    heading(canvas, app, data, row, area);
    let facts = facts(canvas, app, data, row);
    Pen::on(canvas, area, 2).facts(&facts, 4);
    match app.views.current.about().has_paths {
        true => path(&mut Pen::on(canvas, area, 3), data, row),
        false => callers(&mut Pen::on(canvas, area, 3), app),
    }
    match data.figures(row.what).tally {
        Some(tally) if tally.is_value() => latency::draw_numbers(canvas, data, row.what, tally, area, 4),
        Some(tally) => canvas.line(area, 4, counter::no_latencies(tally), Meaning::Quiet),
        None => latency::draw(canvas, app, data, row.what, area, 4),
    }
    let last = area.height - 1;
    let notes = remarks(canvas, app, data, row);
    let short = last == 5;
    if !short || notes.is_empty() {
        let mut pen = Pen::on(canvas, area, 5);
        pulse(&mut pen, app, row);
        waits(&mut pen, app, data, row);
        by_thread(&mut pen, app);
    }
    if !notes.is_empty() {
        let mut pen = Pen::on(canvas, area, last);
        // If waits and notes share a line, waits come first. In a comparison, the whole line is left to the figures of
        // the reference moment, because they are shown nowhere else.
        if short && data.then.is_none() {
            waits(&mut pen, app, data, row);
        }
        if pen.room() >= ROOM_FOR_NOTES {
            pen.put_cut(&notes, Meaning::Quiet);
        }
    } else if !short {
        hint(canvas, app, area, last);
    }
}

fn title(canvas: &mut Canvas<'_>, data: &Data, row: &Row, inner: Rect, area: Rect) {
    let room = usize::from(inner.width).saturating_sub(4);
    let text = format!(" {} ", canvas.cut_middle(data.label(row.what), room));
    canvas.put(area.x + 1, area.y, inner.width, &text, Meaning::Strong);
}

/// Returns the source location of a row's function; empty if it is not known. For time outside all scopes, returns an
/// explanation instead.
pub(crate) fn place_of(data: &Data, row: &Row) -> String {
    match data.function(row.what).map(|of| data.tree.functions.get(of)) {
        Some(function) if function.file.is_empty() => String::new(),
        Some(function) if function.line > 0 => format!("{}:{}", function.file, function.line),
        Some(function) => function.file.clone(),
        None => "time of these threads that no scope covers".to_string(),
    }
}

/// Draws the name and the source location of a row's function. For a group, draws its members in place of the location,
/// starting with the one with the largest self time.
pub(crate) fn heading(canvas: &mut Canvas<'_>, app: &App, data: &Data, row: &Row, area: Rect) {
    let cells = usize::from(area.width);
    let name = data.full_name(row.what);
    let function = data.function(row.what).map(|of| data.tree.functions.get(of));
    let (name, beside, meaning) = if function.is_some_and(|function| function.is_group) {
        let members = app.derived.detail.as_ref();
        let members = members.map_or(String::new(), |detail| detail.members.join(", "));
        let name = canvas.cut_middle(name, cells);
        let room = cells.saturating_sub(width(&name) + 2);
        let members = canvas.cut_end(&canvas.safe(&members), room).into_owned();
        (name, members, Meaning::Plain)
    } else {
        let group = function.map_or("", |function| function.group.as_str());
        let place = match (place_of(data, row), group) {
            (place, "") => place,
            (place, _) if place.is_empty() => place,
            (place, group) => format!("[{group}] {place}"),
        };
        // The name takes precedence. The source location is cut at its beginning, because the file name is at its end.
        let room = cells.saturating_sub(width(name).min(cells) + 3).max(cells / 3);
        let place = canvas.cut_start(&canvas.safe(&place), room).into_owned();
        let name = canvas.cut_middle(name, cells.saturating_sub(width(&place) + 2));
        (name, place, Meaning::Strong)
    };
    canvas.put(area.x, area.y + 1, area.width, &name, meaning);
    canvas.put_right(area.x, area.y + 1, area.width, &beside, Meaning::Quiet);
}

/// Returns a row's figures as pairs of a label and a value.
pub(crate) fn facts(canvas: &Canvas<'_>, app: &App, data: &Data, row: &Row) -> Vec<(&'static str, String)> {
    let figures = data.figures(row.what);
    let (of_total, of_self) = app.shares(data, row.what);
    let exact = data.uncertainty(row.what).unwrap_or_default();
    let rough = unit::rough(data, row.what);
    let per = data.per_calls;
    let scaled = |ns: u64, ticks: u64| unit::scaled(canvas, app, per, ns, ticks, false);
    let time = |(ns, ticks): (u64, u64), (estimated, is_rough, error): (bool, bool, f64), share: f64| {
        let percent = number::percent(share);
        let known = Known::of(ns, estimated, figures);
        let Some(text) = scaled(ns, ticks).filter(|_| known != Known::Unseen) else {
            return UNKNOWN.to_string();
        };
        if known == Known::Exactly {
            return format!("{text} {percent}");
        }
        // 0 means that the standard error of the estimate is unknown.
        let error = match data.snapshot.value(error.round() as u64) {
            0 => String::new(),
            error_ns if unit::counts(app) || per.is_some() => {
                let text = scaled(error_ns, error.round() as u64).unwrap_or_default();
                format!(" {}{text}", canvas.glyphs.give_or_take)
            }
            error_ns => format!(" {}{}", canvas.glyphs.give_or_take, canvas.rough(error_ns)),
        };
        let about = if is_rough { ABOUT } else { "" };
        format!("{about}{text}{error} {about}{percent}")
    };
    let of_self_time = (exact.self_estimated, rough.self_estimated, exact.self_error);
    let of_total_time = (exact.total_estimated, rough.total_estimated, exact.total_error);
    let ticks = unit::ticks(data, row.what);
    // In a bottom-up tree, a row's total is self time, and its own part is the time of calls without a measured caller.
    let (own, all) = match data.bottom_up {
        true => ("not called", "self"),
        false => ("self", "total"),
    };
    let mut facts = vec![
        (own, time((figures.self_ns, ticks.1), of_self_time, of_self)),
        (all, time((figures.total_ns, ticks.0), of_total_time, of_total)),
    ];
    if let Some(tally) = figures.tally {
        facts = counter::facts(canvas, data, figures, tally);
    } else if figures.sampled.is_all(figures.calls) {
        facts.push(("calls", "not counted: its time comes from samples".into()));
    } else if !row.what.is_outside() {
        facts.push(("calls", counter::often(data, figures.calls)));
        facts.push(("avg", figure::plain(canvas, app, data, row.what, Value::Mean)));
    }
    if figures.open > 0 {
        let threads = match figures.open {
            1 => "1 thread".to_string(),
            open => format!("{open} threads"),
        };
        let since = since(app, data).map_or(String::new(), |since| format!(" since {since}"));
        facts.push(("running in", format!("{threads}{since}")));
    }
    if figures.errors > 0 {
        facts.push(("clock errors", number::count(figures.errors)));
    }
    facts
}

/// Returns the time of day at which the earliest open call began, or `None` if that is not known. The age of the call
/// is not shown, because it would change with every frame.
fn since(app: &App, data: &Data) -> Option<String> {
    let tick = app.derived.detail.as_ref()?.began?;
    Some(clock_time_of(app, data, tick))
}

/// Formats a tick of the program's clock as a time of day.
pub(crate) fn clock_time_of(app: &App, data: &Data, tick: u64) -> String {
    let capture = &data.snapshot.capture;
    let age_ns = data.snapshot.nanos(capture.tick.saturating_sub(tick));
    clock_time(capture.unix_ns.saturating_sub(age_ns), app.screen.utc_offset)
}

fn path(pen: &mut Pen<'_, '_>, data: &Data, row: &Row) {
    let mut above = data.lineage(row.what);
    above.pop();
    let names: Vec<&str> = above.into_iter().map(|what| data.label(what)).collect();
    let text = match names.is_empty() {
        true => "the top of a thread".to_string(),
        false => names.join(pen.canvas.glyphs.then),
    };
    pen.put("below", Meaning::Quiet);
    pen.skip(2);
    let cut = pen.canvas.cut_start(&text, pen.room());
    pen.put(&cut, Meaning::Plain);
}

fn callers(pen: &mut Pen<'_, '_>, app: &App) {
    let Some(detail) = &app.derived.detail else { return };
    pen.put("called from", Meaning::Quiet);
    pen.skip(2);
    shares(pen, &detail.callers, false);
}

/// Draws the share of time that a row spends waiting, the system calls that it waits in, and the share of time that it
/// is without a CPU.
pub(crate) fn waits(pen: &mut Pen<'_, '_>, app: &App, data: &Data, row: &Row) {
    let figures = data.figures(row.what);
    let mut text = String::new();
    if data.snapshot.values == Values::Time && figures.total_off.waiting_ns > 0 {
        text = number::percent(share(figures.total_off.waiting_ns, figures.total_ns));
    }
    let calls = app.derived.detail.iter().flat_map(|detail| &detail.waits_in);
    for (at, call) in calls.take(CALLS_MOST).enumerate() {
        let before = match (at, text.is_empty()) {
            (0, true) => "in ",
            (0, false) => " in ",
            _ => ", ",
        };
        let name = pen.canvas.safe(&call.call);
        text += &format!("{before}{name} {}", number::percent(call.share));
    }
    let ready = share(figures.total_off.ready_ns, figures.total_ns);
    let ready = Some(ready).filter(|&ready| data.snapshot.values == Values::Time && ready >= READY_LEAST);
    for (word, text) in [
        ("waits", Some(text).filter(|text| !text.is_empty())),
        ("no CPU", ready.map(number::percent)),
    ] {
        let Some(text) = text else { continue };
        pen.put(word, Meaning::Quiet);
        pen.skip(2);
        pen.put_cut(&text, Meaning::Plain);
        pen.skip(4);
    }
}

fn by_thread(pen: &mut Pen<'_, '_>, app: &App) {
    let detail = app.derived.detail.as_ref();
    if let Some(detail) = detail.filter(|_| pen.room() >= ROOM_FOR_THREADS) {
        pen.put("threads", Meaning::Quiet);
        pen.skip(2);
        shares(pen, &detail.threads, true);
    }
}

/// Draws names with their shares side by side, as many as fit, followed by the number of names left out.
fn shares(pen: &mut Pen<'_, '_>, list: &[(String, f64)], bars: bool) {
    for (index, (name, share)) in list.iter().enumerate() {
        let name = pen.canvas.safe(name);
        let name = pen.canvas.cut_middle(&name, 24);
        let bar = match bars {
            true => format!(" {}", bar(*share, BAR_CELLS, pen.canvas.glyphs)),
            false => String::new(),
        };
        let percent = format!(" {}", number::percent(*share));
        let more = format!("+{}", list.len() - index);
        let cells = width(&name) + width(&bar) + width(&percent);
        let reserve = if index + 1 < list.len() { more.len() + 3 } else { 0 };
        if cells + reserve > pen.room() {
            return pen.put(&more, Meaning::Quiet);
        }
        pen.put(&name, Meaning::Plain);
        pen.put(&bar, Meaning::Warm);
        pen.put(&percent, Meaning::Plain);
        pen.skip(3);
    }
}

/// Draws the row's activity over the last 30 seconds at the end of a line, and shortens the line to make room for it.
fn pulse(pen: &mut Pen<'_, '_>, app: &App, row: &Row) {
    let text = charts::spark(pen.canvas, app, row.id, BEATS as u16);
    if pen.room() < ROOM_FOR_PULSE || text.is_empty() {
        return;
    }
    let mut end = pen.cut_off(BEATS as u16 + 11);
    end.put("last 30 s", Meaning::Quiet);
    end.skip(2);
    end.put(&text, Meaning::Warm);
    pen.cut_off(3);
}

/// Returns the text at the end of the pane: in a comparison, the figures of the reference moment, otherwise what the
/// row's marks mean.
pub(crate) fn remarks(canvas: &Canvas<'_>, app: &App, data: &Data, row: &Row) -> String {
    match &data.then {
        Some(_) => compared(canvas, app, data, row),
        None => notes(canvas, data, row),
    }
}

/// Describes the row's figures at the reference moment of the comparison.
fn compared(canvas: &Canvas<'_>, app: &App, data: &Data, row: &Row) -> String {
    let Some(label) = app.compared() else {
        return String::new();
    };
    let dot = canvas.glyphs.dot;
    let then = data.counterpart(row.what).map(|(then, there)| {
        let text = |value: Value| figure::plain(canvas, app, then, there, value);
        match then.figures(there).tally {
            Some(tally) => (counter::then(canvas, then, there, tally), ""),
            None => {
                let (total, own) = (Value::Time(Portion::Total), Value::Time(Portion::Own));
                let [total, own, calls, avg] = [total, own, Value::Calls, Value::Mean].map(text);
                let figures = format!("total {total}  self {own}  calls {calls}  avg {avg}");
                (figures, ", % in points")
            }
        }
    });
    let (then, more) = then.unwrap_or(("not there".into(), ""));
    format!("then ({label})  {then}{dot}columns show now minus then{more}")
}

/// Explains the marks of this row; empty if it has none.
fn notes(canvas: &Canvas<'_>, data: &Data, row: &Row) -> String {
    let mut notes = Vec::new();
    if data.is_doubtful(row.what) {
        let cost = canvas.rough(data.snapshot.capture.cost.upper_ns.round() as u64);
        let mark = canvas.glyphs.doubtful;
        notes.push(format!(
            "{mark} calls so short that up to {cost} of each may be measuring"
        ));
    }
    if data.uncertainty(row.what).is_some() {
        let sign = canvas.glyphs.give_or_take;
        notes.push(format!(
            "{sign} estimated: the truth is nearer 2 times in 3; {ABOUT} if that is more than 5%"
        ));
    }
    notes.join(canvas.glyphs.dot)
}

/// What a view needs to know to explain its columns.
#[derive(Debug)]
pub(crate) struct Legend {
    /// Whether whole sentences fit.
    pub(crate) is_wide: bool,
    /// Name of the measure.
    pub(crate) of: &'static str,
    /// Explanations of the columns with and without the time of callees.
    pub(crate) inside: String,
    pub(crate) itself: &'static str,
    /// Whether waits are known, and whether bars and frames show them in a second tone.
    pub(crate) waits: bool,
    pub(crate) has_two_tones: bool,
    /// Whether the tree is bottom-up.
    pub(crate) is_bottom_up: bool,
    pub(crate) glyphs: &'static Glyphs,
}

impl Legend {
    /// Explains the two tones of bars, if there is space.
    pub(crate) fn bars(&self) -> String {
        match self.has_two_tones && self.is_wide {
            true => format!("{}{} off CPU", self.glyphs.dot, self.glyphs.off_cpu[0]),
            false => String::new(),
        }
    }
}

/// Draws an explanation of the columns, for users who see them for the first time.
pub(crate) fn hint(canvas: &mut Canvas<'_>, app: &App, area: Rect, line: u16) {
    let wide = area.width >= 92;
    let of = app.measure().name();
    let whole = match app.percent_of() {
        PercentOf::Measured if app.percent_label() != PercentOf::Measured.label() => {
            format!("the {of} in focus")
        }
        PercentOf::Measured => format!("measured {of}"),
        PercentOf::Wall if app.measure() == Measure::Time => "wall time".to_string(),
        PercentOf::Wall => format!("all {of}"),
        PercentOf::Parent => format!("its parent's {of}"),
    };
    let (inside, itself) = match wide {
        true => (
            format!("%TOT share of {whole}, callees included"),
            "SELF in the function itself",
        ),
        false => ("%TOT share with callees".into(), "SELF the function itself"),
    };
    let data = app.data();
    let waits = data.is_some_and(|data| data.snapshot.waits);
    let legend = Legend {
        is_wide: wide,
        of,
        inside,
        itself,
        waits,
        has_two_tones: waits && app.measure() == Measure::Time,
        is_bottom_up: data.is_some_and(|data| data.bottom_up),
        glyphs: canvas.glyphs,
    };
    let text = app.views.current.kind().legend(&legend);
    canvas.line(area, line, &text, Meaning::Quiet);
}
