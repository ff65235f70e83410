//! Numbers of a row as they stand in its columns, marked where they are estimates or bounds.

use tickscope_format::render::number;

use crate::cells::width;
use crate::columns::{self, Column};
use crate::model::Model;
use crate::model::data::{Data, What};
use crate::view::pen::{Pen, up};

/// Before a number that is an estimate.
pub(super) const ABOUT: &str = "~";

/// A number of so many cells leaves one of its column's six for the mark.
const LONGEST_MARKED: usize = 5;

/// For what is not known.
pub(super) const UNKNOWN: &str = "-";

/// The text of a column of numbers; at most one cell longer than the column.
pub(super) fn text(pen: &Pen<'_>, model: &Model, data: &Data, what: What, column: Column) -> String {
    let figures = data.figures(what);
    let (of_total, of_self) = model.shares(data, what);
    let spread = data.spread(what).unwrap_or_default();
    let (total_is_estimated, self_is_estimated) = (spread.total_estimated, spread.self_estimated);
    let quantile = |share: f64| Some(length(pen, model, data, data.latency(what).quantile(share)?));
    let ticks = ticks(data, what);
    // Two numbers with nothing but a mark between them would look like one: then two digits must do.
    let tight = columns::gap(model.size.width) == 1;
    let time = |ns: u64, ticks: u64, estimated: bool| {
        let per = model.per_call.as_ref().map(|per| per.calls);
        scaled(pen, model.ticks, per, ns, ticks, estimated && tight)
    };
    let (text, estimated) = match column {
        Column::TotalShare => (Some(percent(of_total, total_is_estimated)), total_is_estimated),
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
                .then(|| calls(model, figures.calls))
                .flatten(),
            false,
        ),
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
        Column::Bar | Column::Name | Column::Where => (None, false),
    };
    match text {
        Some(text) if estimated => format!("{ABOUT}{text}"),
        Some(text) => text,
        None => UNKNOWN.to_string(),
    }
}

/// A time as it is shown: of all, or a call's part of it; in nanoseconds, or in ticks. Nothing is known per call of what
/// has none.
pub(super) fn scaled(
    pen: &Pen<'_>,
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
    Some(match pen.duration(ns) {
        _ if in_ticks && per_calls.is_some() => quotient(ticks, per),
        _ if in_ticks => number::count(ticks),
        // Little is not nothing.
        _ if ns == 0 && of_all > 0 => "<1ns".into(),
        text if short && width(&text) > LONGEST_MARKED => pen.rough(ns),
        text => text,
    })
}

/// Calls as they are shown: all, or so many per call.
pub(super) fn calls(model: &Model, calls: u64) -> Option<String> {
    match &model.per_call {
        None => Some(number::count(calls)),
        Some(per) if per.calls == 0 => None,
        Some(per) => Some(quotient(calls, per.calls)),
    }
}

/// Total and self time of a row in ticks.
pub(super) fn ticks(data: &Data, what: What) -> (u64, u64) {
    if let What::Tree(row) = what {
        let row = &data.tree.rows[row as usize];
        (row.total_ticks, row.self_ticks)
    } else if let What::Hot(row) = what {
        let row = &data.hot()[row as usize];
        (row.total_ticks, row.self_ticks)
    } else {
        let figures = data.figures(what);
        let ticks = |ns: u64| (ns as f64 * data.snapshot.clock.ticks_per_second / 1e9).round() as u64;
        (ticks(figures.total_ns), ticks(figures.self_ns))
    }
}

/// How long a call took, with the two digits that a histogram knows.
pub(super) fn length(pen: &Pen<'_>, model: &Model, data: &Data, ticks: u64) -> String {
    if model.ticks {
        number::count(ticks)
    } else {
        pen.rough(data.snapshot.nanos(ticks))
    }
}

/// The same, rounded up.
pub(super) fn length_up(pen: &Pen<'_>, model: &Model, data: &Data, ticks: u64) -> String {
    if model.ticks {
        number::count(up(ticks))
    } else {
        pen.rough_up(data.snapshot.nanos(ticks))
    }
}

/// A quotient in at most 5 cells: `0`, `<0.01`, `0.25`, `1.00`, `12.3`, and from 100 on as a count.
fn quotient(n: u64, per: u64) -> String {
    // Wide enough for hundredths of all that 64 bits hold.
    let times = |parts: u128| (u128::from(n) * parts + u128::from(per) / 2) / u128::from(per.max(1));
    match (times(100), times(10)) {
        _ if n == 0 => "0".into(),
        (0, _) => "<0.01".into(),
        (hundredths @ ..=999, _) => format!("{}.{:02}", hundredths / 100, hundredths % 100),
        (_, tenths @ ..=999) => format!("{}.{}", tenths / 10, tenths % 10),
        _ => number::count(rounded(n, per)),
    }
}

/// The quotient rounded to the nearest.
fn rounded(n: u64, per: u64) -> u64 {
    let per = per.max(1);
    n / per + u64::from(n % per >= per - per / 2)
}

/// The longest call: exactly, at most so long, or about so long where not all calls were timed.
pub(super) fn longest(pen: &Pen<'_>, model: &Model, data: &Data, what: What) -> Option<String> {
    let (ticks, exact) = data.latency(what).max()?;
    let ns = data.snapshot.nanos(ticks);
    Some(match (timed_in_part(data, what), exact) {
        (true, _) => length(pen, model, data, ticks),
        (false, true) if model.ticks => number::count(ticks),
        (false, true) => pen.duration(ns),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quotients_have_decimals_below_a_hundred() {
        let table = [
            (0, 4, "0"),
            (1, 4, "0.25"),
            (4, 4, "1.00"),
            (1, 1_000, "<0.01"),
            (1, 200, "0.01"),
            (999, 100, "9.99"),
            (9_995, 1_000, "10.0"),
            (1_234, 100, "12.3"),
            (99_949, 1_000, "99.9"),
            (99_951, 1_000, "100"),
            (1_340, 1, "1.34k"),
            (u64::MAX, 1, "18.4E"),
            (u64::MAX, u64::MAX, "1.00"),
        ];
        for (n, per, text) in table {
            assert_eq!(quotient(n, per), text, "{n} / {per}");
        }
    }

    proptest! {
        #[test]
        fn quotients_take_five_cells(n: u64, per in 1u64.., a in 0u32..64, b in 0u32..64) {
            prop_assert!(quotient(n >> a, (per >> b).max(1)).len() <= 5);
        }
    }
}
