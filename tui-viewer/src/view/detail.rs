//! The pane below the list: what the selected row's line has no room for.

use ratatui::layout::Rect;
use tickscope_report::number;

use crate::cells::{cut_end, cut_middle, cut_start, safe, width};
use crate::columns::Column;
use crate::model::Model;
use crate::model::base::Base;
use crate::model::data::{Data, What};
use crate::model::detail::Began;
use crate::model::pulse::BEATS;
use crate::model::row::Row;
use crate::model::view::View;
use crate::process_time::clock_time;
use crate::theme::Meaning;
use crate::view::bar::bar;
use crate::view::figure::{self, ABOUT, Known, UNKNOWN};
use crate::view::pen::Pen;
use crate::view::{counter, latency, sites, spark, threads, unit};

/// From this width on the last seconds have room beside the threads.
const ROOM_FOR_PULSE: u16 = 105;

/// Cells of a thread's bar.
const BAR_CELLS: u16 = 8;

/// Draws the pane.
pub(super) fn draw(pen: &mut Pen<'_>, model: &Model, data: &Data, area: Rect) {
    pen.rule(Rect { height: 1, ..area });
    let inner = Rect {
        x: area.x + 2,
        width: area.width.saturating_sub(3),
        ..area
    };
    if let Some(row) = model.list().selected() {
        // A line of callers and callees has a part of a function's figures: here is the whole.
        let row = &data.in_full(row);
        let title = cut_middle(
            data.label(row.what),
            usize::from(inner.width).saturating_sub(4),
            pen.glyphs.cut,
        );
        pen.put(
            area.x + 1,
            area.y,
            inner.width,
            &format!(" {title} "),
            Meaning::Strong,
        );
        if let What::Thread(index) = row.what {
            return threads::detail(pen, model, data, index, Rect { y: area.y, ..inner });
        }
        if data.function(row.what).is_none() && row.what != What::Outside {
            let text = "these calls were made by no function that is measured";
            pen.put_cut(inner.x, area.y + 1, inner.width, text, Meaning::Quiet);
            return;
        }
        name_and_place(pen, model, data, row, inner, area.y + 1);
        if let What::Site(index) = row.what {
            return sites::detail(pen, model, data, index, Rect { y: area.y, ..inner });
        }
        figures(pen, model, data, row, inner, area.y + 2);
        match model.view {
            View::Tree | View::Flame => path(pen, data, row, inner, area.y + 3),
            View::Hot | View::Function | View::Threads | View::Sites => {
                callers(pen, model, inner, area.y + 3)
            }
        }
        match data.figures(row.what).sum {
            Some(_) => {
                pen.put_cut(
                    inner.x,
                    area.y + 4,
                    inner.width,
                    counter::NO_LATENCIES,
                    Meaning::Quiet,
                );
            }
            None => latency::draw(pen, model, data, row.what, inner, area.y + 4),
        }
        let last = area.bottom() - 1;
        let notes = match &data.then {
            Some(_) => compared(pen, model, data, row),
            None => notes(pen, data, row),
        };
        let short = last == area.y + 5;
        if !short || notes.is_empty() {
            let pulse = pulse(pen, model, row, inner, area.y + 5);
            let room = Rect {
                width: inner.width.saturating_sub(pulse),
                ..inner
            };
            by_thread(pen, model, room, area.y + 5);
        }
        if !notes.is_empty() {
            pen.put_cut(inner.x, last, inner.width, &notes, Meaning::Quiet);
        } else if !short {
            hint(pen, model, inner, last);
        }
    }
}

