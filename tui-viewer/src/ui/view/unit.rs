//! Numbers in the chosen unit: of all calls or per call of a row, in nanoseconds or in ticks. Marks of numbers that are not
//! exact: `~` before an estimate, `-` in place of an unknown number.

use tickscope_analysis::call_tree::Figures;
use tickscope_analysis::measure::Dimension;
use tickscope_analysis::uncertainty::Uncertainty;
use tickscope_format::snapshot::Values;
use tickscope_report::number;
pub(crate) use tickscope_report::number::quotient;

use crate::app::data::Data;
use crate::app::row::What;
use crate::app::state::App;
use crate::text::cells::width;
use crate::ui::view::canvas::{Canvas, up};

/// Mark before a number that is an estimate.
pub(crate) const ABOUT: &str = "~";

/// Maximum number of cells of a number, so that one of its column's six cells is left for the mark.
pub(crate) const LONGEST_MARKED: usize = 5;

/// Text for an unknown number.
pub(crate) const UNKNOWN: &str = "-";

/// Accuracy of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// The time was measured.
    Exactly,
    /// The time is an estimate.
    About,
    /// No sample fell into the row: its time is short, but not known.
    Unseen,
}

impl Known {
    /// Returns the accuracy of a time of a row that has these figures.
    pub(crate) fn of(ns: u64, estimated: bool, figures: Figures) -> Self {
        match ns {
            0 if estimated && (figures.calls > 0 || figures.open > 0) => Self::Unseen,
            // A row without calls took no time.
            0 => Self::Exactly,
            _ if estimated => Self::About,
            _ => Self::Exactly,
        }
    }
}

/// Whether only some of the calls were timed.
pub(crate) fn timed_in_part(data: &Data, what: What) -> bool {
    let uncertainty = data.uncertainty(what);
    uncertainty.is_some_and(|uncertainty| uncertainty.is_timed_in_part(data.figures(what).calls))
}

/// Whether few of the calls were timed, so that percentiles are rough.
pub(crate) fn has_rough_percentiles(data: &Data, what: What) -> bool {
    let uncertainty = data.uncertainty(what);
    uncertainty.is_some_and(|uncertainty| uncertainty.has_rough_percentiles(data.figures(what).calls))
}

/// Formats a value of the chosen measure, divided by `per_calls` if given. Returns `None` if `per_calls` is 0.
pub(crate) fn scaled(
    canvas: &Canvas<'_>,
    app: &App,
    per_calls: Option<u64>,
    ns: u64,
    ticks: u64,
    short: bool,
) -> Option<String> {
    match (app.measure().dimension(), per_calls) {
        (Dimension::Time, _) => time(canvas, app.query.in_ticks, per_calls, ns, ticks, short),
        (_, Some(0)) => None,
        (dimension, None) => Some(number::value(ns, dimension)),
        (dimension, Some(per)) => Some(number::mean(ns, per, dimension)),
    }
}

/// Whether values are counts: of the chosen measure, or of ticks.
pub(crate) fn counts(app: &App) -> bool {
    app.query.in_ticks || app.measure().dimension() != Dimension::Time
}

/// Formats a time under every measure: in nanoseconds, or in ticks.
pub(crate) fn time(
    canvas: &Canvas<'_>,
    in_ticks: bool,
    per_calls: Option<u64>,
    ns: u64,
    ticks: u64,
    short: bool,
) -> Option<String> {
    let (of_all, per) = (ns, per_calls.unwrap_or(1));
    if per == 0 {
        return None;
    }
    let ns = rounded(ns, per);
    Some(match canvas.duration(ns) {
        _ if in_ticks && per_calls.is_some() => quotient(ticks, per),
        _ if in_ticks => number::count(ticks),
        // A small amount must not look like zero.
        _ if ns == 0 && of_all > 0 => "<1ns".into(),
        text if short && width(&text) > LONGEST_MARKED => canvas.rough(ns),
        text => text,
    })
}

/// Formats a number of calls: all of them, or the calls per call of the chosen row. Returns `None` if the chosen row has no
/// calls.
pub(crate) fn calls(data: &Data, calls: u64) -> Option<String> {
    match data.per_calls {
        None => Some(number::count(calls)),
        Some(0) => None,
        Some(per) => Some(quotient(calls, per)),
    }
}

/// Like [`calls`]; a dash if the chosen row has no calls.
pub(crate) fn counted(data: &Data, number: u64) -> String {
    calls(data, number).unwrap_or_else(|| UNKNOWN.to_string())
}

/// Returns total and self time of a row in ticks.
pub(crate) fn ticks(data: &Data, what: What) -> (u64, u64) {
    what.table().ticks(data, what.row).unwrap_or_else(|| {
        let figures = data.figures(what);
        (ticks_of(data, figures.total_ns), ticks_of(data, figures.self_ns))
    })
}

/// Returns which times of a row are rough estimates.
pub(crate) fn rough(data: &Data, what: What) -> Uncertainty {
    let (total, own) = ticks(data, what);
    data.uncertainty(what).unwrap_or_default().rough(own, total)
}

/// Converts a time to ticks; a count stays as it is.
pub(crate) fn ticks_of(data: &Data, ns: u64) -> u64 {
    if data.snapshot.values == Values::Counts {
        return ns;
    }
    clock_ticks(data, ns)
}

/// Converts a time to ticks, under every measure.
pub(crate) fn clock_ticks(data: &Data, ns: u64) -> u64 {
    (ns as f64 * data.snapshot.clock.ticks_per_second / 1e9).round() as u64
}

/// Formats the time of a call, with the two digits that a histogram knows.
pub(crate) fn length(canvas: &Canvas<'_>, app: &App, data: &Data, ticks: u64) -> String {
    if app.query.in_ticks {
        number::count(ticks)
    } else {
        canvas.rough(data.snapshot.nanos(ticks))
    }
}

/// Like [`length`], but rounded up.
pub(crate) fn length_up(canvas: &Canvas<'_>, app: &App, data: &Data, ticks: u64) -> String {
    if app.query.in_ticks {
        number::count(up(ticks))
    } else {
        canvas.rough_up(data.snapshot.nanos(ticks))
    }
}

/// Returns the quotient, rounded to the nearest.
pub(crate) fn rounded(n: u64, per: u64) -> u64 {
    number::rounded(n, per.max(1))
}
