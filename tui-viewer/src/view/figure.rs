//! Numbers of a row as they stand in its columns, marked where they are estimates or bounds.

use tickscope_report::number;

use crate::columns::{self, Column};
use crate::model::Model;
use crate::model::data::{Data, Figures, What};
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

/// How far a time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It was measured.
    Exactly,
    /// It is an estimate.
    About,
    /// Nobody looked while it passed: it is short, but nobody knows how short.
    Unseen,
}

// === impl Known ===

impl Known {
    /// What is known of a time of a row that has these figures.
    pub(super) fn of(ns: u64, estimated: bool, figures: Figures) -> Self {
        match ns {
            0 if estimated && (figures.calls > 0 || figures.open > 0) => Self::Unseen,
            // What was not called took no time.
            0 => Self::Exactly,
            _ if estimated => Self::About,
            _ => Self::Exactly,
        }
    }
}

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
    let uncertainty = data.uncertainty(what).unwrap_or_default();
    let (total_is_estimated, self_is_estimated) = (uncertainty.total_estimated, uncertainty.self_estimated);
    let quantile = |share: f64| Some(length(pen, model, data, data.latency(what).quantile(share)?));
    let ticks = ticks(data, what);
    // Two numbers with nothing but a mark between them would look like one: then two digits must do.
    let tight = columns::gap(model.size.width) == 1;
    let time = |ns: u64, ticks: u64, estimated: bool, per: Option<u64>| {
        let known = Known::of(ns, estimated, figures);
        let text = scaled(pen, model.ticks, per, ns, ticks, estimated && tight);
        (text.filter(|_| known != Known::Unseen), known == Known::About)
    };
    let (text, estimated) = match column {
        Column::TotalShare | Column::OfShare => {
            (Some(percent(of_total, total_is_estimated)), total_is_estimated)
        }
        Column::SelfShare => (Some(percent(of_self, self_is_estimated)), self_is_estimated),
        Column::Total => time(figures.total_ns, ticks.0, total_is_estimated, data.per_calls),
        Column::SelfTime => time(figures.self_ns, ticks.1, self_is_estimated, data.per_calls),
        Column::Calls => (
            (what != What::Outside)
                .then(|| calls(data, figures.calls))
                .flatten(),
            false,
        ),
        Column::CallsOf => (super::function::calls(data, what), false),
        Column::Avg => figures.avg_ns().map_or((None, false), |ns| {
            let ticks = rounded(ticks.0, figures.calls);
            // Of a time that was seen a call has some part.
            let (text, about) = time(ns, ticks, total_is_estimated && ns > 0, None);
            let unseen = Known::of(figures.total_ns, total_is_estimated, figures) == Known::Unseen;
            (text.filter(|_| !unseen), about || (total_is_estimated && !unseen))
        }),
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
    data.uncertainty(what)
        .is_some_and(|uncertainty| uncertainty.timed < data.figures(what).calls)
}

/// With a mark before it the whole has no room for its tenth.
fn percent(share: f64, marked: bool) -> String {
    match number::percent(share) {
        text if marked && text == "100.0%" => "100%".to_string(),
        text => text,
    }
}
