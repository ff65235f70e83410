//! Arguments of `tickscope record`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::args::shared::TargetArgs;
use crate::cli::args::values::duration;

/// Text after the options in `tickscope record --help`.
const EXAMPLES: &str = "\
Examples:
  tickscope record                            the program that runs, until Ctrl-C or its end
  tickscope record order-book -d 30s --after 10s -o run.tks
  tickscope record -o run.tks -- ./app --fast from its start to its end; with its exit code
  ssh host tickscope record -o - app | tickscope -
                                              the live screen of a program on another host
  tickscope run.tks                           go back and forth in it: , . ( ) { }
  tickscope report run.tks --at 12s           what was counted up to then
  tickscope report run.tks --from 12s --to 14:02:11 -f html -o slow.html

All records that were written can be read, also if the program or the recorder is killed, or the
disk is full. Each record has all counts since the program's last reset; the counts before a reset
are written before it.
With -- CMD the recording also ends after -d; the program itself runs on to its end.
With -o - the recording goes to standard output as it comes, for tickscope - at the other end of a pipe.";

/// What to record, for how long, and to which file.
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = EXAMPLES)]
pub struct RecordArgs {
    /// Which program.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Record for this long: 30, 30s, 500ms, 2m. Default: until Ctrl-C or the program's end.
    #[arg(short, long, value_name = "DURATION", value_parser = duration)]
    pub duration: Option<Duration>,
    /// Wait this long before recording; the program runs meanwhile.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub after: Option<Duration>,
    /// File to create. Default: ./NAME-PID-TIME.tks, or ./CMD-TIME.tks if a CMD is given. - means standard output,
    /// to be piped to `tickscope -`.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Overwrite the file if it exists.
    #[arg(long, requires = "output")]
    pub force: bool,
    /// With -o -: wait for the program to appear, and when it has ended, continue with its next run.
    #[arg(long, requires = "output", conflicts_with = "command")]
    pub follow: bool,
    /// Records per second, 1 to 100. Default: 10.
    #[arg(long, value_name = "HZ", value_parser = clap::value_parser!(u64).range(1..=100))]
    pub rate: Option<u64>,
    /// The program to start and record, and its arguments.
    #[arg(last = true, value_name = "CMD", conflicts_with_all = ["target", "pid"])]
    pub command: Vec<OsString>,
}
