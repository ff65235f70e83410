//! Parses the text of a condition.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use tickscope_format::pattern::Pattern;

use super::condition::{Comparison, Condition, Metric, Sign, Unit};

/// Maximum number of comparisons. Each one takes time whenever the condition is evaluated, and a condition with more of them is
/// probably a mistake.
const COMPARISONS_MAX: usize = 16;

/// Example that ends each error message.
const EXAMPLE: &str = "p99(handle) > 50ms";

/// Error for text that is not a valid condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    /// Column of the error in characters, counted from 1.
    pub column: usize,
    /// Text that was found at this column.
    pub found: String,
    /// What was expected at this column.
    pub wanted: String,
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            column,
            found,
            wanted,
        } = self;
        write!(
            f,
            "column {column}: found {found}, wanted {wanted}; an example: {EXAMPLE}"
        )
    }
}

impl Error for ConditionError {}

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        Scanner { text, at: 0 }.condition()
    }
}

/// Scans the text of a condition from left to right.
struct Scanner<'a> {
    text: &'a str,
    /// Byte index at which to read next.
    at: usize,
}

impl<'a> Scanner<'a> {
    fn condition(&mut self) -> Result<Condition, ConditionError> {
        let mut any_of = vec![vec![self.comparison()?]];
        loop {
            self.skip_blanks();
            let begin = self.at;
            if self.rest().is_empty() {
                return Ok(Condition { any_of });
            }
            match self.word() {
                "and" => {}
                "or" => any_of.push(Vec::new()),
                _ => return Err(self.wrong(begin, "`and`, `or` or the end of the condition")),
            }
            if any_of.iter().map(Vec::len).sum::<usize>() == COMPARISONS_MAX {
                return Err(self.wrong(begin, &format!("at most {COMPARISONS_MAX} comparisons")));
            }
            let comparison = self.comparison()?;
            if let Some(all) = any_of.last_mut() {
                all.push(comparison);
            }
        }
    }

    fn comparison(&mut self) -> Result<Comparison, ConditionError> {
        let metric = self.metric()?;
        let function = self.function()?;
        let sign = self.sign()?;
        let (threshold, unit, threshold_text) = self.threshold(metric, sign)?;
        Ok(Comparison {
            metric,
            function,
            sign,
            threshold,
            unit,
            threshold_text,
        })
    }

    fn metric(&mut self) -> Result<Metric, ConditionError> {
        const WANTED: &str = "p50, p90, p99, p99.9, max, avg, calls, share, waiting or inflight";
        self.skip_blanks();
        let begin = self.at;
        match self.word() {
            "max" => Ok(Metric::Max),
            "avg" => Ok(Metric::Avg),
            "calls" => Ok(Metric::Calls),
            "share" => Ok(Metric::Share),
            "waiting" => Ok(Metric::Waiting),
            "inflight" => Ok(Metric::InFlight),
            word => {
                let digits = word
                    .strip_prefix('p')
                    .filter(|digits| digits.starts_with(|c: char| c.is_ascii_digit()));
                let percent = digits.and_then(|digits| digits.parse().ok());
                match percent {
                    Some(percent) if percent > 0.0 && percent < 100.0 => Ok(Metric::Percentile(percent)),
                    Some(_) => {
                        Err(self.wrong(begin, "a percentile above 0 and below 100, like p99 or p99.9"))
                    }
                    None => Err(self.wrong(begin, WANTED)),
                }
            }
        }
    }

