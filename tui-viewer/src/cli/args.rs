//! Arguments of `tickscope`.

pub(crate) mod diff;
mod ending;
mod lines;
mod list;
mod log;
pub(crate) mod look;
mod mcp;
mod moment;
mod record;
mod report;
mod shared;
mod slow;
mod top;
pub(crate) mod trigger;
pub(crate) mod values;
mod wait_until;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use tickscope_fleet::args::{MergeArgs, MetricsArgs, PushArgs};

pub use self::diff::{DiffArgs, DiffFormat};
pub use self::lines::{LinesArgs, OnOff};
pub use self::log::LogArgs;
pub use self::look::{ColorChoice, LookArgs, ThemeKind};
pub use self::mcp::McpArgs;
pub use self::moment::MomentArgs;
pub use self::record::RecordArgs;
pub use self::report::ReportArgs;
pub use self::shared::{CompareArgs, Format, ModeArgs, SitesArgs, TargetArgs};
pub use self::slow::{WatchArgs, WhyArgs, WhyFormat};
pub use self::top::TopArgs;
pub use self::trigger::{TriggerArgs, TriggerOptions};
pub use self::wait_until::WaitUntilArgs;
use crate::cli::args::values::duration;

/// Arguments of `cargo tickscope`, including the options for how the screen looks.
pub type CargoCli = tickscope_cargo::args::CargoCli<LookArgs>;

/// See where a running program spends its time: a live call tree of a program that carries tickscope.
#[derive(Debug, Parser)]
#[command(name = "tickscope", version, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct Cli {
    /// The command; `attach` if none is given.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Which program.
    #[command(flatten)]
    pub target: TargetArgs,
    /// How the screen looks.
    #[command(flatten)]
    pub look: LookArgs,
    /// What to compare with.
    #[command(flatten)]
    pub compare: CompareArgs,
}

const EXAMPLES: &str = "\
Examples:
  tickscope                        attach to the program that runs
  tickscope order-book             attach by name, or by pid, or open a file
  tickscope run -- ./app --fast    start a program and watch it
  cargo tickscope run --release    the same for all functions of a cargo project, unedited
  tickscope --compare before.tks   show what differs from a snapshot kept with s
  tickscope report -f json -o now.json
  tickscope report -f folded | inferno-flamegraph > now.svg
  tickscope diff a.tks b.tks       what changed between two runs or builds
  tickscope record -d 30s -o run.tks, then: tickscope run.tks
  tickscope record -- ./app --fast record a program from its start to its end
  tickscope trigger 'p99(handle) > 50ms'  keep the half minute before calls become slow
  tickscope log --group malloc     time in it, a line for each thread and second
  tickscope stacks 4711            where each thread is right now
  tickscope mode exact             time every call from now on
  tickscope off 'alloc::*'         switch sites off
  tickscope why handle --for 10s   why its slow calls are slow
  tickscope top --json             functions that take most, for scripts; more: tickscope agents
  tickscope demo                   look around without a program of your own
  tickscope completions bash       a script that makes Tab complete commands
  tickscope man | man -l -         the manual; of one command: tickscope man report

Exit codes: 0 done; 1 failed; 2 misuse, or no such target; 3 a gate of diff failed, or wait-until timed out;
4 the program of wait-until has ended; run: the program's own.

On the screen, ? shows all keys.
A TARGET is a path if it contains / or ends in .ring .tks .json .html, a pid if it is all digits, else a name.";

const COMPLETIONS: &str = "\
Examples:
  bash   source <(tickscope completions bash)      in ~/.bashrc
  zsh    tickscope completions zsh > ~/.zfunc/_tickscope
         with  fpath+=~/.zfunc  before compinit in ~/.zshrc
  fish   tickscope completions fish > ~/.config/fish/completions/tickscope.fish";

const MANUAL: &str = "\
Examples:
  tickscope man | man -l -
  tickscope man report > ~/.local/share/man/man1/tickscope-report.1
  tickscope man cargo-tickscope > ~/.local/share/man/man1/cargo-tickscope.1
                                   then: cargo help tickscope";

