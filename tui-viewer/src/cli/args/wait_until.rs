//! Arguments of `tickscope wait-until`.

use std::time::Duration;

use clap::Args;
use tickscope_analysis::trigger::Condition;

use crate::cli::args::shared::TargetArgs;
use crate::cli::args::trigger::{condition, over};
use crate::cli::args::values::duration;

/// Text after the options in `tickscope wait-until --help`.
const ABOUT: &str = "\
tickscope trigger --help describes conditions. Without --over the condition covers all counts since the last reset:
calls(frame) > 1000 is true after a thousand and one calls. With --over 5s it covers the last five seconds.

Exit codes: 0 it is true; 1 failed; 2 misuse, or no such program runs; 3 it was not true within --timeout; 4 the program
ended, and it was not true at its end.

Examples:
  tickscope wait-until 'calls(frame) > 1000' && tickscope snapshot -o warm.tks
  tickscope wait-until 'calls(request) > 0' server --wait 30s --timeout 1m
  tickscope wait-until 'p99(handle) > 50ms' server --over 10s --timeout 1h --json
  tickscope wait-until 'inflight(job) < 1' -p 4711 --timeout 0     is it so now?";

/// Condition to wait for, the program, and how long to wait.
#[derive(Args, Clone, Debug)]
#[command(after_help = ABOUT)]
pub struct WaitUntilArgs {
    /// Condition to wait for: 'calls(frame) > 1000'. Needs quotes, because > and ( are special to shells.
    #[arg(value_name = "CONDITION", value_parser = condition)]
    pub condition: Condition,
    /// Which program.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Evaluate the condition over a window of this length, 200ms to 10m, instead of over all counts since the last reset.
    #[arg(long, value_name = "DURATION", value_parser = over)]
    pub over: Option<Duration>,
    /// Give up after this time, with exit code 3; with 0, evaluate the condition only once. Default: no limit.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Wait at most this long for the program to appear: 10, 10s, 500ms.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub wait: Option<Duration>,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
}
