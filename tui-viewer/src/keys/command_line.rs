//! What can be typed behind `:` on the screen: the shell's own commands, for the program that is on it.
//!
//! Both are read by one parser from the same arguments, so that who knows one knows the other.

mod offer;
mod wrong;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, Command, CommandFactory, Parser, Subcommand};
use tickscope_analysis::measure::Measure;
use tickscope_format::pattern::Pattern;
use tickscope_report::form::Form;

use crate::cli::args::look::ThemeKind;
use crate::cli::args::values::{duration, form, measure, pattern};
use crate::cli::args::{ModeArgs, SitesArgs, TimesArgs, TriggerOptions, WatchArgs, When, ending, trigger};
pub(crate) use crate::keys::command_line::offer::{Known, Offers, offers};
use crate::keys::command_line::wrong::{reason, unknown};
pub(crate) use crate::text::words::words;

/// The rates a program publishes at, in records a second.
const RATES_HZ: std::ops::RangeInclusive<u64> = 1..=100;

/// Behind `:trigger`: there is to be none.
pub(crate) const TRIGGER_OFF: &str = "off";

#[derive(Debug, Parser)]
#[command(
    name = ":",
    no_binary_name = true,
    disable_help_flag = true,
    disable_help_subcommand = true
)]
struct CommandArgs {
    #[command(subcommand)]
    command: ScreenCommand,
}

/// A command of the screen.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum ScreenCommand {
    /// Count from zero.
    Reset,
    /// Take the reset back.
    Undo,
    /// Measure in another way; counts begin at zero.
    Mode {
        /// How.
        #[command(flatten)]
        how: ModeArgs,
    },
    /// Switch sites off; their time is their callers'.
    Off {
        /// Which sites.
        #[command(flatten)]
        sites: SitesArgs,
    },
    /// Switch sites on again.
    On {
        /// Which sites.
        #[command(flatten)]
        sites: SitesArgs,
    },
    /// Tell slow calls of a function from typical ones.
    Watch {
        /// Which function.
        #[command(flatten)]
        watch: WatchArgs,
    },
    /// Time between two snapshots.
    Interval {
        /// 20ms, 1s
        #[arg(value_parser = between, value_name = "TIME")]
        between: Duration,
    },
    /// Snapshots a second.
    Rate {
        /// 1 to 100
        #[arg(value_parser = hz, value_name = "1-100")]
        hz: u64,
    },
    /// Back from the moment on screen.
    Back {
        /// 5s, 2m
        #[arg(value_parser = duration, value_name = "TIME")]
        by: Duration,
    },
    /// To a moment: 12s after the oldest, -5s before the newest, 14:02:11.
    At {
        /// 12s, -5s, 14:02:11
        #[arg(value_parser = when, value_name = "TIME", allow_hyphen_values = true)]
        time: When,
    },
    /// Follow the program again.
    Live,
    /// Keep what is on screen in a file that tickscope opens again.
    Snapshot {
        /// The new file.
        file: Option<PathBuf>,
    },
    /// Write the report of what is on screen.
    #[command(alias = "dump")]
    Report {
        /// The new file; its ending says the form.
        file: Option<PathBuf>,
        /// The form.
        #[arg(short, long, value_parser = form(), value_name = "FORM")]
        format: Option<Form>,
        /// What shares and the order are of.
        #[arg(long, value_parser = measure(), value_name = "MEASURE")]
        by: Option<Measure>,
        /// Whose times.
        #[command(flatten)]
        times: TimesArgs,
    },
    /// Keep the past once this becomes true, like p99(handle) > 50ms.
    #[command(alias = "triggers")]
    Trigger {
        /// When: p99(handle) > 50ms
        #[arg(value_name = "CONDITION|off")]
        condition: Vec<String>,
        /// How.
        #[command(flatten)]
        options: TriggerOptions,
    },
    /// What shares, totals and the order are of.
    By {
        /// What.
        #[arg(value_parser = measure())]
        measure: Measure,
    },
    /// The call tree.
    Tree,
    /// Which function costs most itself.
    Hot,
    /// One function, its callers and callees.
    Function {
        /// The function.
        name: Option<String>,
    },
    /// The threads, and where each is.
    #[command(alias = "stacks")]
    Threads,
    /// The tree as widths.
    Flame,
    /// What was met in the source, and what is switched off.
    Sites,
    /// Which async calls are in flight, and what they wait for.
    Tasks,
    /// What threads did when; functions, with `f`.
    Timeline,
    /// Why slow calls of watched functions are slow; FUNCTION is watched from then on.
    #[command(alias = "why")]
    Slow {
        /// The function.
        #[arg(value_parser = pattern, value_name = "FUNCTION")]
        function: Option<Pattern>,
    },
    /// Other colours.
    Theme {
        /// Which.
        #[arg(value_parser = clap::builder::PossibleValuesParser::new(ThemeKind::ALL.map(ThemeKind::word)))]
        name: Option<String>,
    },
    /// All keys.
    Help,
    /// Leave.
    #[command(alias = "q")]
    Quit,
}

