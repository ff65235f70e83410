//! Triggers: conditions on what a program did in its last seconds, such as `p99(handle) > 50ms`, and when one of them has become
//! true.
//!
//! [`Condition`] is what its user types, [`judge`] finds out whether it is true of a window, and [`Episodes`] decides which of many
//! windows in a row are worth an action. Windows overlap, so a slow call is in many of them. An action is due only where the condition
//! becomes true after it was false for a whole window, and not more often than a limit says.

mod condition;
mod episodes;
mod judge;
mod parser;

pub use self::condition::{Comparison, Condition, Metric, Sign, Unit};
pub use self::episodes::{Episodes, Limit, LimitError, Step};
pub use self::judge::{Absence, Finding, Verdict, judge};
pub use self::parser::ConditionError;
