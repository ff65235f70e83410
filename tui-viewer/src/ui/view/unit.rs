//! Numbers in the chosen unit: as totals or per call of a row, in nanoseconds or in ticks. An estimate is marked with
//! `~`, and an unknown number is shown as `-`.

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

/// Maximum width of a number that gets a mark, because columns are six cells wide.
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
    /// The row has calls, but no sample fell into it, so its time is short but unknown.
    Unseen,
}

impl Known {
    /// Returns the accuracy of a time that belongs to a row with these figures.
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

/// Returns whether only some of the calls were timed.
pub(crate) fn timed_in_part(data: &Data, what: What) -> bool {
    let uncertainty = data.uncertainty(what);
    uncertainty.is_some_and(|uncertainty| uncertainty.is_timed_in_part(data.figures(what).calls))
}

/// Returns whether so few of the calls were timed that percentiles are rough.
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

/// Returns whether values are counts: ticks, or amounts of a measure other than time.
pub(crate) fn counts(app: &App) -> bool {
    app.query.in_ticks || app.measure().dimension() != Dimension::Time
}

/// Formats a time in nanoseconds or in ticks, independently of the chosen measure.
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
        // A time above 0 must not look like 0.
        _ if ns == 0 && of_all > 0 => "<1ns".into(),
        text if short && width(&text) > LONGEST_MARKED => canvas.rough(ns),
        text => text,
    })
}

/// Formats a number of calls. If numbers are shown per call of a chosen row, divides it by the calls of that row, and
/// returns `None` if there are none.
pub(crate) fn calls(data: &Data, calls: u64) -> Option<String> {
    match data.per_calls {
        None => Some(number::count(calls)),
        Some(0) => None,
        Some(per) => Some(quotient(calls, per)),
    }
}

/// Like [`calls`], but returns a dash in place of `None`.
pub(crate) fn counted(data: &Data, number: u64) -> String {
    calls(data, number).unwrap_or_else(|| UNKNOWN.to_string())
}

/// Returns the total and the self time of a row in ticks.
pub(crate) fn ticks(data: &Data, what: What) -> (u64, u64) {
    what.table().ticks(data, what.row).unwrap_or_else(|| {
        let figures = data.figures(what);
        (ticks_of(data, figures.total_ns), ticks_of(data, figures.self_ns))
    })
}

/// Returns the uncertainty of a row's times, in which only times rough enough to be marked count as estimates.
pub(crate) fn rough(data: &Data, what: What) -> Uncertainty {
    let (total, own) = ticks(data, what);
    data.uncertainty(what).unwrap_or_default().rough(own, total)
}

/// Converts a value of the chosen measure to ticks. If the measure is a count, returns the value unchanged.
pub(crate) fn ticks_of(data: &Data, ns: u64) -> u64 {
    if data.snapshot.values == Values::Counts {
        return ns;
    }
    clock_ticks(data, ns)
}

/// Converts a time to ticks, independently of the chosen measure.
pub(crate) fn clock_ticks(data: &Data, ns: u64) -> u64 {
    (ns as f64 * data.snapshot.clock.ticks_per_second / 1e9).round() as u64
}

/// Formats the latency of a call with two digits, because histograms are no more precise than that.
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

/// Returns `n / per`, rounded to the nearest integer.
pub(crate) fn rounded(n: u64, per: u64) -> u64 {
    number::rounded(n, per.max(1))
}
