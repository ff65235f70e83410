//! Formats numbers to fit their column. Durations take at most 6 cells, counts 5, percentages 6.
//!
//! Except for percentages, the arithmetic is in integers, so rounding is exact. A value that would round up to `1000µs` is
//! shown as `1.00ms`.

use tickscope_analysis::measure::Dimension;

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
const S: u64 = 1_000 * MS;
const MINUTE: u64 = 60 * S;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const YEAR: u64 = 365 * DAY;

/// Durations up to this many seconds are shown in seconds, as in `201s`. Longer ones are easier to read in minutes, as in
/// `9m21s`.
const LAST_SECONDS: u64 = 299;

/// Formats a duration in nanoseconds, in at most 6 cells: `412ns`, `1.90µs`, `41.3s`, `9m21s`, `3h04m`, `12d3h`, `128d`, `2.50y`.
pub fn duration(ns: u64) -> String {
    if ns < US {
        return format!("{ns}ns");
    }
    three_digits(ns, US, "µs", 999)
        .or_else(|| three_digits(ns, MS, "ms", 999))
        .or_else(|| three_digits(ns, S, "s", LAST_SECONDS))
        .unwrap_or_else(|| long_duration(ns))
}

/// Formats a duration in nanoseconds with two significant digits, the precision of a histogram, in at most 6 cells:
/// `17ns`, `410ns`, `1.9µs`, `41s`. From about five minutes on, the result is the same as from [`duration`].
pub fn two_digits(ns: u64) -> String {
    let unit = 10u64.pow(ns.checked_ilog10().unwrap_or(0).saturating_sub(1));
    let two = rounded(ns, unit).saturating_mul(unit);
    let in_unit = |unit: u64, name: &str| match two / unit {
        whole @ 0..10 => format!("{whole}.{}{name}", two % unit / (unit / 10)),
        whole => format!("{whole}{name}"),
    };
    match two {
        0..US => format!("{two}ns"),
        US..MS => in_unit(US, "µs"),
        MS..S => in_unit(MS, "ms"),
        _ if two / S <= LAST_SECONDS => in_unit(S, "s"),
        _ => duration(ns),
    }
}

/// Formats a duration of about five minutes or more, rounded to the last unit shown. Up to 100 days it has two units, beyond that
/// only days or years.
fn long_duration(ns: u64) -> String {
    let seconds = rounded(ns, S);
    if seconds < 3_600 {
        return format!("{}m{:02}s", seconds / 60, seconds % 60);
    }
    let minutes = rounded(ns, MINUTE);
    if minutes < 24 * 60 {
        return format!("{}h{:02}m", minutes / 60, minutes % 60);
    }
    let hours = rounded(ns, HOUR);
    if hours < 100 * 24 {
        return format!("{}d{}h", hours / 24, hours % 24);
    }
    let days = rounded(ns, DAY);
    if days < 365 {
        return format!("{days}d");
    }
    // The longest duration in a `u64` is 584.9 years. It must not be rounded up to 585 years, which no `u64` can hold.
    three_digits(ns, YEAR, "y", 584).unwrap_or_else(|| "584y".to_string())
}

/// Formats a count in at most 5 cells: `999`, `1.34k`, `8.41M`, `18.4E`.
pub fn count(n: u64) -> String {
    if n < 1_000 {
        return n.to_string();
    }
    let units = ["k", "M", "G", "T", "P", "E"].into_iter().zip(1..);
    units
        .map(|(name, power)| (name, 1_000_u64.pow(power)))
        .find_map(|(name, unit)| three_digits(n, unit, name, 999))
        .unwrap_or_else(|| n.to_string())
}

/// Formats bytes in at most 6 cells: `999B`, `1.34kB`, `18.4EB`. A kilobyte is 1 000 bytes.
pub fn bytes(n: u64) -> String {
    count(n) + "B"
}

/// Formats a value in the unit of its measure, in at most 6 cells.
pub fn value(n: u64, dimension: Dimension) -> String {
    match dimension {
        Dimension::Time => duration(n),
        Dimension::Count => count(n),
        Dimension::Bytes => bytes(n),
    }
}

/// Formats the mean value per call in at most 6 cells. A mean time is first rounded down to whole nanoseconds.
pub fn mean(n: u64, calls: u64, dimension: Dimension) -> String {
    match dimension {
        Dimension::Time => duration(n / calls.max(1)),
        Dimension::Count => quotient(n, calls),
        Dimension::Bytes => quotient(n, calls) + "B",
    }
}

