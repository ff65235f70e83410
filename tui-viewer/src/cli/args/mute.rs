//! What can be typed behind `tickscope mute`.

use clap::Args;

use crate::cli::args::shared::TargetArgs;

/// What stands behind the options in `tickscope mute --help`.
const MUTE: &str = "\
A scope costs more than it tells if measuring it takes more than half of what is in it, and more than 2 % of
the time in which threads work in scopes. Both must hold beyond doubt. Functions that are watched stay on.

Examples:
  tickscope mute --dry-run      which scopes that are, and what measuring them takes
  tickscope mute                mute them all
  tickscope on parse::peek      open one again; it stays open
  tickscope on '*'              open all";

/// Which program, and whether only to look.
#[derive(Args, Clone, Debug)]
#[command(after_help = MUTE)]
pub struct MuteArgs {
    /// Which program.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Only list them; also of a program that has ended, or of a file.
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// As JSON: the member `mute` of reports, as it is afterwards.
    #[arg(long)]
    pub json: bool,
}