fn name_and_place(pen: &mut Pen<'_>, model: &Model, data: &Data, row: &Row, area: Rect, y: u16) {
    let cells = usize::from(area.width);
    let place = match data
        .function(row.what)
        .map(|function| data.tree.functions.get(function))
    {
        Some(function) if function.is_group => {
            let members = model.detail.as_ref().map(|detail| detail.members.join(", "));
            return members_of(
                pen,
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
                group => format!("[{}] ", safe(group, pen.ascii)),
            };
            format!("{group}{}{line}", safe(&function.file, pen.ascii))
        }
        Some(_) => String::new(),
        None => "time of these threads that no scope covers".to_string(),
    };
    let name = data.full_name(row.what);
    // The name comes first; the place keeps its end, where the file is.
    let room = cells.saturating_sub(width(name).min(cells) + 3).max(cells / 3);
    let place = cut_start(&place, room, pen.glyphs.cut).into_owned();
    let place_cells = width(&place) as u16;
    let name = cut_middle(
        name,
        cells.saturating_sub(usize::from(place_cells) + 2),
        pen.glyphs.cut,
    )
    .into_owned();
    pen.put(area.x, y, area.width, &name, Meaning::Plain);
    pen.put_right(area.x, y, area.width, &place, Meaning::Quiet);
}

/// A group and who is in it, those that cost most themselves first.
fn members_of(pen: &mut Pen<'_>, name: &str, members: &str, area: Rect, y: u16) {
    let cells = usize::from(area.width);
    let name = cut_middle(name, cells, pen.glyphs.cut).into_owned();
    let room = cells.saturating_sub(width(&name) + 2);
    let members = safe(members, pen.ascii);
    let members = cut_end(&members, room, pen.glyphs.cut).into_owned();
    pen.put(area.x, y, area.width, &name, Meaning::Plain);
    pen.put_right(area.x, y, area.width, &members, Meaning::Quiet);
}

fn figures(pen: &mut Pen<'_>, model: &Model, data: &Data, row: &Row, area: Rect, y: u16) {
    let figures = data.figures(row.what);
    let (of_total, of_self) = model.shares(data, row.what);
    let uncertainty = data.uncertainty(row.what).unwrap_or_default();
    let per = data.per_calls;
    let scaled = |ns: u64, ticks: u64| unit::scaled(pen, model.ticks, per, ns, ticks, false);
    let time = |(ns, ticks): (u64, u64), (estimated, error): (bool, f64), share: f64| {
        let percent = number::percent(share);
        let known = Known::of(ns, estimated, figures);
        let Some(text) = scaled(ns, ticks).filter(|_| known != Known::Unseen) else {
            return UNKNOWN.to_string();
        };
        if known == Known::Exactly {
            return format!("{text} {percent}");
        }
        // An estimate may be without a known error.
        let error = match data.snapshot.nanos(error.round() as u64) {
            0 => String::new(),
            _ if model.ticks || per.is_some() => {
                let error_ns = data.snapshot.nanos(error.round() as u64);
                let text = scaled(error_ns, error.round() as u64).unwrap_or_default();
                format!(" {}{text}", pen.glyphs.give_or_take)
            }
            error_ns => format!(" {}{}", pen.glyphs.give_or_take, pen.rough(error_ns)),
        };
        format!("{ABOUT}{text}{error} {ABOUT}{percent}")
    };
    let of_self_time = (uncertainty.self_estimated, uncertainty.self_error);
    let of_total_time = (uncertainty.total_estimated, uncertainty.total_error);
    let ticks = unit::ticks(data, row.what);
    // Bottom-up the total is self time, and what a row has itself is what nobody called.
    let (own, all) = match data.bottom_up {
        true => ("not called", "self"),
        false => ("self", "total"),
    };
    let mut facts = vec![
        (own, time((figures.self_ns, ticks.1), of_self_time, of_self)),
        (all, time((figures.total_ns, ticks.0), of_total_time, of_total)),
    ];
    if let Some(sum) = figures.sum {
        facts = counter::facts(data, figures, sum);
    } else if row.what != What::Outside {
        let seconds = data.snapshot.capture.since_reset_ns as f64 / 1e9;
        let rate = (figures.calls as f64 / seconds).round();
        let often = if rate >= 1.0 && per.is_none() {
            format!("  {}/s", number::count(rate as u64))
        } else {
            String::new()
        };
        let calls = unit::calls(data, figures.calls).unwrap_or_else(|| UNKNOWN.to_string());
        facts.push(("calls", format!("{calls}{often}")));
        facts.push(("avg", figure::plain(pen, model, data, row.what, Column::Avg)));
    }
    if figures.open > 0 {
        let threads = if figures.open == 1 {
            "1 thread".to_string()
        } else {
            format!("{} threads", figures.open)
        };
        let since = since(model, data).map_or(String::new(), |since| format!(" since {since}"));
        facts.push(("running in", format!("{threads}{since}")));
    }
    if figures.errors > 0 {
        facts.push(("clock errors", number::count(figures.errors)));
    }
    let mut x = area.x;
    for (word, text) in facts {
        if usize::from(x) + word.len() + 1 + width(&text) > usize::from(area.right()) {
            break;
        }
        x = pen.put(x, y, area.width, word, Meaning::Quiet);
        x = pen.put(x + 1, y, area.width, &text, Meaning::Plain) + 4;
    }
}

