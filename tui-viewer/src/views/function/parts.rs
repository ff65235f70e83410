//! Parts of the Function view: its title, its charts, and the marks of callers and callees.

use ratatui::layout::{Margin, Rect};
use tickscope_analysis::call_tree::Figures;
use tickscope_analysis::functions::FunctionId;
use tickscope_report::{label, number, tally};

use crate::app::data::Data;
use crate::app::function::{Around, FunctionRow};
use crate::app::layout::halves;
use crate::app::row::{RowId, What, share};
use crate::app::state::App;
use crate::keys::view::View;
use crate::text::cells::width;
use crate::text::glyphs::Glyphs;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::{Canvas, Pen};
use crate::ui::view::charts::{Column, seconds};
use crate::ui::view::column::Value;
use crate::ui::view::latency::latencies;
use crate::ui::view::unit::{self, ABOUT, Known, UNKNOWN, counted};
use crate::ui::view::{counter, detail, figure};

/// Minimum width at which all figures fit on one line.
const WORDY: u16 = 76;

/// Draws the name and source location of the function, and its figures if there is a second line.
pub(crate) fn title(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    let (x, cells) = (area.x + 1, area.width.saturating_sub(2));
    let Some(around) = &data.around else {
        let chosen = app.views.function.chosen.as_ref();
        let name = chosen.map_or("", |chosen| &chosen.name);
        canvas.put_cut(x, area.y, cells, name, Meaning::Strong);
        return;
    };
    let id = around.neighbours.function;
    let function = data.tree.functions.get(id);
    let place = label::place(&function.file, function.line, canvas.ascii);
    let place = match function.group.as_str() {
        _ if function.is_group => String::new(),
        "" => place,
        group => format!("[{group}] {place}"),
    };
    let place = canvas.safe(&place);
    let full = &data.names.full[id.index()];
    // The name takes precedence. The source location is cut at its beginning, because the file name is at its end.
    let room = usize::from(cells).saturating_sub(width(full) + 3);
    let place = match room {
        12.. => canvas.cut_path(&place, room),
        _ => "".into(),
    };
    let taken = if place.is_empty() { 0 } else { width(&place) + 2 };
    let name = canvas.cut_middle(full, usize::from(cells).saturating_sub(taken));
    canvas.put(x, area.y, cells, &name, Meaning::Strong);
    canvas.put_right(x, area.y, cells, &place, Meaning::Quiet);
    if area.height > 1 {
        figures(canvas, app, data, around, area.inner(Margin::new(1, 0)));
    }
}

/// Draws the figures on the second line of an area.
fn figures(canvas: &mut Canvas<'_>, app: &App, data: &Data, around: &Around, area: Rect) {
    let of = &around.neighbours;
    let uncertainty = of.uncertainty.unwrap_or_default();
    let uncertainty = uncertainty.rough(of.figures.self_ticks, of.figures.total_ticks);
    let calls = of.figures.calls;
    let counts = Figures {
        calls,
        ..Figures::default()
    };
    let time = |ns: u64, estimated: bool| {
        let known = Known::of(ns, estimated, counts);
        if known == Known::Unseen {
            return UNKNOWN.to_string();
        }
        let about = if known == Known::About { ABOUT } else { "" };
        let percent = number::percent(share(ns, data.measured_ns));
        let time = unit::scaled(canvas, app, data.per_calls, ns, unit::ticks_of(data, ns), false);
        let time = time.unwrap_or_else(|| UNKNOWN.to_string());
        format!("{about}{time} {about}{percent}")
    };
    let mut facts = vec![
        ("total", time(of.figures.total_ns, uncertainty.total_estimated)),
        ("self", time(of.figures.self_ns, uncertainty.self_estimated)),
        ("calls", counted(data, calls)),
    ];
    if let Some(tally) = of.figures.tally {
        let word = if tally.is_gauge() { "level" } else { "sum" };
        facts = vec![
            (word, counter::main(data, tally)),
            ("calls", counted(data, calls)),
        ];
        facts.extend(tally::mean(tally, calls).map(|mean| ("mean", mean)));
    } else if let Some(what) = data.hotspot_of(of.function) {
        // The mean covers all calls of the function, as in every other view; only the rows below separate
        // outermost calls from recursive ones.
        let avg = figure::plain(canvas, app, data, what, Value::Mean);
        facts.extend((avg != UNKNOWN).then_some(("avg", avg)));
    }
    // No other number in this view says anything about the slowest calls, so on a narrow line p99 comes before the
    // figures that the rows also show.
    let narrow = area.width < WORDY;
    let place = if narrow { 2 } else { facts.len() };
    let p99 = p99(canvas, app, data, of.function);
    facts.splice(place..place, p99.map(|text| ("p99", text)));
    if of.recursive {
        let text = format!("{} of them recursive", counted(data, of.recursive_calls()));
        facts.push((canvas.glyphs.again, text));
    }
    let gap = if narrow { 2 } else { 3 };
    Pen::on(canvas, area, 1).facts(&facts, gap);
}

/// Formats the 99th percentile of the latencies of a function's calls; `None` if latencies were not recorded.
fn p99(canvas: &Canvas<'_>, app: &App, data: &Data, function: FunctionId) -> Option<String> {
    let what = data.hotspot_of(function)?;
    data.latency(what).quantile(0.99)?;
    Some(figure::plain(canvas, app, data, what, Value::Quantile(99)))
}

/// Draws the latencies of the function's calls and its activity over the last 30 seconds, side by side or one below the
/// other.
pub(crate) fn charts(canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
    canvas.rule(area);
    let Some(around) = &data.around else { return };
    let function = around.neighbours.function;
    let column = |area: Rect| Column::on(detail::inside(area));
    let mut columns: Vec<Column> = match halves(area) {
        Some(halves) => halves.map(column).into(),
        None => vec![column(area)],
    };
    if let Some((first, what)) = columns.first_mut().zip(data.hotspot_of(function)) {
        latencies(canvas, app, data, what, first);
    }
    let id = RowId::Function(data.tree.functions.get(function).key);
    if let Some(last) = columns.last_mut() {
        seconds(canvas, app, id, last);
    }
}

/// Returns the mark that says whether a row is a caller, the function itself, or a callee.
pub(crate) fn direction(data: &Data, what: What, glyphs: &Glyphs) -> Option<&'static str> {
    let around = data.around.as_ref().filter(|_| what.of == View::Function)?;
    let [caller, own, callee] = glyphs.calls;
    match around.line(what.row) {
        FunctionRow::Heading(_) => None,
        FunctionRow::Caller(_) => Some(caller),
        FunctionRow::Own => Some(own),
        FunctionRow::Callee(_) => Some(callee),
    }
}
