//! Pane below the list: facts of the selected row that its line has no room for.

use ratatui::layout::Rect;
use tickscope_analysis::measure::Measure;
use tickscope_format::snapshot::Values;
use tickscope_programs::clock_time::clock_time;
use tickscope_report::number;

use crate::app::activity::BEATS;
use crate::app::data::Data;
use crate::app::detail::Began;
use crate::app::figures::{Portion, share};
use crate::app::percent_of::PercentOf;
use crate::app::row::Row;
use crate::app::state::App;
use crate::text::cells::{cut_end, cut_middle, cut_start, safe, width};
use crate::text::glyphs::Glyphs;
use crate::ui::theme::Meaning;
use crate::ui::view::bar::bar;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::Value;
use crate::ui::view::figure;
use crate::ui::view::marks::{ABOUT, Known, UNKNOWN};
use crate::ui::view::{counter, latency, spark, unit};

/// Width from which on the last seconds have room beside the threads.
const ROOM_FOR_PULSE: u16 = 105;

/// Most system calls in which a row waits that are named.
const CALLS_MOST: usize = 4;

/// Share of its time without a CPU below which a ready row is not mentioned.
const READY_LEAST: f64 = 0.005;

/// Cells below which threads are left out: a name with its share, and the number of further threads.
const ROOM_FOR_THREADS: usize = 34;

/// Cells below which notes are left out.
const ROOM_FOR_NOTES: u16 = 12;

/// Cells of a thread's bar.
const BAR_CELLS: u16 = 8;

/// Draws the pane.
pub(crate) fn draw(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    canvas.rule(Rect { height: 1, ..area });
    let inner = Rect {
        x: area.x + 2,
        width: area.width.saturating_sub(3),
        ..area
    };
    if let Some(row) = app.list().selected() {
        // A line of callers and callees has a part of a function's figures: the pane shows all of them.
        let row = &data.in_full(row);
        // In the view of one function, the line below has the whole name.
        if data.function(row.what).is_none() {
            title(canvas, data, row, inner, area);
        }
        app.views.current.kind().facts(canvas, app, data, row, inner);
    }
}

/// Draws the name and the place of the function of a row.
pub(crate) fn heading(canvas: &mut Canvas<'_>, app: &App, data: &Data, row: &Row, area: Rect) {
    name_and_place(canvas, app, data, row, area, area.y + 1);
}

/// Draws the figures of a row, its path or its callers, its latencies, and its threads.
pub(crate) fn figures_of(canvas: &mut Canvas<'_>, app: &App, data: &Data, row: &Row, area: Rect) {
    if data.function(row.what).is_none() && !row.what.is_outside() {
        let text = "these calls were made by no function that is measured";
        canvas.put_cut(area.x, area.y + 1, area.width, text, Meaning::Quiet);
        return;
    }
    let inner = area;
    heading(canvas, app, data, row, area);
    figures(canvas, app, data, row, inner, area.y + 2);
    match app.views.current.about().has_paths {
        true => path(canvas, data, row, inner, area.y + 3),
        false => callers(canvas, app, inner, area.y + 3),
    }
    match data.figures(row.what).tally {
        Some(tally) if tally.is_value() => {
            latency::draw_numbers(canvas, data, row.what, tally, inner, area.y + 4);
        }
        Some(tally) => {
            let text = counter::no_latencies(tally);
            canvas.put_cut(inner.x, area.y + 4, inner.width, text, Meaning::Quiet);
        }
        None => latency::draw(canvas, app, data, row.what, inner, area.y + 4),
    }
    let last = area.bottom() - 1;
    let notes = remarks(canvas, app, data, row);
    let short = last == area.y + 5;
    if !short || notes.is_empty() {
        let activity = pulse(canvas, app, row, inner, area.y + 5);
        let room = Rect {
            width: inner.width.saturating_sub(activity),
            ..inner
        };
        let x = waits(canvas, app, data, row, room, area.y + 5);
        by_thread(canvas, app, room, x, area.y + 5);
    }
    if !notes.is_empty() {
        // Waits come first on the line for both, unless moments are compared, because those figures have no other place.
        let x = match short && data.then.is_none() {
            true => waits(canvas, app, data, row, inner, last),
            false => inner.x,
        };
        let room = inner.right().saturating_sub(x);
        if room >= ROOM_FOR_NOTES {
            canvas.put_cut(x, last, room, &notes, Meaning::Quiet);
        }
    } else if !short {
        hint(canvas, app, inner, last);
    }
}

