//! Numbers of a row as they stand in its columns, marked where they are estimates or bounds.

use tickscope_format::render::number;

use crate::columns::{self, Column};
use crate::model::Model;
use crate::model::data::{Data, What};
use crate::view::counter::{self, Part};
use crate::view::difference;
use crate::view::pen::Pen;
use crate::view::unit::{calls, length, length_up, rounded, scaled, ticks};

/// Before a number that is an estimate.
pub(super) const ABOUT: &str = "~";

/// A number of so many cells leaves one of its column's six for the mark.
pub(super) const LONGEST_MARKED: usize = 5;

/// For what is not known.
pub(super) const UNKNOWN: &str = "-";

/// The text of a column of numbers, or of its change where two moments are compared; at most one cell longer than
/// the column.
pub(super) fn text(pen: &Pen<'_>, model: &Model, data: &Data, what: What, column: Column) -> String {
    match &data.then {
        Some(_) => difference::text(pen, model, data, what, column),
        None => plain(pen, model, data, what, column),
    }
}

/// The same of one moment.
pub(super) fn plain(pen: &Pen<'_>, model: &Model, data: &Data, what: What, column: Column) -> String {
    let figures = data.figures(what);
    if let Some(sum) = figures.sum {
        match Part::of(model.view, column) {
            Part::Sign => return pen.glyphs.sum.to_string(),
            Part::Sum => return counter::sum(data, sum),
            Part::Nothing => return UNKNOWN.to_string(),
            Part::Calls => {}
        }
    }
    let (of_total, of_self) = model.shares(data, what);
    let spread = data.spread(what).unwrap_or_default();
    let (total_is_estimated, self_is_estimated) = (spread.total_estimated, spread.self_estimated);
    let quantile = |share: f64| Some(length(pen, model, data, data.latency(what).quantile(share)?));
    let ticks = ticks(data, what);
    // Two numbers with nothing but a mark between them would look like one: then two digits must do.
    let tight = columns::gap(model.size.width) == 1;
    let time = |ns: u64, ticks: u64, estimated: bool| {
        let per = data.per_calls;
        scaled(pen, model.ticks, per, ns, ticks, estimated && tight)
    };
    let (text, estimated) = match column {
        Column::TotalShare | Column::OfShare => {
            (Some(percent(of_total, total_is_estimated)), total_is_estimated)
        }
        Column::SelfShare => (Some(percent(of_self, self_is_estimated)), self_is_estimated),
        Column::Total => (
            time(figures.total_ns, ticks.0, total_is_estimated),
            total_is_estimated,
        ),
        Column::SelfTime => (
            time(figures.self_ns, ticks.1, self_is_estimated),
            self_is_estimated,
        ),
        Column::Calls => (
            (what != What::Outside)
                .then(|| calls(data, figures.calls))
                .flatten(),
            false,
        ),
        Column::CallsOf => (super::function::calls(data, what), false),
        Column::Avg => (
            figures.avg_ns().and_then(|ns| {
                let ticks = rounded(ticks.0, figures.calls);
                scaled(pen, model.ticks, None, ns, ticks, total_is_estimated && tight)
            }),
            total_is_estimated,
        ),
        Column::P50 => (quantile(0.50), timed_in_part(data, what)),
        Column::P99 => (quantile(0.99), timed_in_part(data, what)),
        Column::Max => (longest(pen, model, data, what), timed_in_part(data, what)),
        Column::Bar | Column::Spark | Column::Name | Column::Where => (None, false),
        Column::Thread | Column::Tid | Column::State | Column::Busy | Column::Course => (None, false),
        Column::Cpu | Column::Outside | Column::Now | Column::Module => (None, false),
    };
    match text {
        Some(text) if estimated => format!("{ABOUT}{text}"),
        Some(text) => text,
        None => UNKNOWN.to_string(),
    }
}

/// The longest call: exactly, at most so long, or about so long where not all calls were timed.
pub(super) fn longest(pen: &Pen<'_>, model: &Model, data: &Data, what: What) -> Option<String> {
    let (ticks, exact) = data.latency(what).max()?;
    Some(match (timed_in_part(data, what), exact) {
        // As many digits as percentiles have: none is to look longer than the longest.
        (true, _) | (false, true) => length(pen, model, data, ticks),
        (false, false) => format!("{}{}", pen.glyphs.at_most, length_up(pen, model, data, ticks)),
    })
}

/// Whether latencies are those of some calls, not of all.
pub(super) fn timed_in_part(data: &Data, what: What) -> bool {
    data.spread(what)
        .is_some_and(|spread| spread.timed < data.figures(what).calls)
}

/// With a mark before it the whole has no room for its tenth.
fn percent(share: f64, marked: bool) -> String {
    match number::percent(share) {
        text if marked && text == "100.0%" => "100%".to_string(),
        text => text,
    }
}
