//! Parsers for arguments that `tickscope` and `cargo tickscope` share.

use std::time::Duration;

use tickscope_format::pattern::Pattern;

/// Parses a pattern for function names.
///
/// # Errors
/// The text is empty, or contains control characters.
pub fn pattern(text: &str) -> Result<Pattern, String> {
    Pattern::typed(text).map_err(|_| {
        let found = match text.is_empty() {
            true => "nothing",
            false => "control characters",
        };
        format!("wanted a name or a pattern like parse, book::insert or alloc::*; found {found}")
    })
}

/// Describes the valid durations, for error messages.
const WANTED: &str = "wanted a duration like 10, 10s, 500ms, 2m";

/// Parses a duration: `10` and `10s` are seconds, `500ms` are milliseconds, `2m` are minutes, and `1h` are hours.
///
/// # Errors
/// The text is not a duration, or the duration is too long.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(WANTED.into()),
    };
    let number: f64 = digits.parse().map_err(|_| WANTED)?;
    Duration::try_from_secs_f64(number * factor).map_err(|_| format!("out of range; {WANTED}"))
}

/// Parses a duration that must be between `least` and `most`, which are durations in the same notation.
///
/// # Errors
/// The text is not a duration, or the duration is outside this range.
pub fn duration_within(text: &str, least: &str, most: &str) -> Result<Duration, String> {
    let time = duration(text)?;
    match (duration(least)?..=duration(most)?).contains(&time) {
        true => Ok(time),
        false => Err(format!("wanted {least} to {most}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("10"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        for bad in ["", "ms", "-1", "10x", "1e999", "abc"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
        let within = |text| duration_within(text, "10ms", "1h");
        assert_eq!(within("3600"), Ok(Duration::from_secs(3600)));
        for bad in ["9ms", "3601"] {
            assert_eq!(within(bad), Err("wanted 10ms to 1h".into()), "{bad}");
        }
    }
}
