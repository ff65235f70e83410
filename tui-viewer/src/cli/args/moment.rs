//! Arguments that select a moment or a span of time, in a recording or in the records that a program's ring still holds.

use std::time::Duration;

use clap::Args;
use tickscope_programs::moment::When;

use crate::cli::args::values::duration;

/// Moment or span of time to report on; the newest moment if no option is given.
#[derive(Args, Clone, Debug, Default)]
pub struct MomentArgs {
    /// Show the state at this time: 12s (after the start of the recording), -5s (before its end), 14:02:11.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with_all = ["from", "to", "window"])]
    pub at: Option<When>,
    /// Show what happened from this time on, given as for --at. A -TIME that reaches back before the start means the start.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub from: Option<When>,
    /// Show what happened up to this time. A time after the end means the end.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub to: Option<When>,
    /// Show what happened in a window of this length, such as 10s, that ends at --to or else at the end.
    #[arg(long, value_name = "DURATION", value_parser = duration, conflicts_with = "from")]
    pub window: Option<Duration>,
}

impl MomentArgs {
    /// Returns whether no option is given, which selects the newest moment.
    pub fn is_newest(&self) -> bool {
        self.at.is_none() && self.from.is_none() && self.to.is_none() && self.window.is_none()
    }
}
