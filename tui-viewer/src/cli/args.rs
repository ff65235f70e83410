//! What can be typed behind `tickscope`.

pub(crate) mod diff;
pub(crate) mod ending;
mod list;
mod log;
mod moment;
mod record;
mod report;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use tickscope_format::pattern::{self, Pattern};
use tickscope_format::snapshot::Mode;

pub use self::diff::{DiffArgs, DiffFormat, DiffView};
pub use self::log::LogArgs;
pub use self::moment::{MomentArgs, When};
pub use self::record::RecordArgs;
pub use self::report::{ReportArgs, ReportFormat, ReportUnit, ReportView};
use crate::ui::theme::{ColorChoice, ThemeKind};

/// See where a running program spends its time: a live call tree of a program that carries tickscope.
#[derive(Debug, Parser)]
#[command(name = "tickscope", version, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct Cli {
    /// What to do; without a command: attach.
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
  tickscope --compare before.tks   show what differs from a snapshot kept with s
  tickscope report -f json -o now.json
  tickscope report -f folded | inferno-flamegraph > now.svg
  tickscope diff a.tks b.tks       what changed between two runs or builds
  tickscope record -d 30s -o run.tks, then: tickscope run.tks
  tickscope record -- ./app --fast record a program from its start to its end
  tickscope log --group malloc     time in it, a line for each thread and second
  tickscope stacks 4711            where each thread is right now
  tickscope mode adaptive          measure at a lower cost from now on
  tickscope off 'alloc::*'         leave sites out
  tickscope demo                   look around without a program of your own
  tickscope completions bash       a script that makes Tab complete all this
  tickscope man | man -l -         the manual; of one command: tickscope man report

Exit codes: 0 done; 1 failed; 2 misuse, or no such target; 3 a gate of diff failed; run: the program's own.

On the screen, : takes these commands too, and ? shows all keys.
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
  tickscope man report > ~/.local/share/man/man1/tickscope-report.1";

/// Which program, and where to look for it.
#[derive(Args, Clone, Debug, Default)]
pub struct TargetArgs {
    /// Name, pid or file; without it, the only program that runs.
    pub target: Option<String>,
    /// The program with this process id.
    #[arg(short, long, conflicts_with = "target", value_parser = pid)]
    pub pid: Option<u32>,
    /// Look into this directory first.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// How to measure.
#[derive(Args, Clone, Debug)]
pub struct ModeArgs {
    /// exact: every call is timed. adaptive: calls of short functions are timed now and then. sampled: counts,
    /// and looks at where each thread is. off: nothing.
    #[arg(value_parser = mode())]
    pub mode: Mode,
}

/// Which sites to switch.
#[derive(Args, Clone, Debug)]
pub struct SitesArgs {
    /// Which sites: parse, book::insert, 'alloc::*'. Also applies to those met later.
    #[arg(value_parser = pattern)]
    pub pattern: Pattern,
}

/// The times in a report.
#[derive(Args, Clone, Debug, Default)]
pub struct TimesArgs {
    /// Take what measuring costs, at least, off the times.
    #[arg(long, conflicts_with = "raw")]
    pub compensated: bool,
    /// The times as they were measured; so it is without this.
    #[arg(long)]
    pub raw: bool,
}

/// How the screen looks.
#[derive(Args, Clone, Debug)]
pub struct LookArgs {
    /// Colours: as the terminal and NO_COLOR say, or always, or never.
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
    /// Which colours: the terminal's sixteen, for a light background, for every kind of colour vision, none. By
    /// itself as TICKSCOPE_THEME says.
    #[arg(long, value_parser = theme(), value_name = "NAME")]
    pub theme: Option<ThemeKind>,
    /// Nothing but ASCII; by itself where the locale is not UTF-8.
    #[arg(long)]
    pub ascii: bool,
    /// Take the mouse at the start, for clicks and the wheel; M gives it back.
    #[arg(long, overrides_with = "no_mouse")]
    pub mouse: bool,
    /// Leave the mouse to the terminal, as without --mouse; M takes it.
    #[arg(long, overrides_with = "mouse")]
    pub no_mouse: bool,
    /// Panics after so many frames, for the test of how the terminal is left.
    #[arg(long, hide = true)]
    pub panic_after: Option<u64>,
}

/// What to compare with.
#[derive(Args, Clone, Debug, Default)]
pub struct CompareArgs {
    /// Show differences to a kept snapshot, or to the newest of a ring file; ' shows plain numbers.
    #[arg(long, value_name = "FILE")]
    pub compare: Option<PathBuf>,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// As the terminal and NO_COLOR say.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The forms of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For reading.
    Text,
    /// For programs.
    Json,
}

/// What to do.
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
    /// List the programs that carry tickscope, running and ended.
    #[command(visible_alias = "ls", after_help = list::STATES)]
    List {
        /// As JSON.
        #[arg(long)]
        json: bool,
        /// Remove the files that no program writes any more, from one directory: that of --dir, else of TICKSCOPE_DIR, else
        /// from your own, /dev/shm/tickscope-UID and /tmp/tickscope-UID. Nothing of what runs, and no .tks.
        #[arg(long)]
        clean: bool,
        /// Look into this directory first.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Print the call tree and the top functions, or export them.
    #[command(visible_alias = "dump")]
    Report(Box<ReportArgs>),
    /// Compare two builds or two runs, and fail where calls or times have grown.
    Diff(Box<DiffArgs>),
    /// Record a program's snapshots in a file that `tickscope FILE` opens again, to go back and forth in.
    Record(Box<RecordArgs>),
    /// Print where each thread is right now: its open scopes and for how long.
    Stacks {
        /// Which program.
        #[command(flatten)]
        target: TargetArgs,
    },
    /// Print, second by second, how long each thread was inside each group or function.
    Log(Box<LogArgs>),
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
        /// Wait so long first: 10, 10s, 500ms.
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        after: Option<Duration>,
    },
    /// Measure in another way from now on; counts begin at zero.
    Mode {
        /// How.
        #[command(flatten)]
        how: ModeArgs,
        /// Which program.
        #[command(flatten)]
        target: TargetArgs,
    },
    /// Switch sites off; their time is their callers'.
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
    /// Print the sites met so far, which are switched off, and the rules that say so.
    Sites {
        /// Which program.
        #[command(flatten)]
        target: TargetArgs,
        /// The form.
        #[arg(short, long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Start a program and watch it; its output follows afterwards, its exit code is ours.
    Run {
        /// No screen: print the report to standard error at the end.
        #[arg(long)]
        report: bool,
        /// Look into this directory first.
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
        /// How the screen looks.
        #[command(flatten)]
        look: LookArgs,
        /// The program and its arguments.
        #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
        command: Vec<std::ffi::OsString>,
    },
    /// Watch a ray tracer at work: what tickscope looks like.
    Demo {
        /// How the screen looks.
        #[command(flatten)]
        look: LookArgs,
    },
    /// Print what makes a shell complete the command line by Tab.
    #[command(after_help = COMPLETIONS)]
    Completions {
        /// Which shell.
        shell: Shell,
    },
    /// Print the manual page, of all or of one command, for man.
    #[command(after_help = MANUAL)]
    Man {
        /// The command, like report; without it the page of tickscope itself.
        command: Option<String>,
    },
    /// The program behind `demo`.
    #[command(hide = true)]
    DemoProgram {
        /// Frames to render; without it, until killed.
        #[arg(long)]
        frames: Option<u64>,
    },
}

fn pid(text: &str) -> Result<u32, &'static str> {
    text.parse()
        .map_err(|_| "wanted a process id, a number like 4711; a name stands without -p")
}

