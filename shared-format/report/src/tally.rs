//! Texts for rows that have no time: counters, values and gauges. Their numbers are not durations.

use tickscope_analysis::measure::Measure;
use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::{Extremes, Tally};

use crate::number;

/// Maximum widths of a lower and of an upper bound in cells, including the sign that marks it as a bound.
const CELLS: [usize; 2] = [6, 7];

/// Sign before the level of a gauge.
pub const LEVEL: &str = "=";

/// Returns the word that completes "it has no ..." where a report by this measure explains counters.
pub(crate) fn missing(by: Measure) -> &'static str {
    if by == Measure::Time {
        "time"
    } else {
        "other number"
    }
}

/// Returns the text that a row shows in place of a time: the sum, formatted by `sum`, or the current level of a gauge. Returns
/// `None` for a gauge that was never set.
pub fn main(tally: Tally, sum: impl FnOnce(u64) -> String) -> Option<String> {
    match tally {
        Tally::Gauge { level: now } => now.map(|now| nearest(now.last.into())),
        Tally::Nothing | Tally::Counter { .. } | Tally::Value { .. } => Some(sum(tally.sum())),
    }
}

/// Returns the mean of a value's numbers, or `None` if the row is not a value or has no calls.
pub fn mean(tally: Tally, calls: u64) -> Option<String> {
    (tally.is_value() && calls > 0).then(|| number::quotient(tally.sum(), calls))
}

/// Returns the quantile `share` (0 to 1) of a value's numbers.
pub fn quantile(tally: Tally, histogram: &Histogram, share: f64) -> Option<String> {
    tally.quantile(histogram, share).map(number::count)
}

/// Returns a lower bound for the numbers of a value or the levels of a gauge. It begins with `≥` even if it is exact.
pub fn least(tally: Tally, ascii: bool) -> Option<String> {
    Some(bounded(at_least(ascii), range(tally)?.min, false))
}

/// Returns the smallest number that a value received, or the lowest level of a gauge. If only a bound is known, it begins with
/// `≥`.
pub fn smallest(tally: Tally, ascii: bool) -> Option<String> {
    let Extremes { min, min_exact, .. } = range(tally)?;
    if min_exact {
        Some(nearest(min))
    } else {
        least(tally, ascii)
    }
}

/// Returns the largest number that a value received, or the highest level of a gauge. If only a bound is known, it begins with
/// `≤`.
pub fn most(tally: Tally, ascii: bool) -> Option<String> {
    let Extremes { max, max_exact, .. } = range(tally)?;
    let at_most = if ascii { "<=" } else { "≤" };
    Some(match max_exact {
        true => nearest(max),
        false => bounded(at_most, max, true),
    })
}

/// Returns the sign that marks a lower bound.
pub fn at_least(ascii: bool) -> &'static str {
    if ascii { ">=" } else { "≥" }
}

/// Returns the smallest and the largest number of a value, or the lowest and the highest level of a gauge.
fn range(tally: Tally) -> Option<Extremes<i128>> {
    fn wide<T: Into<i128>>(range: Extremes<T>) -> Extremes<i128> {
        Extremes {
            min: range.min.into(),
            max: range.max.into(),
            min_exact: range.min_exact,
            max_exact: range.max_exact,
        }
    }
    match tally.level() {
        Some(level) => Some(wide(level.range)),
        None => tally.range().map(wide),
    }
}

fn nearest(n: i128) -> String {
    with_sign(n, u64::try_from(n.unsigned_abs()).unwrap_or(u64::MAX))
}

/// Formats a bound and the sign before it with three significant digits, or with two if three do not fit. In ASCII, a negative
/// bound may take one cell more.
fn bounded(sign: &str, n: i128, up: bool) -> String {
    let text = |digits| format!("{sign}{}", bound(n, up, digits));
    let three = text(3);
    if three.chars().count() <= CELLS[usize::from(up)] {
        return three;
    }
    // With two significant digits, the last zero in `1.30k` or `13.0k` carries no information, so it is removed.
    let two = text(2);
    match two.rfind('0') {
        Some(at) if two.contains('.') => format!("{}{}", two[..at].trim_end_matches('.'), &two[at + 1..]),
        _ => two,
    }
}

/// Formats a bound with at most `digits` significant digits. It is rounded outward, so that it remains a bound.
fn bound(n: i128, up: bool, digits: u32) -> String {
    let size = u64::try_from(n.unsigned_abs()).unwrap_or(u64::MAX);
    let unit = 10u64.pow((size.checked_ilog10().unwrap_or(0) + 1).saturating_sub(digits));
    let away = up == (n >= 0) && size % unit > 0;
    with_sign(n, (size / unit + u64::from(away)).saturating_mul(unit))
}

fn with_sign(n: i128, size: u64) -> String {
    let sign = if n < 0 { "-" } else { "" };
    format!("{sign}{}", number::count(size))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tickscope_format::snapshot::Level;

    use super::*;

    fn gauge(last: i64, min: i64, max: i64) -> Tally {
        let range = Extremes::of(min).and(Extremes::of(max));
        let level = Level {
            last,
            set_tick: 1,
            range,
        };
        Tally::Gauge { level: Some(level) }
    }

    #[test]
    fn levels_have_signs_and_values_means() {
        let of = |tally: Tally| [main(tally, number::count), least(tally, false), most(tally, true)];
        let texts = |texts: [&str; 3]| texts.map(|text| Some(text.to_string()));
        assert_eq!(of(gauge(-31, -12_345, 7)), texts(["-31", "≥-13k", "7"]));
        assert_eq!(of(gauge(0, 0, 1_000)), texts(["0", "≥0", "1.00k"]));
        let range = Extremes {
            max_exact: false,
            ..Extremes::of(90_111)
        };
        let value = Tally::Value {
            sum: 10,
            range: Some(range),
        };
        assert_eq!(of(value), texts(["10", "≥90.1k", "<=90.2k"]));
        let ascii = |min: i64| least(gauge(min, min, min), true).unwrap();
        let bounds = [-1_340, -13_401, -134_001, -9_999, 1_349];
        assert_eq!(
            bounds.map(ascii),
            [">=-1.4k", ">=-14k", ">=-140k", ">=-10k", ">=1.3k"]
        );
        assert_eq!((mean(value, 4), mean(value, 0)), (Some("2.50".into()), None));
        let counter = Tally::Counter { sum: 5 };
        assert_eq!(of(counter), [Some("5".into()), None, None]);
        assert_eq!(
            (smallest(value, true), smallest(counter, true)),
            (Some("90.1k".into()), None)
        );
        assert_eq!(mean(counter, 4), None);
        assert_eq!(main(Tally::Gauge { level: None }, number::count), None);
    }

    proptest! {
        #[test]
        fn no_text_outgrows_its_column(last in any::<i64>(), shift in 0u32..63, exact: bool) {
            let last = last >> shift;
            let Tally::Gauge { level: Some(mut level) } = gauge(last, last, last) else { unreachable!() };
            level.range.max_exact = exact;
            let tally = Tally::Gauge { level: Some(level) };
            let cells = |text: Option<String>| text.unwrap().chars().count();
            prop_assert!(cells(main(tally, number::count)) <= 6);
            for ascii in [false, true] {
                prop_assert!(cells(least(tally, ascii)) <= 7, "{:?}", least(tally, ascii));
                prop_assert!(cells(most(tally, ascii)) <= 7, "{:?}", most(tally, ascii));
            }
        }
    }
}
