//! Arguments of `tickscope metrics`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::every;

/// Text after the options in `tickscope metrics --help`.
const FAMILIES: &str = "\
Families, each with the label program, and function or group as shown; other is all functions
without a separate series:
  tickscope_calls_total               function   calls begun
  tickscope_self_seconds_total        function   self time, and of functions not measured below
  tickscope_waiting_seconds_total     function   the part of it in which threads waited
  tickscope_allocated_bytes_total     function   bytes allocated without callees
  tickscope_latency_seconds           function   histogram of finished calls, 256 ns to 17 s
  tickscope_counter_total             function   the sum of a counter or a value
  tickscope_group_seconds_total       group      time inside a group
  tickscope_cost_ratio                           what measuring costs, at most
  tickscope_up, tickscope_processes              whether it runs, and how many processes do
  tickscope_record_age_seconds                   age of the newest record
  tickscope_without_series                       functions, counters and groups beyond --top
  tickscope_unclosed_resets_total                resets whose last numbers are lost
  tickscope_unreadable_rings, tickscope_programs_left_out, tickscope_agent_cpu_seconds_total

Numbers add up over resets and over all runs of a program. Programs are only read, and do no
work for it. Anyone who reaches ADDR can read the names of functions: there is no password.

Examples:
  tickscope metrics --listen 127.0.0.1:9464
  curl -s http://127.0.0.1:9464/metrics | grep '^tickscope_up'
  tickscope metrics --textfile /var/lib/node_exporter/textfile --top 10 --no-latency";

/// Where to publish metrics, and which ones.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = FAMILIES)]
pub struct MetricsArgs {
    /// Serve the metrics over HTTP at this address, such as 127.0.0.1:9464.
    #[arg(long, value_name = "ADDR", required_unless_present = "textfile")]
    pub listen: Option<String>,
    /// Rewrite DIR/tickscope.prom at each interval, for the node exporter.
    #[arg(long, value_name = "DIR")]
    pub textfile: Option<PathBuf>,
    /// Longest time between two reads of the rings, and between two writes of the file: 1s to 1h.
    #[arg(long, value_name = "DURATION", value_parser = every, default_value = "15s")]
    pub every: Duration,
    /// Number of functions per program that get their own series, 1 to 1000: those that took the most time. A function
    /// keeps its series even after others overtake it, so there can be up to four times as many.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub top: u16,
    /// Show each group, with its name in brackets, in place of the functions in it.
    #[arg(long)]
    pub group: bool,
    /// Give each process separate series, with the label pid.
    #[arg(long)]
    pub per_pid: bool,
    /// Leave out tickscope_latency_seconds, which has most of the series.
    #[arg(long, conflicts_with = "octaves")]
    pub no_latency: bool,
    /// Width of the buckets of tickscope_latency_seconds in octaves, 1 to 8.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=8))]
    pub octaves: u8,
    /// Save the sums in this file and load them at the start, so that a restarted agent continues where it left off.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Read only the rings in this directory. May be given several times.
    #[arg(long, value_name = "DIR")]
    pub dir: Vec<PathBuf>,
}
