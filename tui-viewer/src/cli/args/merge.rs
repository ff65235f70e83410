//! Arguments of `tickscope merge`.

use std::path::PathBuf;

use clap::Args;

/// Text after the options in `tickscope merge --help`.
const EXAMPLES: &str = "\
Of each file the newest snapshot counts. Threads are added up by name, functions by path, whichever
program, run or host they are of. Slow calls, lines, tasks and levels are of one run alone and are
left out; what is not as one might think is said.

Examples:
  tickscope merge host-*/*.tks -o all.tks
  tickscope diff yesterday.tks all.tks
  tickscope report --view hot all.tks";

/// Which runs to add up, and where their sum goes.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct MergeArgs {
    /// Snapshots and recordings (.tks), pages (.html) or rings.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The new file, NAME.tks.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Leave out files that cannot be read, and say which, instead of failing.
    #[arg(long)]
    pub skip_unreadable: bool,
}
