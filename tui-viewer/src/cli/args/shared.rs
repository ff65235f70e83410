//! Arguments that several commands take.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::Mode;
use tickscope_programs::target::wanted::Wanted;

use crate::cli::args::values;

/// Which program, and where to look for it.
#[derive(Args, Clone, Debug, Default)]
pub struct TargetArgs {
    /// Name, pid or file. Default: the only running program.
    pub target: Option<String>,
    /// The program with this process id.
    #[arg(short, long, conflicts_with = "target", value_parser = values::pid)]
    pub pid: Option<u32>,
    /// Show all running programs with this name as one; * in the name matches any text. Works with attach, report, top,
    /// stacks, sites and snapshot.
    #[arg(long, conflicts_with = "pid")]
    pub all: bool,
    /// If no program with the given name is running, use the most recent run that has ended, even in JSON and other
    /// formats meant for scripts.
    #[arg(long)]
    pub ended: bool,
    /// Search for programs only in this directory. Default: TICKSCOPE_DIR, or else /dev/shm/tickscope-UID and
    /// /tmp/tickscope-UID.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

impl TargetArgs {
    /// Returns the target that the arguments describe.
    pub(crate) fn wanted(&self) -> Wanted {
        if self.all {
            return Wanted::All(self.target.clone().unwrap_or_default());
        }
        match (self.pid, self.target.as_deref()) {
            (Some(pid), _) => Wanted::Pid(pid),
            (None, Some(text)) => Wanted::typed(text),
            (None, None) => Wanted::Only,
        }
    }
}

/// How to measure.
#[derive(Args, Clone, Debug)]
pub struct ModeArgs {
    /// adaptive, the default: count calls, time only some calls of short functions, and sample where each thread is.
    /// exact: time every call. sampled: count calls, and sample where each thread is. off: measure nothing.
    #[arg(value_parser = values::mode())]
    pub mode: Mode,
}

/// Which sites to switch.
#[derive(Args, Clone, Debug)]
pub struct SitesArgs {
    /// Which sites: parse, book::insert, 'alloc::*'. Also applies to sites that the program reaches for the first time later.
    #[arg(value_parser = values::pattern)]
    pub pattern: Pattern,
}

/// What to compare with.
#[derive(Args, Clone, Debug, Default)]
pub struct CompareArgs {
    /// Show differences from a saved snapshot, or from the newest record of a ring file. The key ' switches back to plain
    /// numbers.
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,
}

/// Output formats of `tickscope sites`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For reading.
    Text,
    /// For programs.
    Json,
    /// Patterns of the functions that the budget has switched off, to be passed to --not in the next build.
    Exclude,
}
