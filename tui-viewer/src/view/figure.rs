//! Numbers of a row as they stand in its columns, marked where they are estimates or bounds.

use tickscope_format::render::number;

use crate::cells::width;
use crate::columns::{self, Column};
use crate::model::Model;
use crate::model::data::{Data, What};
use crate::view::difference;
use crate::view::pen::Pen;

/// Before a number that is an estimate.
pub(super) const ABOUT: &str = "~";

/// A number of so many cells leaves one of its column's six for the mark.
const LONGEST_MARKED: usize = 5;

/// For what is not known.
pub(super) const UNKNOWN: &str = "-";

/// The text of a column of numbers, or of its change where two moments are compared; at most one cell longer than
/// the column.
pub(super) fn text(pen: &Pen<'_>, model: &Model, data: &Data, what: What, column: Column) -> String {
    match &data.then {
        Some(then) => difference::text(pen, model, (data, then), what, column),
        None => plain(pen, model, data, what, column),
    }
}

/// The same of one moment.
pub(super) fn plain(pen: &Pen<'_>, model: &Model, data: &Data, what: What, column: Column) -> String {
    let figures = data.figures(what);
    let (of_total, of_self) = model.shares(data, what);
    let spread = data.spread(what).unwrap_or_default();
    let (total_is_estimated, self_is_estimated) = (spread.total_estimated, spread.self_estimated);
    let quantile = |share: f64| {
        let ticks = data.latency(what).quantile(share)?;
        Some(pen.rough(data.snapshot.nanos(ticks)))
    };
    // Two numbers with nothing but a mark between them would look like one: then two digits must do.
    let tight = columns::gap(model.size.width) == 1;
    let time = |ns: u64, estimated: bool| match pen.duration(ns) {
        text if estimated && tight && width(&text) > LONGEST_MARKED => pen.rough(ns),
        text => text,
    };
    let (text, estimated) = match column {
        Column::TotalShare => (Some(percent(of_total, total_is_estimated)), total_is_estimated),
        Column::SelfShare => (Some(percent(of_self, self_is_estimated)), self_is_estimated),
        Column::Total => (
            Some(time(figures.total_ns, total_is_estimated)),
            total_is_estimated,
        ),
        Column::SelfTime => (Some(time(figures.self_ns, self_is_estimated)), self_is_estimated),
        Column::Calls => (
            (what != What::Outside).then(|| number::count(figures.calls)),
            false,
        ),
        Column::Avg => (
            figures.avg_ns().map(|ns| time(ns, total_is_estimated)),
            total_is_estimated,
        ),
        Column::P50 => (quantile(0.50), timed_in_part(data, what)),
        Column::P99 => (quantile(0.99), timed_in_part(data, what)),
        Column::Max => (longest(pen, data, what), timed_in_part(data, what)),
        Column::Bar | Column::Spark | Column::Name | Column::Where => (None, false),
    };
    match text {
        Some(text) if estimated => format!("{ABOUT}{text}"),
        Some(text) => text,
        None => UNKNOWN.to_string(),
    }
}

/// The longest call: exactly, at most so long, or about so long where not all calls were timed.
pub(super) fn longest(pen: &Pen<'_>, data: &Data, what: What) -> Option<String> {
    let (ticks, exact) = data.latency(what).max()?;
    let ns = data.snapshot.nanos(ticks);
    Some(match (timed_in_part(data, what), exact) {
        (true, _) => pen.rough(ns),
        (false, true) => pen.duration(ns),
        (false, false) => format!("{}{}", pen.glyphs.at_most, pen.rough_up(ns)),
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