impl ScreenCommand {
    /// The same, unless it would write another form than its file's name says.
    fn checked(self) -> Result<Self, String> {
        if let Self::Report { file, format, by, .. } = &self {
            ending::check_report(file.as_deref(), *format)?;
            if by.is_some() {
                let of_file = || file.as_deref().and_then(Form::of_file);
                format.or_else(of_file).unwrap_or_default().check_by()?;
            }
        } else if let Self::Snapshot { file: Some(file) } = &self {
            ending::check_kept(file)?;
        } else if let Self::Trigger { condition, .. } = &self {
            let text = condition.join(" ");
            if !text.is_empty() && text != TRIGGER_OFF {
                trigger::condition(&text)?;
            }
        }
        Ok(self)
    }
}

/// Reads a line.
///
/// # Errors
/// One line: what is wrong with it, and what was wanted.
pub(crate) fn parse(text: &str) -> Result<ScreenCommand, String> {
    let words = words(text);
    let mut typed: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some(first) = typed.first_mut() else {
        return Err("wanted a command; Tab lists them".into());
    };
    let all = CommandArgs::command();
    let Some(command) = named(&all, first) else {
        return Err(unknown(&all, first));
    };
    *first = command.get_name();
    match CommandArgs::try_parse_from(&typed) {
        Ok(line) => line.command.checked(),
        Err(error) => Err(format!(
            "{}; wanted :{}",
            reason(command.get_name(), &error),
            usage(command)
        )),
    }
}

/// How the command that a line begins with goes on, and what it does; none before it is one.
pub(crate) fn hint(text: &str) -> Option<String> {
    let all = CommandArgs::command();
    let words = words(text);
    let command = all.find_subcommand(words.first()?)?;
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    Some(format!("{}: {about}", usage(command)))
}

/// The command that a word means: by name, or by a beginning that only one has.
fn named<'a>(all: &'a Command, word: &str) -> Option<&'a Command> {
    all.find_subcommand(word).or_else(|| {
        let mut fitting = all
            .get_subcommands()
            .filter(|command| !word.is_empty() && command.get_name().starts_with(word));
        fitting.next().filter(|_| fitting.next().is_none())
    })
}

/// `report [FILE] [--format FORM] [--by MEASURE] [--compensated] [--raw]`.
fn usage(command: &Command) -> String {
    let mut parts = vec![command.get_name().to_string()];
    for arg in command.get_arguments() {
        let value = value_of(arg);
        parts.push(match arg.get_long() {
            Some(long) if arg.get_action().takes_values() => format!("[--{long} {value}]"),
            Some(long) => format!("[--{long}]"),
            None if arg.is_required_set() => value,
            None => format!("[{value}]"),
        });
    }
    parts.join(" ")
}

/// More values than these would be longer than the line; Tab lists them.
const VALUES_LISTED: usize = 5;

/// The values that an argument takes, or the name they go by.
fn value_of(arg: &Arg) -> String {
    let possible: Vec<String> = arg
        .get_possible_values()
        .iter()
        .map(|value| value.get_name().to_string())
        .collect();
    if (1..=VALUES_LISTED).contains(&possible.len()) {
        return possible.join("|");
    }
    let names = arg.get_value_names().unwrap_or_default();
    names.first().map(ToString::to_string).unwrap_or_default()
}

fn between(text: &str) -> Result<Duration, String> {
    let shortest = Duration::from_secs(1) / *RATES_HZ.end() as u32;
    duration(text)
        .ok()
        .filter(|between| (shortest..=Duration::from_secs(1)).contains(between))
        .ok_or_else(|| "from 10ms to 1s".into())
}

/// As `--at` of the shell reads it.
fn when(text: &str) -> Result<When, String> {
    text.parse()
        .map_err(|_| "12s is after the oldest, -5s before the newest, 14:02:11 of the clock".into())
}

