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
    /// Patterns of functions that are off for the budget, for --not of the next build.
    Exclude,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_id_is_a_target_and_without_one_the_only_program_is() {
        assert_eq!(TargetArgs::default().wanted(), Wanted::Only);
        let args = TargetArgs {
            pid: Some(7),
            ..TargetArgs::default()
        };
        assert_eq!(args.wanted(), Wanted::Pid(7));
    }
}
