//! What a condition consists of.

use std::fmt;

use tickscope_format::pattern::Pattern;

/// What is measured of a function in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// The duration that so many percent of the calls did not exceed, of calls that ended in the window.
    Percentile(f64),
    /// The longest of the calls that ended in the window.
    Max,
    /// The time in the function and all below, divided by the calls that began in the window.
    Avg,
    /// The calls that began in the window.
    Calls,
    /// The part of all time in scopes that was spent in the function and all below.
    Share,
    /// The part of the time in the function and all below in which its threads waited.
    Waiting,
    /// The calls that are open at the end of the window: of an async function all in flight, of others one for each thread.
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

/// What values and thresholds are counted in.
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
    /// What is measured.
    pub metric: Metric,
    /// Of which functions. Each of them is compared by itself.
    pub function: Pattern,
    /// How.
    pub sign: Sign,
    /// With what, in the unit.
    pub threshold: f64,
    /// The unit of threshold and value.
    pub unit: Unit,
    /// The threshold as it was typed: `50ms`.
    pub threshold_text: String,
}

/// Comparisons joined by `and` and `or`, of which `and` binds closer.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The condition is true if all comparisons of any of these lists are.
    pub any_of: Vec<Vec<Comparison>>,
}

impl Metric {
    /// Returns the unit that a threshold of this metric has unless it names another.
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

    /// Returns whether large values are what the condition looks for.
    pub fn is_upward(self) -> bool {
        matches!(self, Self::Above | Self::AtLeast)
    }
}

impl Unit {
    /// Returns the name of the unit of plain numbers in it: `ns`, `%`, `/s`, or nothing for a count.
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
