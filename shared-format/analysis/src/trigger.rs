//! Triggers: conditions on what a program did in the last few seconds, such as `p99(handle) > 50ms`, and the detection of when
//! they become true.
//!
//! A user types a [`Condition`]. [`judge`] tells whether it is true in a window, and [`Episodes`] decides in which windows an
//! action is due. Windows overlap, so a single slow call shows up in many of them. To avoid repeated actions, one is due only
//! when the condition becomes true after it has been false for a whole window. In addition, a limit restricts how often actions
//! can happen.

mod condition;
mod episodes;
mod judge;
mod parser;

pub use self::condition::{Comparison, Condition, Metric, Sign, Unit};
pub use self::episodes::{Episodes, Limit, LimitError, Step};
pub use self::judge::{Absence, Finding, Verdict, judge};
pub use self::parser::ConditionError;