fn title(canvas: &mut Canvas<'_>, data: &Data, row: &Row, inner: Rect, area: Rect) {
    let room = usize::from(inner.width).saturating_sub(4);
    let title = cut_middle(data.label(row.what), room, canvas.glyphs.cut);
    let text = format!(" {title} ");
    canvas.put(area.x + 1, area.y, inner.width, &text, Meaning::Strong);
}

fn name_and_place(canvas: &mut Canvas<'_>, app: &App, data: &Data, row: &Row, area: Rect, y: u16) {
    let cells = usize::from(area.width);
    let place = match data
        .function(row.what)
        .map(|function| data.tree.functions.get(function))
    {
        Some(function) if function.is_group => {
            let members = app
                .derived
                .detail
                .as_ref()
                .map(|detail| detail.members.join(", "));
            return members_of(
                canvas,
                data.full_name(row.what),
                &members.unwrap_or_default(),
                area,
                y,
            );
        }
        Some(function) if !function.file.is_empty() => {
            let line = if function.line > 0 {
                format!(":{}", function.line)
            } else {
                String::new()
            };
            let group = match function.group.as_str() {
                "" => String::new(),
                group => format!("[{}] ", safe(group, canvas.ascii)),
            };
            format!("{group}{}{line}", safe(&function.file, canvas.ascii))
        }
        Some(_) => String::new(),
        None => "time of these threads that no scope covers".to_string(),
    };
    let name = data.full_name(row.what);
    // The name comes first; the place keeps its end, where the file is.
    let room = cells.saturating_sub(width(name).min(cells) + 3).max(cells / 3);
    let place = cut_start(&place, room, canvas.glyphs.cut).into_owned();
    let place_cells = width(&place) as u16;
    let name = cut_middle(
        name,
        cells.saturating_sub(usize::from(place_cells) + 2),
        canvas.glyphs.cut,
    )
    .into_owned();
    canvas.put(area.x, y, area.width, &name, Meaning::Strong);
    canvas.put_right(area.x, y, area.width, &place, Meaning::Quiet);
}

/// Draws a group and its members, the ones with the largest self time first.
fn members_of(canvas: &mut Canvas<'_>, name: &str, members: &str, area: Rect, y: u16) {
    let cells = usize::from(area.width);
    let name = cut_middle(name, cells, canvas.glyphs.cut).into_owned();
    let room = cells.saturating_sub(width(&name) + 2);
    let members = safe(members, canvas.ascii);
    let members = cut_end(&members, room, canvas.glyphs.cut).into_owned();
    canvas.put(area.x, y, area.width, &name, Meaning::Plain);
    canvas.put_right(area.x, y, area.width, &members, Meaning::Quiet);
}

fn figures(canvas: &mut Canvas<'_>, app: &App, data: &Data, row: &Row, area: Rect, y: u16) {
    let mut x = area.x;
    for (word, text) in facts(canvas, app, data, row) {
        if usize::from(x) + word.len() + 1 + width(&text) > usize::from(area.right()) {
            break;
        }
        x = canvas.put(x, y, area.width, word, Meaning::Quiet);
        x = canvas.put(x + 1, y, area.width, &text, Meaning::Plain) + 4;
    }
}

/// Returns the figures of a row, each with its word.
pub(crate) fn facts(canvas: &Canvas<'_>, app: &App, data: &Data, row: &Row) -> Vec<(&'static str, String)> {
    let figures = data.figures(row.what);
    let (of_total, of_self) = app.shares(data, row.what);
    let uncertainty = data.uncertainty(row.what).unwrap_or_default();
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
        // The error of an estimate may be unknown.
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
    let of_self_time = (
        uncertainty.self_estimated,
        rough.self_estimated,
        uncertainty.self_error,
    );
    let of_total_time = (
        uncertainty.total_estimated,
        rough.total_estimated,
        uncertainty.total_error,
    );
    let ticks = unit::ticks(data, row.what);
    // Bottom-up, the total is self time, and the row's own part is time without a measured caller.
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
        let seconds = data.snapshot.capture.since_reset_ns as f64 / 1e9;
        let rate = (figures.calls as f64 / seconds).round();
        let often = if rate >= 1.0 && per.is_none() {
            format!("  {}/s", number::count(rate as u64))
        } else {
            String::new()
        };
        let calls = unit::calls(data, figures.calls).unwrap_or_else(|| UNKNOWN.to_string());
        facts.push(("calls", format!("{calls}{often}")));
        facts.push(("avg", figure::plain(canvas, app, data, row.what, Value::Mean)));
    }
    if figures.open > 0 {
        let threads = if figures.open == 1 {
            "1 thread".to_string()
        } else {
            format!("{} threads", figures.open)
        };
        let since = since(app, data).map_or(String::new(), |since| format!(" since {since}"));
        facts.push(("running in", format!("{threads}{since}")));
    }
    if figures.errors > 0 {
        facts.push(("clock errors", number::count(figures.errors)));
    }
    facts
}

