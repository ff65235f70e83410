//! Arguments of `tickscope log`.

use std::time::Duration;

use clap::Args;
use tickscope_command::values::duration_within;
use tickscope_format::pattern::Pattern;

use crate::cli::args::shared::TargetArgs;
use crate::cli::args::values::{duration, pattern};

/// Text after the options in `tickscope log --help`.
const LINES: &str = "\
A line for each thread, each group or function that it was inside, and each interval:
  TIME +01:00        TID  THREAD             INSIDE / INTERVAL ms        %      CALLS  NAME
  14:02:11.250      4711  main                17.024 /   1007.102     1.7%     101966  [malloc]

INSIDE is the time inside the outermost call of the group or function: recursion, and members of a
group that call each other, count once. Open calls count up to the interval's end: a call that
sleeps through three intervals has 100 % of each. CALLS are the calls of all members that began
in the interval. Ended threads of equal names share a line, which may have more than 100 %.
~ marks estimates (modes adaptive and sampled). INTERVAL is the time that passed by the program's
clock. An interval without calls has one line that says so. TIME is local, and its header has the
offset from UTC; without an offset it is UTC (Z).

Resets do not disturb. The log ends with the program (exit code 0), after -d, or by Ctrl-C.

With --json each line is an object: unix_ns, interval_ns, tid (0: ended), thread, group or
function, inside_ns, share, estimated, calls; without a thread if there was no call.

Examples:
  tickscope log
  tickscope log order-book --every 100ms --group malloc --group io
  tickscope log --function 'wire::*' --json -d 1m > wire.jsonl";

/// What to follow, how often, and for how long.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = LINES)]
pub struct LogArgs {
    /// Which program.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Length of an interval: 10ms to 1h.
    #[arg(long, value_name = "DURATION", value_parser = every, default_value = "1s")]
    pub every: Duration,
    /// Log only this group. May be given several times. Default: all groups, unless --function is given.
    #[arg(long, value_name = "NAME")]
    pub group: Vec<String>,
    /// Log these functions: parse, book::insert, 'alloc::*'. May be given several times.
    #[arg(long, value_name = "PATTERN", value_parser = pattern)]
    pub function: Vec<Pattern>,
    /// Stop after this time: 10, 10s, 5m.
    #[arg(short, long, value_name = "DURATION", value_parser = duration)]
    pub duration: Option<Duration>,
    /// Print one JSON object per line.
    #[arg(long)]
    pub json: bool,
    /// Wait at most this long for the program to appear: 10, 10s, 500ms.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub wait: Option<Duration>,
}

/// Parses the length of an interval.
fn every(text: &str) -> Result<Duration, String> {
    duration_within(text, "10ms", "1h")
}
