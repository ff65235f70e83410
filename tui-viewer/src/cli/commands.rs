//! The commands: the same data without a screen, and the ways to the screen.

pub mod attach;
pub mod completions;
pub mod cost;
pub mod demo;
pub mod diff;
pub mod export;
pub mod kept_output;
pub mod lines;
pub mod list;
pub mod live_snapshot;
pub mod log;
pub mod man;
pub mod mode;
pub mod record;
pub mod report;
pub mod request;
pub mod reset;
pub mod run;
pub mod sites;
pub mod snapshot;
pub mod stacks;
pub(crate) mod status_line;
pub mod switch;
pub mod trigger;
pub mod watch;
pub mod why;