/// Returns when the first open call began, as a clock time: an age would have to be drawn again and again. Returns
/// none where the time was not measured.
fn since(app: &App, data: &Data) -> Option<String> {
    match app.derived.detail.as_ref().and_then(|detail| detail.began) {
        Some(Began::At(tick)) => {
            let capture = &data.snapshot.capture;
            let age_ns = data.snapshot.nanos(capture.tick.saturating_sub(tick));
            Some(clock_time(
                capture.unix_ns.saturating_sub(age_ns),
                app.screen.utc_offset,
            ))
        }
        Some(Began::Unknown) | None => None,
    }
}

fn path(canvas: &mut Canvas<'_>, data: &Data, row: &Row, area: Rect, y: u16) {
    let mut above = data.lineage(row.what);
    above.pop();
    let names: Vec<&str> = above.into_iter().map(|what| data.label(what)).collect();
    let text = match names.is_empty() {
        true => "the top of a thread".to_string(),
        false => names.join(canvas.glyphs.then),
    };
    let x = canvas.put(area.x, y, area.width, "below", Meaning::Quiet) + 2;
    let cut = cut_start(
        &text,
        usize::from(area.right().saturating_sub(x)),
        canvas.glyphs.cut,
    )
    .into_owned();
    canvas.put(x, y, area.width, &cut, Meaning::Plain);
}

fn callers(canvas: &mut Canvas<'_>, app: &App, area: Rect, y: u16) {
    let Some(detail) = &app.derived.detail else { return };
    let x = canvas.put(area.x, y, area.width, "called from", Meaning::Quiet) + 2;
    shares(canvas, &detail.callers, area, x, y, false);
}

/// Draws the share of time in which a row waits, its system calls, and its time without a CPU; returns where the rest begins.
pub(crate) fn waits(canvas: &mut Canvas<'_>, app: &App, data: &Data, row: &Row, area: Rect, y: u16) -> u16 {
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
        text += &format!(
            "{before}{} {}",
            safe(&call.call, canvas.ascii),
            number::percent(call.share)
        );
    }
    let ready = share(figures.total_off.ready_ns, figures.total_ns);
    let ready = Some(ready).filter(|&ready| data.snapshot.values == Values::Time && ready >= READY_LEAST);
    let mut x = area.x;
    for (word, text) in [
        ("waits", Some(text).filter(|text| !text.is_empty())),
        ("no CPU", ready.map(number::percent)),
    ] {
        let Some(text) = text else { continue };
        x = canvas.put(x, y, area.right().saturating_sub(x), word, Meaning::Quiet) + 2;
        x = canvas.put_cut(x, y, area.right().saturating_sub(x), &text, Meaning::Plain) + 4;
    }
    x
}

fn by_thread(canvas: &mut Canvas<'_>, app: &App, area: Rect, x: u16, y: u16) {
    let Some(detail) = &app.derived.detail else { return };
    if usize::from(x) + ROOM_FOR_THREADS > usize::from(area.right()) {
        return;
    }
    let x = canvas.put(x, y, area.width, "threads", Meaning::Quiet) + 2;
    shares(canvas, &detail.threads, area, x, y, true);
}

/// Draws names with their shares side by side while they fit, and the number of further names.
fn shares(canvas: &mut Canvas<'_>, list: &[(String, f64)], area: Rect, mut x: u16, y: u16, bars: bool) {
    for (index, (name, share)) in list.iter().enumerate() {
        let name = cut_middle(&safe(name, canvas.ascii), 24, canvas.glyphs.cut).into_owned();
        let bar = if bars {
            format!(" {}", bar(*share, BAR_CELLS, canvas.glyphs))
        } else {
            String::new()
        };
        let percent = format!(" {}", number::percent(*share));
        let more = format!("+{}", list.len() - index);
        let cells = width(&name) + width(&bar) + width(&percent);
        let reserve = if index + 1 < list.len() { more.len() + 3 } else { 0 };
        if usize::from(x) + cells + reserve > usize::from(area.right()) {
            canvas.put(x, y, area.width, &more, Meaning::Quiet);
            return;
        }
        x = canvas.put(x, y, area.width, &name, Meaning::Plain);
        x = canvas.put(x, y, area.width, &bar, Meaning::Warm);
        x = canvas.put(x, y, area.width, &percent, Meaning::Plain) + 3;
    }
}

