//! The types that a condition consists of.

use std::fmt;

use tickscope_format::pattern::Pattern;

/// A quantity that is measured for a function in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// This percentile of the durations of the calls that ended in the window.
    Percentile(f64),
    /// Duration of the longest call that ended in the window.
    Max,
    /// Total time divided by the number of calls that began in the window.
    Avg,
    /// Number of calls that began in the window.
    Calls,
    /// Total time as a percentage of all time in scopes.
    Share,
    /// Percentage of the total time in which the function's threads waited.
    Waiting,
    /// Number of calls open at the end of the window. For an async function, this counts all calls in flight; for other
    /// functions, at most one call per thread.
    InFlight,
}

/// The relation between value and threshold that makes a comparison true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

/// Unit of a value and its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Percent, 0 to 100.
    Percent,
    /// Number per second of the window.
    PerSecond,
    /// A plain number.
    Count,
}

/// One comparison, such as `p99(handle) > 50ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What is measured.
    pub metric: Metric,
    /// Selects the functions. Each of them is compared separately.
    pub function: Pattern,
    /// Required relation between value and threshold.
    pub sign: Sign,
    /// Threshold in `unit`.
    pub threshold: f64,
    /// Unit of the value and of `threshold`.
    pub unit: Unit,
    /// The threshold as the user typed it, such as `50ms`.
    pub threshold_text: String,
}

/// Comparisons joined by `and` and `or`. As usual, `and` binds more tightly.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Lists of comparisons. The condition is true if all comparisons of at least one list are true.
    pub any_of: Vec<Vec<Comparison>>,
}

impl Metric {
    /// Returns the unit of a threshold that is typed without a unit.
    pub(super) fn unit(self) -> Unit {
        match self {
            Self::Percentile(_) | Self::Max | Self::Avg => Unit::Nanoseconds,
            Self::Share | Self::Waiting => Unit::Percent,
            Self::Calls | Self::InFlight => Unit::Count,
        }
    }
}

impl Sign {
    /// Returns whether the value has the required relation to the threshold.
    pub fn holds(self, value: f64, threshold: f64) -> bool {
        match self {
            Self::Above => value > threshold,
            Self::AtLeast => value >= threshold,
            Self::Below => value < threshold,
            Self::AtMost => value <= threshold,
        }
    }

    /// Returns whether large values make the comparison true.
    pub fn is_upward(self) -> bool {
        matches!(self, Self::Above | Self::AtLeast)
    }
}

impl Unit {
    /// Returns the suffix for numbers in this unit: `ns`, `%`, `/s`, or nothing for a count.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Percent => "%",
            Self::PerSecond => "/s",
            Self::Count => "",
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percentile(percent) => write!(f, "p{percent}"),
            Self::Max => f.write_str("max"),
            Self::Avg => f.write_str("avg"),
            Self::Calls => f.write_str("calls"),
            Self::Share => f.write_str("share"),
            Self::Waiting => f.write_str("waiting"),
            Self::InFlight => f.write_str("inflight"),
        }
    }
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
        })
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (function, threshold) = (self.function.as_str(), &self.threshold_text);
        write!(f, "{}({function}) {} {threshold}", self.metric, self.sign)
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, all) in self.any_of.iter().enumerate() {
            if index > 0 {
                f.write_str(" or ")?;
            }
            for (index, comparison) in all.iter().enumerate() {
                if index > 0 {
                    f.write_str(" and ")?;
                }
                write!(f, "{comparison}")?;
            }
        }
        Ok(())
    }
}
