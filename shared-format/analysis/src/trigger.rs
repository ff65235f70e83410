//! Triggers: conditions on the last seconds of a program, such as `p99(handle) > 50ms`, and the moments at which they become
//! true.
//!
//! A user types a [`Condition`]. [`judge`] tells whether it is true in a window, and [`Episodes`] decides which windows call for
//! an action. Windows overlap, so one slow call is in many of them. An action is due only if the condition becomes true after it
//! was false for a whole window. A limit restricts how often actions happen.

mod condition;
mod episodes;
mod judge;
mod parser;

pub use self::condition::{Comparison, Condition, Metric, Sign, Unit};
pub use self::episodes::{Episodes, Limit, LimitError, Step};
pub use self::judge::{Absence, Finding, Verdict, judge};
pub use self::parser::ConditionError;
