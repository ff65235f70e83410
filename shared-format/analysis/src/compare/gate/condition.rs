//! A condition in the words of the user: `calls > 1%`, `time(parse) > 2ms`, `p99 > 25%`.

use std::fmt;
use std::str::FromStr;

use crate::compare::change::Quantity;
use crate::measure::{Dimension, Measure};

/// Error message for a text that is not a condition.
const WANTED: &str = "wanted calls > 1%, calls > 0, time > 10%, self > 2ms, p99 > 25%, max > 2ms, waiting > 10%, allocations > 0, bytes > 1%, or for one function calls(parse) > 0";

/// How much a value may grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// Limit as a percentage of the value before the change.
    Percent(f64),
    /// Limit in the unit of the value: calls, nanoseconds, bytes or another unit.
    Absolute(f64),
}

/// A condition under which a comparison fails: a quantity has grown too much.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Quantity that is compared with the limit.
    pub what: Quantity,
    /// Measure by which the builds must be compared.
    pub measure: Measure,
    /// Name of the functions to judge; `None` for all functions.
    pub function: Option<String>,
    /// Whether growth that is equal to the limit also fails (`>=`).
    pub or_equal: bool,
    /// Limit on the growth of `what`.
    pub growth: Growth,
    text: String,
}

impl Condition {
    /// Returns whether a count has grown beyond the limit.
    pub fn is_exceeded(&self, before: f64, after: f64) -> bool {
        let grown = after - before;
        // Multiply the growth by 100 instead of dividing the percentage by 100, because the division would cause rounding errors
        // even in whole numbers.
        let (grown, least) = match self.growth {
            Growth::Percent(percent) => (grown * 100.0, percent * before),
            Growth::Absolute(amount) => (grown, amount),
        };
        grown > least || (self.or_equal && grown == least)
    }

    /// Returns how large a value may be after the change, given its value before the change.
    pub fn allowed(&self, before: f64) -> f64 {
        match self.growth {
            Growth::Percent(percent) => before * (1.0 + percent / 100.0),
            Growth::Absolute(amount) => before + amount,
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Condition {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        // The limit begins at the last `>`. The name of a function may contain others, as in `<A as B>::c`.
        let at = text.rfind('>').ok_or(WANTED)?;
        let (left, right) = (text[..at].trim_end(), &text[at + 1..]);
        let (or_equal, amount) = match right.strip_prefix('=') {
            Some(amount) => (true, amount.trim()),
            None => (false, right.trim()),
        };
        let (what, function) = match left.split_once('(') {
            Some((what, rest)) => {
                let name = rest.strip_suffix(')').map(str::trim).unwrap_or_default();
                if name.is_empty() {
                    return Err(WANTED);
                }
                (what.trim_end(), Some(name.to_string()))
            }
            None => (left, None),
        };
        let (what, measure) = match what {
            "calls" => (Quantity::Calls, Measure::Calls),
            "total" => (Quantity::Total, Measure::Time),
            "self" => (Quantity::SelfTime, Measure::Time),
            "p99" => (Quantity::P99, Measure::Time),
            "max" => (Quantity::Max, Measure::Time),
            name => (Quantity::Total, Measure::named(name).ok_or(WANTED)?),
        };
        let growth = growth(measure.dimension(), amount).ok_or(match measure.dimension() {
            Dimension::Count if what == Quantity::Calls => {
                "the limit of calls is a percentage or a number: calls > 1%, calls > 0"
            }
            Dimension::Count => {
                "the limit of counts is a percentage or a number: allocations > 1%, allocations > 0"
            }
            Dimension::Bytes => {
                "the limit of bytes is a percentage or a number: bytes > 1%, bytes > 0, bytes > 4kB"
            }
            Dimension::Time => "the limit of times is a percentage or a duration: time > 10%, time > 2ms",
        })?;
        let growth_is_zero = matches!(growth, Growth::Percent(0.0) | Growth::Absolute(0.0));
        if or_equal && growth_is_zero {
            return Err(">= 0 would fail where nothing has changed; wanted > 0");
        }
        Ok(Self {
            what,
            measure,
            function,
            or_equal,
            growth,
            text: text.to_string(),
        })
    }
}

fn growth(dimension: Dimension, text: &str) -> Option<Growth> {
    let at = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = (text[..at].parse().ok()?, text[at..].trim());
    match (dimension, unit) {
        (_, "%") => Some(Growth::Percent(number)),
        (Dimension::Count, "") => Some(Growth::Absolute(number)),
        (Dimension::Count, _) => None,
        (Dimension::Bytes, unit) => {
            let in_bytes = match unit {
                "" | "B" => 1.0,
                "kB" => 1e3,
                "MB" => 1e6,
                "GB" => 1e9,
                _ => return None,
            };
            Some(Growth::Absolute(number * in_bytes))
        }
        (Dimension::Time, unit) => {
            let in_ns = match unit {
                "" if number == 0.0 => 1.0,
                "ns" => 1.0,
                "us" | "µs" | "μs" => 1e3,
                "ms" => 1e6,
                "s" => 1e9,
                _ => return None,
            };
            Some(Growth::Absolute(number * in_ns))
        }
    }
}