/// When the first of what is open began, as a clock time: an age would have to be drawn again and again. None where
/// nobody measured when.
fn since(model: &Model, data: &Data) -> Option<String> {
    match model.detail.as_ref().and_then(|detail| detail.began) {
        Some(Began::At(tick)) => {
            let capture = &data.snapshot.capture;
            let age_ns = data.snapshot.nanos(capture.tick.saturating_sub(tick));
            Some(clock_time(
                capture.unix_ns.saturating_sub(age_ns),
                model.utc_offset,
            ))
        }
        Some(Began::Unknown) | None => None,
    }
}

fn path(pen: &mut Pen<'_>, data: &Data, row: &Row, area: Rect, y: u16) {
    let names: Vec<&str> = data
        .lineage(row.what)
        .into_iter()
        .map(|what| data.label(what))
        .collect();
    let text = names.join(pen.glyphs.then);
    let x = pen.put(area.x, y, area.width, "path", Meaning::Quiet) + 2;
    let cut = cut_start(&text, usize::from(area.right().saturating_sub(x)), pen.glyphs.cut).into_owned();
    pen.put(x, y, area.width, &cut, Meaning::Plain);
}

fn callers(pen: &mut Pen<'_>, model: &Model, area: Rect, y: u16) {
    let Some(detail) = &model.detail else { return };
    let x = pen.put(area.x, y, area.width, "called from", Meaning::Quiet) + 2;
    shares(pen, &detail.callers, area, x, y, false);
}

fn by_thread(pen: &mut Pen<'_>, model: &Model, area: Rect, y: u16) {
    let Some(detail) = &model.detail else { return };
    let x = pen.put(area.x, y, area.width, "threads", Meaning::Quiet) + 2;
    shares(pen, &detail.threads, area, x, y, true);
}

/// Names with their shares side by side, as many as fit, and how many more there are.
fn shares(pen: &mut Pen<'_>, list: &[(String, f64)], area: Rect, mut x: u16, y: u16, bars: bool) {
    for (index, (name, share)) in list.iter().enumerate() {
        let name = cut_end(&safe(name, pen.ascii), 24, pen.glyphs.cut).into_owned();
        let bar = if bars {
            format!(" {}", bar(*share, BAR_CELLS, pen.glyphs))
        } else {
            String::new()
        };
        let percent = format!(" {}", number::percent(*share));
        let more = format!("+{}", list.len() - index);
        let cells = width(&name) + width(&bar) + width(&percent);
        let reserve = if index + 1 < list.len() { more.len() + 3 } else { 0 };
        if usize::from(x) + cells + reserve > usize::from(area.right()) {
            pen.put(x, y, area.width, &more, Meaning::Quiet);
            return;
        }
        x = pen.put(x, y, area.width, &name, Meaning::Plain);
        x = pen.put(x, y, area.width, &bar, Meaning::Warm);
        x = pen.put(x, y, area.width, &percent, Meaning::Plain) + 3;
    }
}