// What is not possible does not come as far as these two look it up.

fn mode() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::as_str)).map(|name| Mode::named(&name).unwrap_or_default())
}

fn theme() -> impl TypedValueParser<Value = ThemeKind> {
    PossibleValuesParser::new(ThemeKind::ALL.map(ThemeKind::word))
        .map(|word| ThemeKind::named(&word).unwrap_or(ThemeKind::Sixteen))
}

fn pattern(text: &str) -> Result<Pattern, String> {
    Pattern::new(text).map_err(|_| {
        let found = match text.chars().any(char::is_control) {
            true => "control characters".to_string(),
            false => format!("{} bytes", text.len()),
        };
        format!(
            "wanted 1 to {} bytes without control characters, like parse, book::insert or alloc::*; here are {found}",
            pattern::BYTES_MAX,
        )
    })
}

/// `10` and `10s` are seconds, `500ms` milliseconds, `2m` minutes.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "ms" => 1e-3,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("wanted a duration like 10, 10s, 500ms, 2m".into()),
    };
    let number: f64 = digits
        .parse()
        .map_err(|_| "wanted a duration like 10, 10s, 500ms, 2m".to_string())?;
    Duration::try_from_secs_f64(number * factor)
        .map_err(|_| "wanted a duration of this world, like 10, 10s, 500ms, 2m".into())
}

impl From<Color> for ColorChoice {
    fn from(color: Color) -> Self {
        match color {
            Color::Auto => Self::Auto,
            Color::Always => Self::Always,
            Color::Never => Self::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn durations() {
        assert_eq!(duration("10"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        for bad in ["", "ms", "-1", "10x", "1e999", "abc"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_target_needs_no_command() {
        let cli = Cli::parse_from(["tickscope", "order-book", "--ascii"]);
        assert_eq!(cli.target.target.as_deref(), Some("order-book"));
        assert!(cli.look.ascii && cli.command.is_none());
    }

    #[test]
    fn run_takes_all_that_follows() {
        for line in [
            &["tickscope", "run", "--", "ls", "-l"][..],
            &["tickscope", "run", "ls", "-l"],
        ] {
            let Some(Command::Run { command, .. }) = Cli::parse_from(line).command else {
                panic!("run")
            };
            assert_eq!(command, ["ls", "-l"]);
        }
    }
}
