//! The numbers in the columns of a row, with marks for estimates and bounds.

use tickscope_analysis::measure::Dimension;
use tickscope_report::number;

use crate::app::data::Data;
use crate::app::function::FunctionRow;
use crate::app::row::{Portion, What};
use crate::app::state::App;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::Value;
use crate::ui::view::place::gap;
use crate::ui::view::unit::{
    ABOUT, Known, UNKNOWN, calls, counted, has_rough_percentiles, length, length_up, rough, rounded, scaled,
    ticks, ticks_of, timed_in_part,
};
use crate::ui::view::{counter, difference, unit};

/// Returns the text of a column of numbers: the number or, in a comparison, its change. The text is at most one cell
/// wider than the column.
pub(crate) fn text(canvas: &Canvas<'_>, app: &App, data: &Data, what: What, value: Value) -> String {
    match &data.then {
        Some(_) => difference::text(canvas, app, data, what, value),
        None => plain(canvas, app, data, what, value),
    }
}

/// Returns the text of a column of numbers at one moment, without comparing it with another.
pub(crate) fn plain(canvas: &Canvas<'_>, app: &App, data: &Data, what: What, value: Value) -> String {
    let figures = data.figures(what);
    if let Some(tally) = figures.tally.filter(|_| !value.is_count()) {
        let main = app.views.current.about().main;
        return counter::text(canvas, data, what, tally, main, value);
    }
    let (of_total, of_self) = app.shares(data, what);
    let ticks = ticks(data, what);
    let uncertainty = rough(data, what);
    let (total_is_estimated, self_is_estimated) = (uncertainty.total_estimated, uncertainty.self_estimated);
    let quantile = |share: f64| Some(length(canvas, app, data, data.latency(what).quantile(share)?));
    // If columns are only one cell apart, the mark of an estimate fills the gap, and two long numbers would look like
    // one. Numbers with two digits are short enough to leave a blank.
    let tight = gap(app.list_cells()) == 1;
    let time = |ns: u64, ticks: u64, estimated: bool, per: Option<u64>| {
        let known = Known::of(ns, estimated, figures);
        let text = scaled(canvas, app, per, ns, ticks, estimated && tight);
        (text.filter(|_| known != Known::Unseen), known == Known::About)
    };
    let on_clock = |ns: u64| {
        let ticks = unit::clock_ticks(data, ns);
        unit::time(canvas, app.query.in_ticks, data.per_calls, ns, ticks, false)
    };
    let (text, estimated) = match value {
        Value::Share(Portion::Total) => (Some(percent(of_total, total_is_estimated)), total_is_estimated),
        Value::Share(Portion::Own) => (Some(percent(of_self, self_is_estimated)), self_is_estimated),
        Value::Time(Portion::Total) => time(figures.total_ns, ticks.0, total_is_estimated, data.per_calls),
        Value::Time(Portion::Own) => time(figures.self_ns, ticks.1, self_is_estimated, data.per_calls),
        Value::Calls if figures.sampled.is_all(figures.calls) => (Some(ABOUT.into()), false),
        Value::Calls if what.is_outside() => (None, false),
        Value::Calls => (calls(data, figures.calls), false),
        Value::CallsOf => (calls_of(data, what), false),
        Value::Mean if app.measure().dimension() != Dimension::Time => {
            let mean = number::mean(figures.total_ns, figures.calls, app.measure().dimension());
            ((figures.calls > 0).then_some(mean), total_is_estimated)
        }
        Value::Mean => figures.avg_ns().map_or((None, false), |ns| {
            let (ticks, of_calls) = figures.avg_ticks(ticks.0);
            let ticks = rounded(ticks, of_calls);
            // A mean of 0 ns may come from very short calls, so the total decides whether any sample fell into the row.
            let (text, about) = time(ns, ticks, total_is_estimated && ns > 0, None);
            let unseen = Known::of(figures.total_ns, total_is_estimated, figures) == Known::Unseen;
            (text.filter(|_| !unseen), about || (total_is_estimated && !unseen))
        }),
        Value::Quantile(percent) => (
            quantile(f64::from(percent) / 100.0),
            has_rough_percentiles(data, what),
        ),
        Value::Longest => (longest(canvas, app, data, what), false),
        Value::TimeOf(read) => {
            let ns = read(data, what);
            time(ns, ticks_of(data, ns), false, data.per_calls)
        }
        Value::OffCpu(_) if !data.snapshot.waits || what.is_outside() => (None, false),
        Value::OffCpu(part) => {
            // Most rows never wait. A dash in place of 0 makes the others stand out.
            let ns = Some(part(figures.total_off)).filter(|&ns| ns > 0);
            (ns.and_then(on_clock), false)
        }
        Value::CpuTime(read) => (read(data, what).and_then(on_clock), false),
    };
    match text {
        Some(text) if estimated => format!("{ABOUT}{text}"),
        Some(text) => text,
        None => UNKNOWN.to_string(),
    }
}

/// Formats the latency of the longest call. It is marked as a lower bound if not all calls were timed, and otherwise as
/// an upper bound if it is not exact.
pub(crate) fn longest(canvas: &Canvas<'_>, app: &App, data: &Data, what: What) -> Option<String> {
    let (ticks, exact) = data.latency(what).max()?;
    Some(match (timed_in_part(data, what), exact) {
        (true, _) => format!("{}{}", canvas.glyphs.at_least, length(canvas, app, data, ticks)),
        // Rounded like the percentiles, because otherwise a percentile might look longer than the longest call.
        (false, true) => length(canvas, app, data, ticks),
        (false, false) => format!("{}{}", canvas.glyphs.at_most, length_up(canvas, app, data, ticks)),
    })
}

/// Formats a share. A 100% with a mark is shown without its decimal, because the column has no room for both.
fn percent(share: f64, marked: bool) -> String {
    match number::percent(share) {
        text if marked && text == "100.0%" => "100%".to_string(),
        text => text,
    }
}

/// Width of a count in cells.
const COUNT: usize = 5;

/// Formats the number of calls from caller to callee and the number of all calls to the callee, as in `12/34`. For the
/// function itself, formats its outermost and its recursive calls, as in `12+3`. The separator is in the same cell in
/// all rows.
fn calls_of(data: &Data, what: What) -> Option<String> {
    let around = data.around.as_ref()?;
    let of = &around.neighbours;
    let (some, between, others) = match around.line(what.row) {
        FunctionRow::Heading(_) => return None,
        FunctionRow::Caller(link) | FunctionRow::Callee(link)
            if link.figures.sampled.is_all(link.all_calls) =>
        {
            return Some(format!("{ABOUT:>COUNT$}{:rest$}", "", rest = COUNT + 1));
        }
        FunctionRow::Caller(link) | FunctionRow::Callee(link) => (link.all_calls, "/", Some(link.of_calls)),
        FunctionRow::Own => {
            let recursive = Some(of.recursive_calls()).filter(|&calls| calls > 0);
            (of.outermost_calls, "+", recursive)
        }
    };
    let others = others.map_or(String::new(), |calls| {
        format!("{between}{}", counted(data, calls))
    });
    let some = counted(data, some);
    Some(format!("{some:>COUNT$}{others:<rest$}", rest = COUNT + 1))
}
