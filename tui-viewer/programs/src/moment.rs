//! Moments of a recording as typed by the user, such as `12s`, `-5s` or `14:02:11`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use tickscope_command::values::duration;

use crate::clock_time::time_of_day;

/// Moment of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Time after the beginning of the recording.
    After(Duration),
    /// Time before the end of the recording.
    Before(Duration),
    /// Local time of day in seconds since midnight: the last moment before the end of the recording at which the clock showed it.
    Clock(u32),
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::After(time) => write!(f, "{}s", time.as_secs_f64()),
            Self::Before(time) => write!(f, "-{}s", time.as_secs_f64()),
            Self::Clock(of_day) => {
                let (hours, minutes, seconds) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
                write!(f, "{hours:02}:{minutes:02}:{seconds:02}")
            }
        }
    }
}

impl FromStr for When {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WANTED: &str = "wanted a time like 12s, 1.5s, 2m, -5s before the end, or 14:02:11";
        if text.contains(':') {
            return time_of_day(text).map(Self::Clock).ok_or(WANTED);
        }
        let (text, before) = match text.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        if text.starts_with(['-', '+']) {
            return Err(WANTED);
        }
        let time = duration(text).map_err(|_| WANTED)?;
        Ok(if before {
            Self::Before(time)
        } else {
            Self::After(time)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let seconds = Duration::from_secs;
        for (text, when) in [
            ("12s", When::After(seconds(12))),
            ("0", When::After(seconds(0))),
            ("2m", When::After(seconds(120))),
            ("-5s", When::Before(seconds(5))),
            ("14:02:11", When::Clock(50_531)),
            ("14:02", When::Clock(50_520)),
        ] {
            assert_eq!(text.parse(), Ok(when), "{text}");
            assert_eq!(when.to_string().parse(), Ok(when), "{when}");
        }
        for bad in [
            "", "-", "--5s", "-+5s", "+5s", "25:00", "1:2:3:4", "noon", "5x", "1e999",
        ] {
            assert!(bad.parse::<When>().is_err(), "{bad}");
        }
    }
}