/// Draws the activity of the row in the last seconds, at the end of a line; returns its cells.
fn pulse(canvas: &mut Canvas<'_>, app: &App, row: &Row, area: Rect, y: u16) -> u16 {
    let text = spark::of(canvas, app, row.id, BEATS as u16);
    if area.width < ROOM_FOR_PULSE || text.is_empty() {
        return 0;
    }
    let cells = BEATS as u16 + 11;
    let x = area.right().saturating_sub(cells);
    let x = canvas.put(x, y, cells, "last 30 s", Meaning::Quiet) + 2;
    canvas.put(x, y, BEATS as u16, &text, Meaning::Warm);
    cells + 3
}

/// Returns the remarks at the end of the pane: the figures that the row is compared with, or the meaning of its marks.
pub(crate) fn remarks(canvas: &Canvas<'_>, app: &App, data: &Data, row: &Row) -> String {
    match &data.then {
        Some(_) => compared(canvas, app, data, row),
        None => notes(canvas, data, row),
    }
}

/// Describes the row's figures at the moment of comparison.
fn compared(canvas: &Canvas<'_>, app: &App, data: &Data, row: &Row) -> String {
    let Some(label) = app.compared() else {
        return String::new();
    };
    let label = safe(&label, canvas.ascii);
    let Some((then, there)) = data.counterpart(row.what) else {
        return format!(
            "then ({label})  not there{}columns show now minus then",
            canvas.glyphs.dot
        );
    };
    let figures = then.figures(there);
    if let Some(tally) = figures.tally {
        let text = counter::then(canvas, then, there, tally);
        return format!(
            "then ({label})  {text}{}columns show now minus then",
            canvas.glyphs.dot
        );
    }
    let text = |value: Value| figure::plain(canvas, app, then, there, value);
    format!(
        "then ({label})  total {}  self {}  calls {}  avg {}{}columns show now minus then, % in points",
        text(Value::Time(Portion::Total)),
        text(Value::Time(Portion::Own)),
        text(Value::Calls),
        text(Value::Mean),
        canvas.glyphs.dot,
    )
}

/// Explains the marks of this row; empty where it has none.
fn notes(canvas: &Canvas<'_>, data: &Data, row: &Row) -> String {
    let mut notes = Vec::new();
    if data.is_doubtful(row.what) {
        let cost = canvas.rough(data.snapshot.capture.cost.upper_ns.round() as u64);
        notes.push(format!(
            "{} calls so short that up to {cost} of each may be measuring",
            canvas.glyphs.doubtful
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

/// Parts of the line that says how to read the columns.
#[derive(Debug)]
pub(crate) struct Legend {
    /// Whether there is room for whole sentences.
    pub(crate) is_wide: bool,
    /// Name of the measure.
    pub(crate) of: &'static str,
    /// Meaning of shares with callees, and of the function itself.
    pub(crate) inside: String,
    pub(crate) itself: &'static str,
    /// Whether waits are known, and whether bars and frames have two tones for them.
    pub(crate) waits: bool,
    pub(crate) has_two_tones: bool,
    /// Whether the tree is from the bottom up.
    pub(crate) is_bottom_up: bool,
    pub(crate) glyphs: &'static Glyphs,
}

impl Legend {
    /// Explains the two tones of bars, where there is room.
    pub(crate) fn bars(&self) -> String {
        match self.has_two_tones && self.is_wide {
            true => format!("{}{} off CPU", self.glyphs.dot, self.glyphs.off_cpu[0]),
            false => String::new(),
        }
    }
}

/// Draws how to read the columns, for people who see them for the first time.
pub(crate) fn hint(canvas: &mut Canvas<'_>, app: &App, area: Rect, y: u16) {
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
    let inside = if wide {
        format!("%TOT share of {whole}, callees included")
    } else {
        "%TOT share with callees".to_string()
    };
    let itself = if wide {
        "SELF in the function itself"
    } else {
        "SELF the function itself"
    };
    let data = app.derived.data.as_ref();
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
    canvas.put_cut(area.x, y, area.width, &text, Meaning::Quiet);
}