/// Command to run.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch a program; the same as no command.
    Attach {
        /// Which program.
        #[command(flatten)]
        target: TargetArgs,
        /// How the screen looks.
        #[command(flatten)]
        look: LookArgs,
        /// What to compare with.
        #[command(flatten)]
        compare: CompareArgs,
    },
    /// List the programs that carry tickscope, running and ended, and the recordings kept in this directory.
    #[command(visible_alias = "ls", after_help = list::STATES)]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// Remove files that no program writes to any more, from the directory of --dir, else of TICKSCOPE_DIR, else
        /// from /dev/shm/tickscope-UID and /tmp/tickscope-UID. Files of running programs and .tks files are kept.
        #[arg(long)]
        clean: bool,
        /// Search for programs only in this directory. Default: TICKSCOPE_DIR, or else /dev/shm/tickscope-UID and
        /// /tmp/tickscope-UID.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Print the call tree and the top functions, or export them.
    #[command(visible_alias = "dump")]
    Report(Box<ReportArgs>),
    /// Print the top functions in a few lines; --json is for scripts and agents.
    Top(Box<TopArgs>),
    /// Compare two builds or two runs. With --fail-if, fail if calls or times have grown.
    Diff(Box<DiffArgs>),
    /// Record a program's snapshots in a file. `tickscope FILE` opens it, to go back and forth in time.
    Record(Box<RecordArgs>),
    /// Print where each thread is right now: its open scopes, and for how long they have been open.
    Stacks {
        /// Print the async calls in flight instead: for how long they have been in flight, and what they wait for.
        #[arg(long)]
        tasks: bool,
        /// Which program.
        #[command(flatten)]
        target: TargetArgs,
    },
    /// Print, second by second, how long each thread was inside each group or function.
    Log(Box<LogArgs>),
    /// Add up the snapshots of many runs and hosts, and write the sum to one file.
    Merge(MergeArgs),
    /// Serve the counts of all programs of this host to Prometheus.
    Metrics(Box<MetricsArgs>),
    /// Send profiles of this host's programs to Pyroscope, every few seconds.
    Push(Box<PushArgs>),
    /// Keep the last half minute of a program in a recording when a condition becomes true.
    Trigger(Box<TriggerArgs>),
    /// Wait until a condition is true. The exit code tells scripts whether it became true.
    WaitUntil(Box<WaitUntilArgs>),
    /// Keep a snapshot in a file that `tickscope FILE` opens again.
    Snapshot {
        /// Which program.
        #[command(flatten)]
        target: TargetArgs,
        /// The new file; by default ./NAME-PID-TIME.tks.
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Set a program's counters to zero.
    Reset {
        /// Which program.
        #[command(flatten)]
        target: TargetArgs,
        /// Wait this long before the reset: 10, 10s, 500ms.
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        after: Option<Duration>,
    },
    /// Change how the program is measured from now on; counts begin at zero.
    Mode {
        /// Mode to change to.
        #[command(flatten)]
        how: ModeArgs,
        /// Which program.
        #[command(flatten)]
        target: TargetArgs,
    },
    /// Switch sites off; their time counts as time of their callers.
    Off {
        /// Which sites.
        #[command(flatten)]
        sites: SitesArgs,
        /// Which program.
        #[command(flatten)]
        target: TargetArgs,
    },
    /// Switch sites on again.
    On {
        /// Which sites.
        #[command(flatten)]
        sites: SitesArgs,
        /// Which program.
        #[command(flatten)]
        target: TargetArgs,
    },
    /// Print the sites met so far, which of them are switched off, and the rules for this.
    Sites {
        /// Which program.
        #[command(flatten)]
        target: TargetArgs,
        /// Output format.
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Separate slow calls of a function from typical calls from now on.
    Watch {
        /// Which function.
        #[command(flatten)]
        watch: WatchArgs,
        /// Which program.
        #[command(flatten)]
        target: TargetArgs,
    },
    /// Start or stop sampling which lines of code threads execute; report --view source shows the lines.
    Lines(LinesArgs),
    /// Tell why the slow calls of a function are slow.
    Why(Box<WhyArgs>),
    /// Print a guide for agents and scripts: what numbers mean, how to measure, change and compare.
    Agents,
    /// Answer a client of the Model Context Protocol on standard input and output.
    Mcp(McpArgs),
    /// Start a program and watch it. Its output is printed at the end, and its exit code is returned.
    Run {
        /// Show no screen; print the report to standard error at the end.
        #[arg(long)]
        report: bool,
        /// Search for programs only in this directory. Default: TICKSCOPE_DIR, or else /dev/shm/tickscope-UID and
        /// /tmp/tickscope-UID.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
        /// How the screen looks.
        #[command(flatten)]
        look: LookArgs,
        /// The program and its arguments.
        #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
        command: Vec<std::ffi::OsString>,
    },
    /// Show tickscope with two example programs, a ray tracer and a small service.
    Demo {
        /// How the screen looks.
        #[command(flatten)]
        look: LookArgs,
    },
    /// Print the completion script of a shell.
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// Which shell.
        shell: Shell,
    },
    /// Print the manual page of tickscope or of one command, in the format of man.
    #[command(after_help = MANUAL)]
    Man {
        /// A command, such as report, or cargo-tickscope. Default: the page of tickscope itself.
        command: Option<String>,
    },
    /// Program that `demo` starts.
    #[command(hide = true)]
    DemoProgram {
        /// Number of frames to render. Default: renders until it is killed.
        #[arg(long)]
        frames: Option<u64>,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_stands_below_the_options_fits_a_terminal() {
        let cli = Cli::command();
        for name in ["diff", "log", "metrics", "push", "report", "trigger"] {
            let command = cli.find_subcommand(name).expect("a command");
            let below = command.get_after_long_help().expect("a text").to_string();
            let line = below.lines().find(|line| line.chars().count() > 100);
            assert_eq!(line, None, "{name}");
        }
    }

    #[test]
    fn a_target_needs_no_command() {
        let cli = Cli::parse_from(["tickscope", "order-book", "--ascii"]);
        assert_eq!(cli.target.target.as_deref(), Some("order-book"));
        assert!(cli.look.ascii && cli.command.is_none());
    }
}
