//! Explains why slow calls of a watched function are slow: in sentences, by path, and by the slowest calls.
//!
//! ```text
//! Snapshot, Watch -> tickscope-analysis -> sentences  what is known, the causes, what is in doubt
//!                                       -> text       for people, about ten lines
//!                                       -> markdown   for a message or an issue
//!                                       -> json       for programs, complete or brief (feature `json`)
//! ```

mod answer;
#[cfg(feature = "json")]
mod json;
mod markdown;
mod sentences;
mod text;

pub use self::answer::{Answer, SlowOptions, Typed, both_calls, calls, difference, duration};
#[cfg(feature = "json")]
pub use self::json::{brief, json};
pub use self::markdown::markdown;
pub use self::text::text;

#[cfg(all(test, feature = "json"))]
mod tests;
