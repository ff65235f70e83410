//! Dates and times in UTC. This crate never reads the system's time zone.

const DAY_S: i64 = 86_400;

/// Days in 400 years, after which the calendar repeats.
const DAYS_OF_ERA: i64 = 146_097;

/// Splits a time into days since the Unix epoch and seconds since midnight, in a time zone `offset_s` seconds east of UTC.
pub fn split(unix_ns: u64, offset_s: i32) -> (i64, i64) {
    let seconds = (unix_ns / 1_000_000_000) as i64 + i64::from(offset_s);
    (seconds.div_euclid(DAY_S), seconds.rem_euclid(DAY_S))
}

/// Formats a number of seconds since midnight, such as `14:02:11`.
pub fn of_day(second: i64) -> String {
    format!("{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)
}

/// Formats nanoseconds since the Unix epoch as a time of day such as `14:02:11.250`, in a time zone `utc_offset_s` seconds east
/// of UTC. If the offset is `None`, the time is in UTC and ends in `Z`.
pub(crate) fn time_of_day(unix_ns: u64, utc_offset_s: Option<i32>) -> String {
    let (_, second) = split(unix_ns, utc_offset_s.unwrap_or(0));
    let zone = if utc_offset_s.is_some() { "" } else { "Z" };
    let millis = unix_ns / 1_000_000 % 1_000;
    format!("{}.{millis:03}{zone}", of_day(second))
}

/// Formats nanoseconds since the Unix epoch, such as `2025-11-13 02:15:34 UTC`. Files use UTC, so that they do not depend on a
/// time zone.
pub(super) fn utc(unix_ns: u64) -> String {
    let (day, second) = split(unix_ns, 0);
    let (year, month, date) = civil(day);
    format!("{year:04}-{month:02}-{date:02} {} UTC", of_day(second))
}

/// Converts days since the Unix epoch to year, month and day of the month. In the computation, years begin in March, so that a
/// leap day is the last day of a year (Howard Hinnant's `civil_from_days`).
pub fn civil(day: i64) -> (i64, i64, i64) {
    // Days since the first of March of the year 0.
    let day = day + 719_468;
    let (era, day) = (day.div_euclid(DAYS_OF_ERA), day.rem_euclid(DAYS_OF_ERA));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_763_000_134, "2025-11-13 02:15:34 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
            (18_446_744_073, "2554-07-21 23:34:33 UTC"),
        ] {
            assert_eq!(utc(seconds * 1_000_000_000), text);
        }
    }
}
