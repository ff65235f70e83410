//! What can be typed behind `tickscope cost`.

use std::time::Duration;

use clap::Args;
use tickscope_format::pattern::Pattern;

use crate::cli::args::shared::TargetArgs;
use crate::cli::args::values;

/// What stands behind the options in `tickscope cost --help`.
const COST: &str = "\
Calls of one function that repeats are by chance measured as usual or with clocks off, when their scopes are
only counted. Their CPU times are compared. Meanwhile the times of functions in it are estimates for the calls
with clocks off: they get what their calls took before. Sums and numbers of calls stay exact.

Examples:
  tickscope cost                       measure for at most 10 s, in a function that tickscope chooses
  tickscope cost --of draw_frame --for 30s
  tickscope cost --json run.tks        what a recording or a kept snapshot says";

/// Where, and for how long.
#[derive(Args, Clone, Debug)]
#[command(after_help = COST)]
pub struct CostArgs {
    /// Which program.
    #[command(flatten)]
    pub target: TargetArgs,
    /// The function whose calls are compared; without it one that repeats and in which most time passes.
    #[arg(long, value_name = "FUNCTION", value_parser = values::pattern)]
    pub of: Option<Pattern>,
    /// Measure for so long at most, to the second: 10, 10s, 1m. It ends early when enough is known.
    #[arg(long = "for", value_name = "DURATION", value_parser = values::duration, default_value = "10s")]
    pub during: Duration,
    /// As JSON: the member `cost` of reports.
    #[arg(long)]
    pub json: bool,
}
