//! Arguments of `tickscope trigger`.

use std::time::Duration;

use clap::Args;
use tickscope_analysis::trigger::{Condition, Limit};
use tickscope_command::values::duration_within;

use crate::cli::args::shared::TargetArgs;
use crate::cli::args::values::duration;

/// Text after the options in `tickscope trigger --help`.
const CONDITIONS: &str = "\
Conditions: METRIC(FUNCTION) SIGN NUMBER UNIT, joined by `and` and `or` (`and` binds closer)
  p50 p90 p99 p99.9   ns us ms s   of the calls that ended in the window
  max                 ns us ms s   the longest of them
  avg                 ns us ms s   time in the function and all below, per call
  calls               /s           calls a second; without a unit the calls of the window
  share               %            part of all time in scopes
  waiting             %            part of the function's time in which its threads waited
  inflight            no unit      calls open now: async calls, or threads inside
SIGN is > >= < <=. FUNCTION is a pattern as for `tickscope off`: handle, http::handle, 'http::*'.
Each selected function is judged by itself. In a window without a call of it, only calls and
inflight have a value. Functions that were not met yet are judged once they are met.

The recording is made of the records in the program's ring. It is kept when the condition becomes
true, and again when it becomes true after it was false for a whole window.

--exec runs CMD by `sh -c`, without input. It finds in its environment:
  TICKSCOPE_FILE       the recording, by its full path
  TICKSCOPE_CONDITION  the condition, as above
  TICKSCOPE_SUMMARY    the values, in one line
  TICKSCOPE_VALUE, TICKSCOPE_THRESHOLD, TICKSCOPE_UNIT   in ns, % or /s, or a count
  TICKSCOPE_FUNCTION, TICKSCOPE_PROGRAM, TICKSCOPE_PID

Examples:
  tickscope trigger 'p99(handle) > 50ms'
  tickscope trigger 'max(frame) > 20ms and calls(frame) > 30/s' game --keep 10s --at-most 20/h
  tickscope trigger 'calls(tick) < 1' --over 10s --exec 'notify-send \"$TICKSCOPE_SUMMARY\"'
  tickscope list                the kept recordings; tickscope FILE opens one";

/// Condition to wait for, the program, and what to do when the condition is true.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = CONDITIONS)]
pub struct TriggerArgs {
    /// Condition for keeping the past: 'p99(handle) > 50ms'. Needs quotes, because > and ( are special to shells.
    #[arg(value_name = "CONDITION", value_parser = condition)]
    pub condition: Condition,
    /// Which program.
    #[command(flatten)]
    pub target: TargetArgs,
    /// The condition's window, how much of the past to keep, and how often to act.
    #[command(flatten)]
    pub options: TriggerOptions,
    /// After each recording, run this command with `sh -c`; $TICKSCOPE_FILE is the recording's path.
    #[arg(long, value_name = "CMD")]
    pub exec: Option<String>,
    /// Wait at most this long for the program to appear: 10, 10s, 500ms.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub wait: Option<Duration>,
}

/// Window in which a trigger's condition is evaluated, how much of the past it keeps, and how often it may act.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriggerOptions {
    /// Length of the window over which the condition is evaluated: 200ms to 10m.
    #[arg(long, value_name = "DURATION", value_parser = over, default_value = "5s")]
    pub over: Duration,
    /// How much of the past to keep, 1s to 1h. It cannot reach back further than the program's ring.
    #[arg(long, value_name = "DURATION", value_parser = keep, default_value = "30s")]
    pub keep: Duration,
    /// Keep at most this many recordings in each unit of time: 1/s, 2/min, 6/h, 10/d.
    #[arg(long, value_name = "N/TIME", value_parser = limit, default_value = "6/h")]
    pub at_most: Limit,
}

/// Parses a condition.
pub(crate) fn condition(text: &str) -> Result<Condition, String> {
    text.parse::<Condition>().map_err(|error| error.to_string())
}

fn limit(text: &str) -> Result<Limit, String> {
    text.parse::<Limit>().map_err(|error| error.to_string())
}

pub(super) fn over(text: &str) -> Result<Duration, String> {
    duration_within(text, "200ms", "10m")
}

fn keep(text: &str) -> Result<Duration, String> {
    duration_within(text, "1s", "1h")
}
