//! The parts of a condition.

use std::fmt;

use tickscope_format::pattern::Pattern;

/// Measured value of a function in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// Duration that this percentage of the calls did not exceed, among calls that ended in the window.
    Percentile(f64),
    /// Duration of the longest call that ended in the window.
    Max,
    /// Total time divided by the number of calls that began in the window.
    Avg,
    /// The calls that began in the window.
    Calls,
    /// Total time as a part of all time in scopes.
    Share,
    /// Part of the total time in which the function's threads waited.
    Waiting,
    /// Calls that are open at the end of the window: all in flight for an async function, else one for each thread.
    InFlight,
}

/// How a value is compared with the threshold.
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

/// Unit of values and thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Percent, 0 to 100.
    Percent,
    /// Per second of the window.
    PerSecond,
    /// A plain number.
    Count,
}

/// One comparison: `p99(handle) > 50ms`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Measured value.
    pub metric: Metric,
    /// Functions that are compared, each by itself.
    pub function: Pattern,
    /// Sign of the comparison.
    pub sign: Sign,
    /// Threshold in the unit.
    pub threshold: f64,
    /// The unit of threshold and value.
    pub unit: Unit,
    /// The threshold as it was typed: `50ms`.
    pub threshold_text: String,
}

/// Comparisons joined by `and` and `or`, of which `and` binds closer.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Lists of comparisons. The condition is true if all comparisons of any list are true.
    pub any_of: Vec<Vec<Comparison>>,
}

impl Metric {
    /// Returns the default unit of a threshold of this metric.
    pub(super) fn unit(self) -> Unit {
        match self {
            Self::Percentile(_) | Self::Max | Self::Avg => Unit::Nanoseconds,
            Self::Share | Self::Waiting => Unit::Percent,
            Self::Calls | Self::InFlight => Unit::Count,
        }
    }
}

impl Sign {
    /// Returns whether a value is on the side of the threshold that the sign asks for.
    pub fn holds(self, value: f64, threshold: f64) -> bool {
        match self {
            Self::Above => value > threshold,
            Self::AtLeast => value >= threshold,
            Self::Below => value < threshold,
            Self::AtMost => value <= threshold,
        }
    }

    /// Returns whether the comparison is true of large values.
    pub fn is_upward(self) -> bool {
        matches!(self, Self::Above | Self::AtLeast)
    }
}

impl Unit {
    /// Returns the suffix of a number in this unit: `ns`, `%`, `/s`, or nothing for a count.
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