fn hz(text: &str) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|hz| RATES_HZ.contains(hz))
        .ok_or_else(|| format!("from {} to {} a second", RATES_HZ.start(), RATES_HZ.end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::Cli;
    use tickscope_format::snapshot::Mode;

    fn wrong(text: &str) -> String {
        match parse(text) {
            Err(why) => {
                assert_eq!(why.lines().count(), 1, "{why}");
                why
            }
            Ok(command) => panic!("{text} is {command:?}"),
        }
    }

    #[test]
    fn the_commands_are_sound() {
        CommandArgs::command().debug_assert();
    }

    #[test]
    fn every_command_of_the_shell_is_known_here() {
        let all = CommandArgs::command();
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            if command.is_hide_set() {
                continue;
            }
            for alias in command.get_visible_aliases() {
                let (name, alias) = (all.find_subcommand(name), all.find_subcommand(alias));
                assert_eq!(name.map(Command::get_name), alias.map(Command::get_name));
            }
            if all.find_subcommand(name).is_none() {
                assert_eq!(
                    wrong(name),
                    format!("{name} is a command of the shell: tickscope {name}")
                );
            }
        }
        for (command, argument) in [
            ("reset", ""),
            ("mode", "mode"),
            ("off", "pattern"),
            ("on", "pattern"),
        ] {
            let (shell, screen) = (Cli::command(), CommandArgs::command());
            let of = |all: &Command| {
                let command = all.find_subcommand(command).expect("both have it");
                command
                    .get_arguments()
                    .find(|arg| arg.get_id() == argument)
                    .map(|arg| (value_of(arg), arg.get_help().map(ToString::to_string)))
            };
            assert_eq!(of(&shell), of(&screen), "{command}");
        }
    }

    #[test]
    fn lines_are_read() {
        assert!(matches!(parse("reset"), Ok(ScreenCommand::Reset)));
        assert!(
            matches!(parse("  res "), Ok(ScreenCommand::Reset)),
            "the beginning is enough"
        );
        assert!(matches!(parse("q"), Ok(ScreenCommand::Quit)));
        assert!(matches!(parse("stacks"), Ok(ScreenCommand::Threads)));
        let Ok(ScreenCommand::Mode { how }) = parse("mode adaptive") else {
            panic!("mode")
        };
        assert_eq!(how.mode, Mode::Adaptive);
        for text in ["off alloc::*", "off 'alloc::*'", "off \"alloc::*\""] {
            let Ok(ScreenCommand::Off { sites }) = parse(text) else {
                panic!("off")
            };
            assert_eq!(sites.pattern.as_str(), "alloc::*");
        }
        let Ok(ScreenCommand::Interval { between }) = parse("interval 20ms") else {
            panic!("interval")
        };
        assert_eq!(between, Duration::from_millis(20));
        for (text, when) in [
            ("at 2s", When::After(Duration::from_secs(2))),
            ("at -5s", When::Before(Duration::from_secs(5))),
            ("at 14:02:11", When::Clock(50_531)),
        ] {
            assert!(
                matches!(parse(text), Ok(ScreenCommand::At { time }) if time == when),
                "{text}"
            );
        }
        assert!(matches!(parse("rate 20"), Ok(ScreenCommand::Rate { hz: 20 })));
        let Ok(ScreenCommand::Report {
            file, format, times, ..
        }) = parse("report 'my file.json' --compensated")
        else {
            panic!("report")
        };
        assert_eq!(file, Some("my file.json".into()));
        assert!(format.is_none() && times.compensated);
        assert!(matches!(
            parse("snapshot"),
            Ok(ScreenCommand::Snapshot { file: None })
        ));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_was_wanted() {
        let table = [
            (
                "mode adaptve",
                "mode: \"adaptve\" is no choice; wanted :mode exact|adaptive|sampled|off",
            ),
            ("mode", "mode wants more; wanted :mode exact|adaptive|sampled|off"),
            ("off", "off wants more; wanted :off PATTERN"),
            ("rate 0", "rate 0: from 1 to 100 a second; wanted :rate 1-100"),
            (
                "rate many",
                "rate many: from 1 to 100 a second; wanted :rate 1-100",
            ),
            (
                "interval 1ms",
                "interval 1ms: from 10ms to 1s; wanted :interval TIME",
            ),
            (
                "report a b",
                "report knows no b; wanted :report [FILE] [--format FORM] [--by MEASURE] [--compensated] [--raw]",
            ),
            (
                "at noon",
                "at noon: 12s is after the oldest, -5s before the newest, 14:02:11 of the clock; wanted :at TIME",
            ),
            ("reset --now", "reset knows no --now; wanted :reset"),
            ("", "wanted a command; Tab lists them"),
            ("list", "list is a command of the shell: tickscope list"),
        ];
        for (text, why) in table {
            assert_eq!(wrong(text), why);
        }
        assert!(wrong("rset").starts_with("no command rset; there are reset "));
        assert!(wrong("flam3").starts_with("no command flam3; there are flame "));
        assert!(
            wrong("r").starts_with("no command r; there are rate "),
            "{}",
            wrong("r")
        );
        assert!(
            wrong("report x.svg").starts_with("x.svg: this ending says no form; give one of .txt .html ")
        );
        assert!(parse("report x.svg -f json").is_ok());
        assert!(wrong("snapshot x.json").starts_with("x.json: what is kept here is no text"));
        assert!(wrong("report --raw --compensated").contains("cannot be used with"));
    }

    #[test]
    fn the_hint_says_how_a_command_goes_on() {
        assert_eq!(
            hint("mode").as_deref(),
            Some("mode exact|adaptive|sampled|off: Measure in another way; counts begin at zero")
        );
        assert_eq!(hint("mo"), None);
        assert_eq!(hint(""), None);
    }
}
