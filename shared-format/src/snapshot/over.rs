//! Thresholds above which a call of a watched function counts as slow.

use std::fmt;
use std::str::FromStr;

use bincode::{Decode, Encode};

/// Which calls of a watched function count as slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub enum Over {
    /// The calls above the widest gap between the durations of the slowest 10 % of calls, or the slowest 1 % of calls
    /// if there is no such gap.
    #[default]
    Tail,
    /// The slowest 1 % of all calls.
    P99,
    /// The slowest 0.1 % of all calls.
    P999,
    /// Calls of at least this many nanoseconds; never 0.
    Ns(u64),
}

/// Maximum threshold in nanoseconds: one year.
const NS_MAX: u64 = 365 * 24 * 3_600 * 1_000_000_000;

impl Over {
    /// Returns the code that stands for the condition in requests. It is below 2^55.
    pub(crate) fn code(self) -> u64 {
        match self {
            Self::Tail => 0,
            Self::P99 => 1,
            Self::P999 => 2,
            Self::Ns(ns) => ns.saturating_add(2),
        }
    }

    /// Returns the condition with this code, or `None` if the code is too large.
    pub(crate) fn of_code(code: u64) -> Option<Self> {
        match code {
            0 => Some(Self::Tail),
            1 => Some(Self::P99),
            2 => Some(Self::P999),
            _ => Some(Self::Ns(code - 2)).filter(|_| code - 2 <= NS_MAX),
        }
    }

    /// Returns the share of all calls that are slow, or `None` if the condition does not specify a share.
    pub fn share(self) -> Option<f64> {
        match self {
            Self::P99 => Some(0.01),
            Self::P999 => Some(0.001),
            Self::Tail | Self::Ns(_) => None,
        }
    }
}

/// Writes what [`FromStr`] reads: `tail`, `p99`, `p99.9`, or a duration such as `5ms`.
impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Tail => f.write_str("tail"),
            Self::P99 => f.write_str("p99"),
            Self::P999 => f.write_str("p99.9"),
            Self::Ns(ns) => {
                let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
                let unit = units.into_iter().find(|(_, unit)| ns % unit == 0);
                let (name, unit) = unit.unwrap_or(("ns", 1));
                write!(f, "{}{name}", ns / unit)
            }
        }
    }
}

/// Reads `tail`, `p99`, `p99.9`, or a duration such as `2.5ms`. This includes everything that [`Display`](fmt::Display)
/// writes.
///
/// ```
/// use tickscope_format::snapshot::Over;
///
/// assert_eq!("p99".parse(), Ok(Over::P99));
/// assert_eq!("2.5ms".parse(), Ok(Over::Ns(2_500_000)));
/// ```
///
/// # Errors
/// A sentence that quotes the text and says what is accepted.
impl FromStr for Over {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "tail" => return Ok(Self::Tail),
            "p99" => return Ok(Self::P99),
            "p99.9" => return Ok(Self::P999),
            _ => {}
        }
        let wanted = || {
            format!(
                "{text:?} is not a threshold; wanted: tail, p99, p99.9, or a duration such as 5ms or 800us"
            )
        };
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match &text[digits.len()..] {
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            _ => return Err(wanted()),
        };
        let number: f64 = digits.parse().map_err(|_| wanted())?;
        let ns = number * unit;
        if !(1.0..=NS_MAX as f64).contains(&ns) {
            return Err(format!("{text:?} is out of range; wanted: 1ns to a year"));
        }
        Ok(Self::Ns(ns.round() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_read_as_they_are_written() {
        for over in [
            Over::Tail,
            Over::P99,
            Over::P999,
            Over::Ns(1),
            Over::Ns(2_500_000),
            Over::Ns(NS_MAX),
        ] {
            assert_eq!(over.to_string().parse(), Ok(over));
            assert_eq!(Over::of_code(over.code()), Some(over));
        }
        assert_eq!("2.5ms".parse(), Ok(Over::Ns(2_500_000)));
        assert_eq!(Over::of_code(u64::MAX), None);
    }

    #[test]
    fn an_error_names_what_was_found_and_what_is_wanted() {
        for text in [
            "", "p98", "5", "5 ms", "-1ms", "ms", "nanms", "1e30s", "0s", "5m\u{e9}",
        ] {
            let error = text.parse::<Over>().unwrap_err();
            assert!(error.contains(&format!("{text:?}")), "{error}");
            assert!(error.contains("wanted"), "{error}");
        }
    }
}
