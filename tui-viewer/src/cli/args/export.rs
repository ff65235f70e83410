//! What can be typed behind `tickscope export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::args::shared::TargetArgs;

/// What stands behind the options in `tickscope export --help`.
pub(super) const EXAMPLES: &str = "\
Each interval between two snapshots has the shares of self time of the functions, their calls per second, CPU time,
waiting where it is measured, and the program's own counters.

Examples:
  tickscope export run.tks -o run.trace.json           a recording, for ui.perfetto.dev
  tickscope export run.tks -f firefox -o run.json      the same for profiler.firefox.com
  tickscope export order-book --top 5 > now.trace.json what the ring of a program still holds";

/// What is written, and where.
#[derive(Args, Clone, Debug)]
pub struct ExportArgs {
    /// Which program.
    #[command(flatten)]
    pub target: TargetArgs,
    /// The form.
    #[arg(short, long, value_enum, default_value_t = ExportFormat::Trace)]
    pub format: ExportFormat,
    /// Tracks of so many functions, those with the most self time.
    #[arg(long, value_name = "NUMBER", default_value_t = 12)]
    pub top: usize,
    /// The new file; by default standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write over a file that exists.
    #[arg(long)]
    pub force: bool,
}

/// The forms of what a program did over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Trace events with counters: for Perfetto.
    Trace,
    /// Counters, and a thread for each function: for the Firefox Profiler.
    Firefox,
}
