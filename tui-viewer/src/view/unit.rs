//! Numbers in the unit that was chosen: of all calls or per call of a row, in nanoseconds or in ticks.

use tickscope_format::render::number;

use crate::cells::width;
use crate::model::Model;
use crate::model::data::{Data, What};
use crate::view::figure::LONGEST_MARKED;
use crate::view::pen::{Pen, up};

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
pub(super) fn calls(data: &Data, calls: u64) -> Option<String> {
    match data.per_calls {
        None => Some(number::count(calls)),
        Some(0) => None,
        Some(per) => Some(quotient(calls, per)),
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
        (ticks_of(data, figures.total_ns), ticks_of(data, figures.self_ns))
    }
}

/// A time in ticks.
pub(super) fn ticks_of(data: &Data, ns: u64) -> u64 {
    (ns as f64 * data.snapshot.clock.ticks_per_second / 1e9).round() as u64
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
pub(super) fn rounded(n: u64, per: u64) -> u64 {
    let per = per.max(1);
    n / per + u64::from(n % per >= per - per / 2)
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
