//! Triggers: conditions on the last seconds of a program, such as `p99(handle) > 50ms`, and the moment when one of them becomes
//! true.
//!
//! A user types a [`Condition`], [`judge`] finds out whether it is true of a window, and [`Episodes`] decides which windows are
//! worth an action. Windows overlap, so a slow call is in many of them. An action is due only where the condition becomes true
//! after it was false for a whole window. A limit restricts the rate of actions.

mod condition;
mod episodes;
mod judge;
mod parser;

pub use self::condition::{Comparison, Condition, Metric, Sign, Unit};
pub use self::episodes::{Episodes, Limit, LimitError, Step};
pub use self::judge::{Absence, Finding, Verdict, judge};
pub use self::parser::ConditionError;