/// Formats a share from 0 to 1 in at most 6 cells, as `0.0%` to `100.0%`. NaN and negative shares give `0.0%`.
pub fn percent(share: f64) -> String {
    if share > 0.0 {
        format!("{:.1}%", share.min(1.0) * 100.0)
    } else {
        "0.0%".to_string()
    }
}

/// Formats `n / per` in at most 5 cells: `0`, `<0.01`, `0.25`, `1.00`, `12.3`. From 100 on it is written like a count.
pub fn quotient(n: u64, per: u64) -> String {
    // 100 times any 64-bit number fits into 128 bits.
    let times = |parts: u128| (u128::from(n) * parts + u128::from(per) / 2) / u128::from(per.max(1));
    match (times(100), times(10)) {
        _ if n == 0 => "0".into(),
        (0, _) => "<0.01".into(),
        (hundredths @ ..=999, _) => format!("{}.{:02}", hundredths / 100, hundredths % 100),
        (_, tenths @ ..=999) => format!("{}.{}", tenths / 10, tenths % 10),
        _ => count(rounded(n, per.max(1))),
    }
}

/// Replaces `µ`, which is not in ASCII, as in `22.1us`.
pub fn ascii(text: String) -> String {
    // The micro sign and the Greek letter mu look the same.
    text.replace(['\u{b5}', '\u{3bc}'], "u")
}

/// Returns a formatted number unchanged, or in ASCII if `is_ascii` is true.
pub(crate) fn in_charset(text: String, is_ascii: bool) -> String {
    if is_ascii { ascii(text) } else { text }
}

/// Formats `value` with three significant digits in a unit of size `unit`, called `name`. Returns `None` if it rounds to more
/// than `last` units.
fn three_digits(value: u64, unit: u64, name: &str, last: u64) -> Option<String> {
    let hundredths = rounded(value, unit / 100);
    if hundredths <= 999 {
        return Some(format!("{}.{:02}{name}", hundredths / 100, hundredths % 100));
    }
    let tenths = rounded(value, unit / 10);
    if tenths <= 999 {
        return Some(format!("{}.{}{name}", tenths / 10, tenths % 10));
    }
    let whole = rounded(value, unit);
    (whole <= last).then(|| format!("{whole}{name}"))
}

