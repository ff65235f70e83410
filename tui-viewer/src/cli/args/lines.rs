//! Arguments of `tickscope lines`.

use clap::{Args, ValueEnum};
use tickscope_format::snapshot::LINES_HZ;

use crate::cli::args::shared::TargetArgs;

/// Text after the options in `tickscope lines --help`.
const LINES: &str = "\
A timer on each thread's CPU time samples its place in the code, by a signal: SIGPROF, or a real-time
signal if the program uses SIGPROF. A thread that waits is not interrupted. Off by default.

Examples:
  tickscope lines on                    begin, in the running program
  tickscope report --view source        the lines of each function, and its callees that are not measured
  tickscope lines off                   end; the samples stay until a reset";

/// Whether to sample, and how often.
#[derive(Args, Clone, Debug)]
#[command(after_help = LINES)]
pub struct LinesArgs {
    /// Whether to sample.
    #[arg(value_enum)]
    pub wanted: OnOff,
    /// Which program.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Samples per second of CPU time; the kernel's timer may give fewer.
    #[arg(long, value_name = "HZ", default_value_t = LINES_HZ, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rate: u32,
}

/// Whether to sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnOff {
    /// Sample from now on.
    On,
    /// Stop sampling.
    Off,
}
