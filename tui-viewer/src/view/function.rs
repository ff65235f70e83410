//! What the view of one function has of its own: its title, its headings, and calls that are some of many.

use ratatui::layout::Rect;
use tickscope_analysis::functions::FunctionId;
use tickscope_report::{label, number};

use crate::cells::{cut_middle, cut_path, safe, width};
use crate::columns::Column;
use crate::model::Model;
use crate::model::data::{Data, Figures, What, share};
use crate::model::function::{Around, Line};
use crate::theme::{Glyphs, Meaning};
use crate::view::figure::{self, ABOUT, Known, UNKNOWN};
use crate::view::pen::Pen;
use crate::view::unit;

/// From so many cells on all figures have room.
const WORDY: u16 = 76;

/// Cells of a count.
const COUNT: usize = 5;

/// Name and place of the function, and its figures where there is a second line.
pub(super) fn title(pen: &mut Pen<'_>, model: &Model, data: &Data, area: Rect) {
    let (x, cells) = (area.x + 1, area.width.saturating_sub(2));
    let Some(around) = &data.around else {
        let chosen = model.function.chosen.as_ref();
        let name = chosen.map_or_else(String::new, |chosen| safe(&chosen.name, pen.ascii).into_owned());
        pen.put_cut(x, area.y, cells, &name, Meaning::Strong);
        return;
    };
    let id = around.neighbours.function;
    let function = data.tree.functions.get(id);
    let place = label::place(&function.file, function.line, pen.ascii);
    let place = match function.group.as_str() {
        _ if function.is_group => String::new(),
        "" => place,
        group => format!("[{group}] {place}"),
    };
    let place = safe(&place, pen.ascii);
    let full = &data.names.full[id.index()];
    // The name comes first; the place keeps its end, where the file is.
    let room = usize::from(cells).saturating_sub(width(full) + 3);
    let place = match room {
        12.. => cut_path(&place, room, pen.glyphs.cut).into_owned(),
        _ => String::new(),
    };
    let name_cells = usize::from(cells).saturating_sub(if place.is_empty() { 0 } else { width(&place) + 2 });
    let name = cut_middle(full, name_cells, pen.glyphs.cut).into_owned();
    pen.put(x, area.y, cells, &name, Meaning::Strong);
    pen.put_right(x, area.y, cells, &place, Meaning::Quiet);
    if area.height > 1 {
        figures(pen, model, data, around, (x, x + cells), area.y + 1);
    }
}

fn figures(pen: &mut Pen<'_>, model: &Model, data: &Data, around: &Around, (mut x, end): (u16, u16), y: u16) {
    let of = &around.neighbours;
    let uncertainty = of.uncertainty.unwrap_or_default();
    let all = of.outermost_calls + of.recursive_calls;
    let counts = Figures {
        calls: all,
        ..Figures::default()
    };
    let time = |ns: u64, estimated: bool| {
        let known = Known::of(ns, estimated, counts);
        if known == Known::Unseen {
            return UNKNOWN.to_string();
        }
        let about = if known == Known::About { ABOUT } else { "" };
        let percent = number::percent(share(ns, data.measured_ns));
        let time = scaled(pen, model, data.per_calls, data, ns).unwrap_or_else(|| UNKNOWN.to_string());
        format!("{about}{time} {about}{percent}")
    };
    let mut facts = vec![
        ("total", time(of.total_ns, uncertainty.total_estimated)),
        ("self", time(of.self_ns, uncertainty.self_estimated)),
        ("calls", counted(data, all)),
    ];
    let seen = Known::of(of.total_ns, uncertainty.total_estimated, counts) != Known::Unseen;
    let avg_ns = of.total_ns.checked_div(of.outermost_calls);
    if let Some(sum) = of.sum {
        facts = vec![("sum", counted(data, sum)), ("calls", counted(data, all))];
    } else if let Some(ns) = avg_ns.filter(|_| seen) {
        let about = if uncertainty.total_estimated { ABOUT } else { "" };
        let avg = scaled(pen, model, None, data, ns).unwrap_or_else(|| UNKNOWN.to_string());
        facts.push(("avg", format!("{about}{avg}")));
    }
    // No other number of this view says it: where there is little room it comes before what the rows say as well.
    let narrow = end - x < WORDY;
    let place = if narrow { 2 } else { facts.len() };
    facts.splice(
        place..place,
        p99(pen, model, data, of.function).map(|text| ("p99", text)),
    );
    if of.recursive {
        let text = format!("{} of them recursive", counted(data, of.recursive_calls));
        facts.push((pen.glyphs.again, text));
    }
    let gap = if narrow { 2 } else { 3 };
    for (word, text) in facts {
        if usize::from(x) + width(word) + 1 + width(&text) > usize::from(end) {
            return;
        }
        x = pen.put(x, y, end - x, word, Meaning::Quiet);
        x = pen.put(x + 1, y, end.saturating_sub(x + 1), &text, Meaning::Plain) + gap;
    }
}

/// What 99 of 100 calls of a function did not exceed; none where nobody counted.
fn p99(pen: &Pen<'_>, model: &Model, data: &Data, function: FunctionId) -> Option<String> {
    let at = data.hot().binary_search_by_key(&function, |row| row.function);
    let what = What::Hot(at.ok()? as u32);
    data.latency(what).quantile(0.99)?;
    Some(figure::plain(pen, model, data, what, Column::P99))
}

/// A time in the unit that was chosen.
fn scaled(pen: &Pen<'_>, model: &Model, per_calls: Option<u64>, data: &Data, ns: u64) -> Option<String> {
    unit::scaled(pen, model.ticks, per_calls, ns, unit::ticks_of(data, ns), false)
}

/// A number of calls, or so many per call.
fn counted(data: &Data, calls: u64) -> String {
    unit::calls(data, calls).unwrap_or_else(|| UNKNOWN.to_string())
}

/// A line between the two lists.
pub(super) fn heading(pen: &mut Pen<'_>, text: &str, area: Rect) {
    pen.rule(area);
    pen.put(
        area.x + 1,
        area.y,
        area.width.saturating_sub(2),
        &format!(" {text} "),
        Meaning::Quiet,
    );
}

/// Whether a line calls the function, is it, or is called by it.
pub(super) fn direction(data: &Data, what: What, glyphs: &Glyphs) -> Option<&'static str> {
    let What::Call(line) = what else { return None };
    let [caller, own, callee] = glyphs.calls;
    match data.around.as_ref()?.line(line) {
        Line::Heading(_) => None,
        Line::Caller(_) => Some(caller),
        Line::Own => Some(own),
        Line::Callee(_) => Some(callee),
    }
}

/// Calls from the one to the other, of all calls of the other; of the function itself the outermost and the recursive
/// ones. What stands between the two numbers always stands in the same cell.
pub(super) fn calls(data: &Data, what: What) -> Option<String> {
    let What::Call(line) = what else { return None };
    let around = data.around.as_ref()?;
    let of = &around.neighbours;
    let (some, between, others) = match around.line(line) {
        Line::Heading(_) => return None,
        Line::Caller(link) | Line::Callee(link) => (link.calls, "/", Some(link.of_calls)),
        Line::Own => {
            let recursive = Some(of.recursive_calls).filter(|&calls| calls > 0);
            (of.outermost_calls, "+", recursive)
        }
    };
    let others = others.map_or(String::new(), |calls| {
        format!("{between}{}", counted(data, calls))
    });
    Some(format!(
        "{:>COUNT$}{others:<rest$}",
        counted(data, some),
        rest = COUNT + 1
    ))
}