/// Divides and rounds to the nearest whole number; halves are rounded up. It cannot overflow.
///
/// # Panics
/// If `unit` is 0.
pub fn rounded(value: u64, unit: u64) -> u64 {
    value / unit + u64::from(value % unit >= unit - unit / 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cells(text: &str) -> usize {
        text.chars().count()
    }

    #[test]
    fn known_durations() {
        let table = [
            (0, "0ns"),
            (1, "1ns"),
            (412, "412ns"),
            (999, "999ns"),
            (1_000, "1.00µs"),
            (1_900, "1.90µs"),
            (9_994, "9.99µs"),
            (9_995, "10.0µs"),
            (22_100, "22.1µs"),
            (99_950, "100µs"),
            (999_499, "999µs"),
            (999_500, "1.00ms"),
            (1_840_000, "1.84ms"),
            (999_500_000, "1.00s"),
            (41_300_000_000, "41.3s"),
            (201_000_000_000, "201s"),
            (299_400_000_000, "299s"),
            (299_500_000_000, "5m00s"),
            (561_000_000_000, "9m21s"),
            (3_599_400_000_000, "59m59s"),
            (3_599_500_000_000, "1h00m"),
            (11_040_000_000_000, "3h04m"),
            (24 * HOUR - 31 * S, "23h59m"),
            (24 * HOUR - 30 * S, "1d0h"),
            (12 * DAY + 3 * HOUR, "12d3h"),
            (100 * DAY - HOUR, "99d23h"),
            (100 * DAY - HOUR / 2, "100d"),
            (364 * DAY, "364d"),
            (365 * DAY - HOUR, "1.00y"),
            (912 * DAY, "2.50y"),
            (123 * YEAR, "123y"),
            (u64::MAX, "584y"),
        ];
        for (ns, text) in table {
            assert_eq!(duration(ns), text, "{ns}");
        }
    }

    #[test]
    fn known_counts_and_percents() {
        let counts = [
            (0, "0"),
            (999, "999"),
            (1_340, "1.34k"),
            (9_995, "10.0k"),
            (999_499, "999k"),
            (999_500, "1.00M"),
            (8_410_000, "8.41M"),
            (u64::MAX, "18.4E"),
        ];
        for (n, text) in counts {
            assert_eq!(count(n), text);
        }
        let shares = [
            (0.0, "0.0%"),
            (-0.0, "0.0%"),
            (-1.0, "0.0%"),
            (f64::NAN, "0.0%"),
            (0.0004, "0.0%"),
            (0.154, "15.4%"),
            (0.9996, "100.0%"),
            (1.0, "100.0%"),
            (f64::INFINITY, "100.0%"),
        ];
        for (share, text) in shares {
            assert_eq!(percent(share), text);
        }
        assert_eq!(ascii(duration(22_100)), "22.1us");
        assert_eq!([999, 1_340].map(bytes), ["999B", "1.34kB"]);
        assert_eq!(mean(10, 4, Dimension::Count), "2.50");
        assert_eq!(mean(10, 4, Dimension::Bytes), "2.50B");
        assert_eq!(mean(10, 0, Dimension::Time), "10ns");
    }

    #[test]
    fn known_durations_of_two_digits() {
        let table = [
            (0, "0ns"),
            (7, "7ns"),
            (17, "17ns"),
            (412, "410ns"),
            (994, "990ns"),
            (995, "1.0µs"),
            (1_949, "1.9µs"),
            (9_950, "10µs"),
            (136_000, "140µs"),
            (996_000, "1.0ms"),
            (41_300_000_000, "41s"),
            (201_000_000_000, "200s"),
            (561_000_000_000, "9m21s"),
        ];
        for (ns, text) in table {
            assert_eq!(two_digits(ns), text, "{ns}");
        }
    }

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

    /// Returns numbers of which every order of magnitude is equally likely. `any::<u64>()` alone would hardly ever be less than a
    /// second.
    fn any_magnitude() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0u32..64).prop_map(|(n, shift)| n >> shift)
    }

    /// Parses the text of a duration into nanoseconds.
    fn parsed(text: &str) -> f64 {
        let units = [
            ("ns", 1),
            ("µs", US),
            ("ms", MS),
            ("s", S),
            ("m", MINUTE),
            ("h", HOUR),
            ("d", DAY),
            ("y", YEAR),
        ];
        let mut rest = text;
        let mut sum = 0.0;
        while !rest.is_empty() {
            let end = rest.find(|c: char| c.is_alphabetic()).expect("a unit");
            let number: f64 = rest[..end].parse().expect("a number");
            rest = &rest[end..];
            let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
            let unit = units.iter().find(|(name, _)| *name == &rest[..end]);
            sum += number * unit.expect("a known unit").1 as f64;
            rest = &rest[end..];
        }
        sum
    }

    proptest! {
        #[test]
        fn no_text_outgrows_its_column(n in any_magnitude(), share in any::<f64>()) {
            prop_assert!(cells(&duration(n)) <= 6, "{}", duration(n));
            prop_assert!(cells(&ascii(duration(n))) <= 6);
            prop_assert!(cells(&two_digits(n)) <= 6, "{}", two_digits(n));
            prop_assert!(cells(&count(n)) <= 5, "{}", count(n));
            prop_assert!(cells(&bytes(n)) <= 6, "{}", bytes(n));
            prop_assert!(cells(&percent(share)) <= 6);
        }

        #[test]
        fn quotients_take_five_cells(n in any_magnitude(), per in any_magnitude()) {
            prop_assert!(quotient(n, per.max(1)).len() <= 5);
            for dimension in [Dimension::Time, Dimension::Count, Dimension::Bytes] {
                prop_assert!(cells(&mean(n, per, dimension)) <= 6);
            }
        }

        #[test]
        fn a_duration_says_what_it_was_given(n in any_magnitude()) {
            let text = duration(n);
            let error = (parsed(&text) - n as f64).abs();
            prop_assert!(error <= n as f64 * 0.0211, "{n} as {text}");
            for bad in ["1000", "m60s", "h60m", "d24h", "365d"] {
                prop_assert!(!text.contains(bad), "{n} as {text}");
            }
            prop_assert!(!text.starts_with("60m"), "{n} as {text}");
        }

        #[test]
        fn two_digits_are_within_a_twentieth(n in any_magnitude()) {
            let text = two_digits(n);
            prop_assert!((parsed(&text) - n as f64).abs() <= n as f64 * 0.0501, "{n} as {text}");
        }

        #[test]
        fn a_longer_duration_never_looks_shorter(a in any_magnitude(), b in any_magnitude()) {
            let (a, b) = (a.min(b), a.max(b));
            prop_assert!(parsed(&duration(a)) <= parsed(&duration(b)));
        }
    }
}
