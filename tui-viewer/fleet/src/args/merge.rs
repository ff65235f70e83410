//! Arguments of `tickscope merge`.

use std::path::PathBuf;

use clap::Args;

/// Text after the options in `tickscope merge --help`.
const EXAMPLES: &str = "\
The newest snapshot of each file counts. Threads are added up by name, functions by path, from any
program, run or host. Slow calls, lines, tasks and levels do not add up and are left out; messages
say so.

Examples:
  tickscope merge host-*/*.tks -o all.tks
  tickscope diff yesterday.tks all.tks
  tickscope report --view hot all.tks";

/// Which runs to add up, and where to write the sum.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = EXAMPLES)]
pub struct MergeArgs {
    /// Snapshots and recordings (.tks), pages (.html) or rings.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The new file, NAME.tks.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Skip files that cannot be read, with a message for each, instead of failing.
    #[arg(long)]
    pub skip_unreadable: bool,
}
