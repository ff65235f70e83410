//! Arguments that several commands take.

use crate::cli::args::values;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::Mode;

/// Which program, and where to look for it.
#[derive(Args, Clone, Debug, Default)]
pub struct TargetArgs {
    /// Name, pid or file; without it, the only program that runs.
    pub target: Option<String>,
    /// The program with this process id.
    #[arg(short, long, conflicts_with = "target", value_parser = values::pid)]
    pub pid: Option<u32>,
    /// All running programs of this name as one; '*' in it stands for any text. Also in report, top, stacks, sites and snapshot.
    #[arg(long, conflicts_with = "pid")]
    pub all: bool,
    /// By name: where none runs, the newest run that has ended, also as JSON and in every other form for scripts.
    #[arg(long)]
    pub ended: bool,
    /// Look into this directory and no other; without it as TICKSCOPE_DIR says.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// How to measure.
#[derive(Args, Clone, Debug)]
pub struct ModeArgs {
    /// adaptive, the usual one: counts, times calls of short functions now and then, and looks at where each thread is.
    /// exact: every call is timed. sampled: counts, and looks at where each thread is. off: nothing.
    #[arg(value_parser = values::mode())]
    pub mode: Mode,
}

/// Which sites to switch.
#[derive(Args, Clone, Debug)]
pub struct SitesArgs {
    /// Which sites: parse, book::insert, 'alloc::*'. Also applies to those met later.
    #[arg(value_parser = values::pattern)]
    pub pattern: Pattern,
}

/// What to compare with.
#[derive(Args, Clone, Debug, Default)]
pub struct CompareArgs {
    /// Show differences to a kept snapshot, or to the newest of a ring file; ' shows plain numbers.
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,
}

/// The forms of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For reading.
    Text,
    /// For programs.
    Json,
    /// Patterns of what costs more than it tells, for --not of the next build.
    Exclude,
}
