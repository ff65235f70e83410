//! Formats times and durations, and parses clock times. Unlike an age, a clock time on the screen stays correct as time
//! passes, so an idle screen need not be redrawn.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tickscope_report::clock;

const DAY_S: i64 = 86_400;

/// The offset of local time from UTC in seconds, if it is known.
pub type UtcOffset = Option<i32>;

/// Returns the current time in nanoseconds since the Unix epoch.
pub fn now_unix_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, nanos)
}

/// Formats a time as `14:02:11`, or as `14:02:11 UTC` if the local time zone is unknown.
pub fn clock_time(unix_ns: u64, offset: UtcOffset) -> String {
    with_zone(of_day(unix_ns, offset), offset)
}

/// Formats a time as `14:02:11.3`, to the tenth of a second.
pub fn clock_tenths(unix_ns: u64, offset: UtcOffset) -> String {
    let tenths = unix_ns % 1_000_000_000 / 100_000_000;
    with_zone(format!("{}.{tenths}", of_day(unix_ns, offset)), offset)
}

fn of_day(unix_ns: u64, offset: UtcOffset) -> String {
    clock::of_day(split(unix_ns, offset).1)
}

fn with_zone(time: String, offset: UtcOffset) -> String {
    let zone = if offset.is_some() { "" } else { " UTC" };
    time + zone
}

/// Returns the last moment at or before `unix_ns` at which the local clock showed `of_day`, in seconds since midnight.
pub(crate) fn last_time_of_day(unix_ns: u64, of_day: u32, offset: UtcOffset) -> Option<u64> {
    let (_, now) = split(unix_ns, offset);
    let since = (now - i64::from(of_day)).rem_euclid(DAY_S) as u64;
    (unix_ns / 1_000_000_000)
        .checked_sub(since)?
        .checked_mul(1_000_000_000)
}

/// Parses `14:02:11` or `14:02` into seconds since midnight.
pub(crate) fn time_of_day(text: &str) -> Option<u32> {
    let mut parts = text.split(':').map(|part| {
        let digits = (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u32>().ok().filter(|_| digits)
    });
    let (hours, minutes) = (parts.next()??, parts.next()??);
    let seconds = parts.next().unwrap_or(Some(0))?;
    let is_one = hours < 24 && minutes < 60 && seconds < 60 && parts.next().is_none();
    is_one.then_some(hours * 3600 + minutes * 60 + seconds)
}

/// Formats a time as `20261120-140211`, for use in file names.
pub fn stamp(unix_ns: u64, offset: UtcOffset) -> String {
    let (days, s) = split(unix_ns, offset);
    let (year, month, day) = clock::civil(days);
    format!(
        "{year:04}{month:02}{day:02}-{:02}{:02}{:02}",
        s / 3600,
        s / 60 % 60,
        s % 60
    )
}

/// Formats a running time: `02:14`, `1:02:14`, `3d 01:02`.
pub fn running(ns: u64) -> String {
    let s = ns / 1_000_000_000;
    match s {
        0..3_600 => format!("{:02}:{:02}", s / 60, s % 60),
        3_600..86_400 => format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60),
        _ => format!("{}d {:02}:{:02}", s / 86_400, s / 3600 % 24, s / 60 % 60),
    }
}

/// Formats an age in one unit: `12 s`, `3 min`, `5 h`, `2 days`.
pub fn age(ns: u64) -> String {
    match ns / 1_000_000_000 {
        s @ 0..120 => format!("{s} s"),
        s @ 120..7_200 => format!("{} min", s / 60),
        s @ 7_200..172_800 => format!("{} h", s / 3_600),
        s => format!("{} days", s / 86_400),
    }
}

/// Converts a duration to nanoseconds; a duration that is too long for `u64` becomes `u64::MAX`.
pub fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Formats a duration in seconds: `3.2 s`, or without tenths from 100 s upwards: `134 s`.
pub fn seconds(ns: u64) -> String {
    match ns as f64 / 1e9 {
        long if long >= 99.95 => format!("{long:.0} s"),
        short => format!("{short:.1} s"),
    }
}

fn split(unix_ns: u64, offset: UtcOffset) -> (i64, i64) {
    clock::split(unix_ns, offset.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_told_in_one_unit() {
        let ages = [0, 119, 120, 7_199, 7_200, 172_799, 172_800].map(|s| age(s * 1_000_000_000));
        assert_eq!(
            ages,
            ["0 s", "119 s", "2 min", "119 min", "2 h", "47 h", "2 days"]
        );
    }

    #[test]
    fn times_of_the_day_are_read_and_found() {
        assert_eq!(time_of_day("14:02:11"), Some(50_531));
        assert_eq!(time_of_day("9:05"), Some(32_700));
        for bad in [
            "", "14", "24:00", "1:60", "1:1:60", "1:2:3:4", "+1:02", "1:002", "a:b",
        ] {
            assert_eq!(time_of_day(bad), None, "{bad}");
        }
        let noon_ns = (20_000 * 86_400 + 43_200) * 1_000_000_000;
        for (offset, of_day, back_s) in [
            (Some(0), 43_200, 0),
            (Some(0), 43_199, 1),
            (Some(0), 43_201, 86_399),
            (Some(-3_600), 39_600, 0),
            (None, 0, 43_200),
        ] {
            let found = last_time_of_day(noon_ns + 5, of_day, offset);
            assert_eq!(found, Some(noon_ns - back_s * 1_000_000_000), "{of_day}");
        }
        assert_eq!(last_time_of_day(5, 1, Some(0)), None);
    }

    #[test]
    fn dates_and_times() {
        let ns = |s: u64| s * 1_000_000_000;
        assert_eq!(stamp(ns(0), None), "19700101-000000");
        assert_eq!(stamp(ns(951_827_696), None), "20000229-123456");
        assert_eq!(stamp(ns(1_795_197_600), Some(3600)), "20261120-190000");
        assert_eq!(clock_time(ns(951_827_696), None), "12:34:56 UTC");
        assert_eq!(clock_time(ns(10), Some(-3600)), "23:00:10");
        assert_eq!(clock_tenths(ns(10) + 499_999_999, Some(-3600)), "23:00:10.4");
        assert_eq!(clock_tenths(ns(951_827_696), None), "12:34:56.0 UTC");
        assert_eq!(running(ns(134)), "02:14");
        assert_eq!(running(ns(3_734)), "1:02:14");
        assert_eq!(running(ns(3 * 86_400 + 3_720)), "3d 01:02");
    }
}