/// How busy the row was in the last seconds, at the end of a line; gives the cells it takes.
fn pulse(pen: &mut Pen<'_>, model: &Model, row: &Row, area: Rect, y: u16) -> u16 {
    let text = spark::of(pen, model, row.id, BEATS as u16);
    if area.width < ROOM_FOR_PULSE || text.is_empty() {
        return 0;
    }
    let cells = BEATS as u16 + 11;
    let x = area.right().saturating_sub(cells);
    let x = pen.put(x, y, cells, "last 30 s", Meaning::Quiet) + 2;
    pen.put(x, y, BEATS as u16, &text, Meaning::Warm);
    cells + 3
}

/// The row's figures at the moment it is compared with.
fn compared(pen: &Pen<'_>, model: &Model, data: &Data, row: &Row) -> String {
    let Some(label) = model.compared() else {
        return String::new();
    };
    let label = safe(&label, pen.ascii);
    let Some((then, there)) = data.counterpart(row.what) else {
        return format!(
            "then ({label})  not there{}columns show now minus then",
            pen.glyphs.dot
        );
    };
    let figures = then.figures(there);
    if let Some(sum) = figures.sum {
        let text = counter::then(pen, then, figures, sum);
        return format!(
            "then ({label})  {text}{}columns show now minus then",
            pen.glyphs.dot
        );
    }
    let text = |column: Column| figure::plain(pen, model, then, there, column);
    format!(
        "then ({label})  total {}  self {}  calls {}  avg {}{}columns show now minus then, % in points",
        text(Column::Total),
        text(Column::SelfTime),
        text(Column::Calls),
        text(Column::Avg),
        pen.glyphs.dot,
    )
}

/// What the marks of this row say; nothing where it has none.
fn notes(pen: &Pen<'_>, data: &Data, row: &Row) -> String {
    let mut notes = Vec::new();
    if data.is_doubtful(row.what) {
        let cost = pen.rough(data.snapshot.capture.cost.upper_ns.round() as u64);
        notes.push(format!(
            "{} calls so short that up to {cost} of each may be measuring",
            pen.glyphs.doubtful
        ));
    }
    if data.uncertainty(row.what).is_some() {
        let sign = pen.glyphs.give_or_take;
        notes.push(format!(
            "{ABOUT} estimated: two times in three the true time is within {sign} of it"
        ));
    }
    notes.join(pen.glyphs.dot)
}

fn data_is_bottom_up(model: &Model) -> bool {
    model.data.as_ref().is_some_and(|data| data.bottom_up)
}

/// How to read the columns: for those who see them for the first time.
fn hint(pen: &mut Pen<'_>, model: &Model, area: Rect, y: u16) {
    let (dot, running) = (pen.glyphs.dot, pen.glyphs.running);
    let wide = area.width >= 92;
    let whole = match model.base() {
        Base::Measured if model.base_label() != Base::Measured.label() => "the time in focus",
        Base::Measured => "measured time",
        Base::Wall => "wall time",
        Base::Parent => "its parent's time",
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
    let again = pen.glyphs.again;
    let text = match model.view {
        View::Tree if data_is_bottom_up(model) && wide => format!(
            "TOTAL, AVG self time of the topmost row's function when called so{dot}TOP the part that nobody called"
        ),
        View::Tree if data_is_bottom_up(model) => {
            format!("TOTAL self time of the topmost row{dot}TOP not called")
        }
        View::Function if wide => format!(
            "callers add up to 100%, and so do (self) and what it calls{dot}CALLS of all calls{dot}{again} calls back"
        ),
        View::Function => format!("callers are 100%, (self) and callees too{dot}{again} calls back"),
        View::Tree => format!("{inside}{dot}{itself}{dot}{running} open now"),
        View::Flame => format!("a frame is as wide as its time{dot}blank below a frame: its self time"),
        View::Hot | View::Threads | View::Sites => {
            format!("{itself}{dot}{inside}{dot}recursion counts once")
        }
    };
    pen.put_cut(area.x, y, area.width, &text, Meaning::Quiet);
}
