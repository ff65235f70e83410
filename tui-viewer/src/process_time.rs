//! Times of the clock as text. They stand still, so an idle screen has nothing to write.

const DAY_S: i64 = 86_400;

/// The offset of local time from UTC in seconds, where it is known.
pub(crate) type UtcOffset = Option<i32>;

/// `14:02:11`, or `14:02:11 UTC` where the local time is not known.
pub(crate) fn clock_time(unix_ns: u64, offset: UtcOffset) -> String {
    let (_, seconds) = split(unix_ns, offset);
    let zone = if offset.is_some() { "" } else { " UTC" };
    format!(
        "{:02}:{:02}:{:02}{zone}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// `20261120-140211`, for names of files.
pub(crate) fn stamp(unix_ns: u64, offset: UtcOffset) -> String {
    let (days, s) = split(unix_ns, offset);
    let (year, month, day) = civil(days);
    format!(
        "{year:04}{month:02}{day:02}-{:02}{:02}{:02}",
        s / 3600,
        s / 60 % 60,
        s % 60
    )
}

/// A running time: `02:14`, `1:02:14`, `3d 01:02`.
pub(crate) fn running(ns: u64) -> String {
    let s = ns / 1_000_000_000;
    match s {
        0..3_600 => format!("{:02}:{:02}", s / 60, s % 60),
        3_600..86_400 => format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60),
        _ => format!("{}d {:02}:{:02}", s / 86_400, s / 3600 % 24, s / 60 % 60),
    }
}

fn split(unix_ns: u64, offset: UtcOffset) -> (i64, i64) {
    let seconds = (unix_ns / 1_000_000_000) as i64 + i64::from(offset.unwrap_or(0));
    (seconds.div_euclid(DAY_S), seconds.rem_euclid(DAY_S))
}

/// Year, month and day of a day since 1970, by the proleptic Gregorian calendar in eras of 400 years.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times() {
        let ns = |s: u64| s * 1_000_000_000;
        assert_eq!(stamp(ns(0), None), "19700101-000000");
        assert_eq!(stamp(ns(951_827_696), None), "20000229-123456");
        assert_eq!(stamp(ns(1_795_197_600), Some(3600)), "20261120-190000");
        assert_eq!(clock_time(ns(951_827_696), None), "12:34:56 UTC");
        assert_eq!(clock_time(ns(10), Some(-3600)), "23:00:10");
        assert_eq!(running(ns(134)), "02:14");
        assert_eq!(running(ns(3_734)), "1:02:14");
        assert_eq!(running(ns(3 * 86_400 + 3_720)), "3d 01:02");
    }
}