    /// Reads the function pattern between parentheses. The name of a function may itself contain balanced parentheses.
    fn function(&mut self) -> Result<Pattern, ConditionError> {
        self.skip_blanks();
        if !self.rest().starts_with('(') {
            return Err(self.wrong(self.at, "`(` and the name of a function"));
        }
        let begin = self.at + 1;
        let mut depth = 0;
        let end = self.rest().char_indices().find_map(|(at, c)| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            (depth == 0).then_some(self.at + at)
        });
        let Some(end) = end else {
            return Err(self.wrong(self.text.len(), "`)` after the name of the function"));
        };
        self.at = end + 1;
        let name = self.text[begin..end].trim();
        if name.is_empty() {
            return Err(self.wrong(
                end,
                "the name of a function, like handle, http::handle or http::*",
            ));
        }
        Pattern::typed(name).map_err(|_| self.wrong(begin, "a name without control characters"))
    }

    fn sign(&mut self) -> Result<Sign, ConditionError> {
        self.skip_blanks();
        let begin = self.at;
        let is_sign = |c: char| matches!(c, '<' | '>' | '=' | '!');
        match self.take_while(is_sign) {
            ">" => Ok(Sign::Above),
            ">=" => Ok(Sign::AtLeast),
            "<" => Ok(Sign::Below),
            "<=" => Ok(Sign::AtMost),
            _ => Err(self.wrong(begin, ">, >=, < or <=")),
        }
    }

    /// Reads the threshold and its unit. The returned text is what the user typed, without the space between number and unit.
    fn threshold(&mut self, metric: Metric, sign: Sign) -> Result<(f64, Unit, String), ConditionError> {
        self.skip_blanks();
        let begin = self.at;
        let digits = self.take_while(|c| c.is_ascii_digit() || c == '.');
        let Ok(number) = digits.parse::<f64>() else {
            let example = match metric.unit() {
                Unit::Nanoseconds => "a duration like 50ms",
                Unit::Percent => "a part like 20%",
                Unit::Count | Unit::PerSecond => "a number like 100",
            };
            return Err(self.wrong(begin, example));
        };
        let behind = self.at;
        self.skip_blanks();
        let unit_at = self.at;
        let unit_text = match self.take_while(|c| c.is_alphabetic() || c == '%' || c == '/') {
            // The number has no unit, and the condition continues.
            "and" | "or" => {
                self.at = behind;
                ""
            }
            unit => unit,
        };
        let (factor, unit) = match (metric.unit(), unit_text) {
            (Unit::Nanoseconds, "ns") => (1.0, Unit::Nanoseconds),
            (Unit::Nanoseconds, "us" | "µs" | "μs") => (1e3, Unit::Nanoseconds),
            (Unit::Nanoseconds, "ms") => (1e6, Unit::Nanoseconds),
            (Unit::Nanoseconds, "s") => (1e9, Unit::Nanoseconds),
            (Unit::Nanoseconds, _) => {
                return Err(self.wrong(unit_at, &format!("a unit of {metric}: ns, us, ms or s")));
            }
            (Unit::Percent, "%") => (1.0, Unit::Percent),
            (Unit::Percent, _) => return Err(self.wrong(unit_at, &format!("the unit of {metric}: %"))),
            (Unit::Count | Unit::PerSecond, "") => (1.0, Unit::Count),
            (Unit::Count | Unit::PerSecond, "/s") if metric == Metric::Calls => (1.0, Unit::PerSecond),
            (Unit::Count | Unit::PerSecond, _) => {
                let wanted = match metric == Metric::Calls {
                    true => "/s for calls a second, or no unit for the calls of the window",
                    false => "a number without a unit",
                };
                return Err(self.wrong(unit_at, wanted));
            }
        };
        let threshold = number * factor;
        if unit == Unit::Percent && threshold > 100.0 {
            return Err(self.wrong(begin, "0% to 100%"));
        }
        if threshold == 0.0 && matches!(sign, Sign::Below | Sign::AtLeast) {
            return Err(self.wrong(begin, "more than 0, because no value is below 0"));
        }
        Ok((threshold, unit, format!("{digits}{unit_text}")))
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.take_while(char::is_whitespace);
    }

    /// Reads a word of letters, digits, full stops and underscores.
    fn word(&mut self) -> &'a str {
        self.take_while(|c| c.is_alphanumeric() || c == '.' || c == '_')
    }

    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Returns an error about the text from byte `at` on.
    fn wrong(&self, at: usize, wanted: &str) -> ConditionError {
        let rest = self.text[at..].trim_end();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '%' | '/');
        let word = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let found = match (rest.chars().next(), &rest[..word]) {
            (None, _) => "the end".to_string(),
            (Some(c), "") => format!("`{}`", c.escape_debug()),
            (Some(_), word) => format!("`{word}`"),
        };
        ConditionError {
            column: self.text[..at].chars().count() + 1,
            found,
            wanted: wanted.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Condition {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn every_metric_sign_and_unit_is_read() {
        use Metric::{Avg, Calls, InFlight, Max, Percentile, Share, Waiting};
        use Sign::{Above, AtLeast, AtMost, Below};
        use Unit::{Count, Nanoseconds, PerSecond, Percent};

        let table = [
            ("p99(handle) > 50ms", Percentile(99.0), Above, 50e6, Nanoseconds),
            ("p99.9(a::b)>=1.5s", Percentile(99.9), AtLeast, 1.5e9, Nanoseconds),
            ("p50( f )  <  3 us", Percentile(50.0), Below, 3e3, Nanoseconds),
            ("max(http::*) <= 700µs", Max, AtMost, 700e3, Nanoseconds),
            ("avg(handle) > 0ns", Avg, Above, 0.0, Nanoseconds),
            ("calls(handle) < 10/s", Calls, Below, 10.0, PerSecond),
            ("calls(handle) < 1", Calls, Below, 1.0, Count),
            ("share(handle) > 12.5%", Share, Above, 12.5, Percent),
            ("waiting(handle) > 50 %", Waiting, Above, 50.0, Percent),
            ("inflight(handle) > 100", InFlight, Above, 100.0, Count),
        ];
        for (text, metric, sign, threshold, unit) in table {
            let condition = read(text);
            let one = &condition.any_of[0][0];
            assert_eq!(one.metric, metric, "{text}");
            assert_eq!(one.sign, sign, "{text}");
            assert_eq!(one.threshold, threshold, "{text}");
            assert_eq!(one.unit, unit, "{text}");
            // A condition that is printed and parsed again stays the same.
            assert_eq!(read(&condition.to_string()), condition, "{condition}");
        }
    }

    #[test]
    fn names_have_parentheses_in_pairs_and_and_binds_closer_than_or() {
        let condition = read("max(<impl Fn(u8) as Call>::call) > 1s");
        assert_eq!(
            condition.any_of[0][0].function.as_str(),
            "<impl Fn(u8) as Call>::call"
        );
        let condition = read("calls(a) > 1 and calls(b) > 2 or calls(c) > 3/s");
        let shape: Vec<usize> = condition.any_of.iter().map(Vec::len).collect();
        assert_eq!(shape, [2, 1]);
        assert_eq!(
            condition.to_string(),
            "calls(a) > 1 and calls(b) > 2 or calls(c) > 3/s"
        );
    }

    #[test]
    fn errors_say_where_what_was_found_and_what_was_wanted() {
        let metrics = "p50, p90, p99, p99.9, max, avg, calls, share, waiting or inflight";
        let percentile = "a percentile above 0 and below 100, like p99 or p99.9";
        let closed = "`)` after the name of the function";
        let name = "the name of a function, like handle, http::handle or http::*";
        let unit = "/s for calls a second, or no unit for the calls of the window";
        let next = "`and`, `or` or the end of the condition";
        let table = [
            ("", 1, "the end", metrics),
            ("p9x(handle) > 5ms", 1, "`p9x`", metrics),
            ("pinf(handle) > 5ms", 1, "`pinf`", metrics),
            ("  latency(f) > 5ms", 3, "`latency`", metrics),
            ("p100(f) > 5ms", 1, "`p100`", percentile),
            ("p99 > 5ms", 5, "`>`", "`(` and the name of a function"),
            ("p99(handle > 5ms", 17, "the end", closed),
            ("p99( ) > 5ms", 6, "`)`", name),
            ("p99(f) = 5ms", 8, "`=`", ">, >=, < or <="),
            ("p99(f)", 7, "the end", ">, >=, < or <="),
            ("p99(f) >", 9, "the end", "a duration like 50ms"),
            ("p99(f) > -5ms", 10, "`-`", "a duration like 50ms"),
            ("p99(é) > 1.2.3ms", 10, "`1.2.3ms`", "a duration like 50ms"),
            ("p99(f) > 50", 12, "the end", "a unit of p99: ns, us, ms or s"),
            ("p99(f) > 50 min", 13, "`min`", "a unit of p99: ns, us, ms or s"),
            ("p99(f) > 50%", 12, "`%`", "a unit of p99: ns, us, ms or s"),
            ("share(f) > 20", 14, "the end", "the unit of share: %"),
            ("share(f) > 120%", 12, "`120%`", "0% to 100%"),
            ("calls(f) > 5ms", 13, "`ms`", unit),
            ("inflight(f) > 5/s", 16, "`/s`", "a number without a unit"),
            (
                "calls(f) < 0/s",
                12,
                "`0/s`",
                "more than 0, because no value is below 0",
            ),
            ("p99(f) > 5ms but", 14, "`but`", next),
            ("p99(f) > 5ms and", 17, "the end", metrics),
            ("p99(f) > 5ms or or", 17, "`or`", metrics),
        ];
        for (text, column, found, wanted) in table {
            let Err(error) = text.parse::<Condition>() else {
                panic!("{text} is no condition")
            };
            assert_eq!(error.column, column, "{text}");
            assert_eq!(error.found.as_str(), found, "{text}");
            assert_eq!(error.wanted.as_str(), wanted, "{text}");
        }
        let error = "p99(f) > 50".parse::<Condition>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "column 12: found the end, wanted a unit of p99: ns, us, ms or s; an example: p99(handle) > 50ms"
        );
        let many = vec!["calls(f) > 1"; COMPARISONS_MAX + 1].join(" or ");
        assert_eq!(
            many.parse::<Condition>().unwrap_err().wanted,
            "at most 16 comparisons"
        );
        let unnamed = "calls(a\nb) > 1".parse::<Condition>().unwrap_err();
        assert_eq!(unnamed.wanted, "a name without control characters");
    }
}
