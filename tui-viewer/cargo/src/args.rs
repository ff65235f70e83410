//! Arguments of `cargo tickscope`.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use serde::{Deserialize, Serialize};
use tickscope_command::values::pattern;
use tickscope_format::path::split_at;

const EXAMPLES: &str = "\
Examples:
  cargo tickscope run                               the call tree of all functions, in the viewer
  cargo tickscope run --release --bin app -- --fast arguments after run are cargo's, after -- the program's
  cargo tickscope --report run --release            no screen: the report at the end
  cargo tickscope --record run.tks run --release    the whole run in a file; then: tickscope run.tks
  cargo tickscope --only 'regex_automata::*' run    nothing but these functions
  cargo tickscope --not 'log::*' --budget 2% run    without these, and for at most 2 % more CPU time
  cargo tickscope test                              the tests of each test program by time
  cargo tickscope bench                             a report on each benchmark program
  cargo tickscope build --release                   build only; says how to start the program

tickscope.toml beside Cargo.toml keeps such a choice: [functions] with only, not, every and budget.
The sources stay unchanged. Built files are in a separate folder, tickscope in cargo's target directory.
The program's output and its exit code are its own.";

/// See where a program spends its time, function by function, without a change to its sources.
#[derive(Debug, Parser)]
#[command(
    name = "cargo-tickscope",
    bin_name = "cargo tickscope",
    version,
    after_help = EXAMPLES,
    disable_help_subcommand = true,
    override_usage = "cargo tickscope [OPTIONS] <run|build|test|bench> [CARGO ARGS] [-- ARGS]"
)]
pub struct CargoCli<L: Args> {
    /// Which functions are measured.
    #[command(flatten)]
    pub(crate) functions: FunctionsArgs,
    /// Show no screen; print the report to standard error at the end.
    #[arg(long, conflicts_with = "record")]
    pub(crate) report: bool,
    /// Show no screen; record the whole run in this new file, which `tickscope FILE` opens. With test and bench, each
    /// program has its own file, whose name contains the program's name.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// How the screen looks.
    #[command(flatten)]
    pub(crate) look: L,
    /// Command for cargo.
    #[command(subcommand)]
    pub(crate) command: CargoCommand,
}

/// Which functions are measured, and how much that may cost.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FunctionsArgs {
    /// Measure only these functions: parse, book::insert, 'alloc::*'. May be given several times. Default: functions of
    /// the program and its dependencies, except the smallest.
    #[arg(long, value_name = "PATTERN", value_parser = function_patterns)]
    pub(crate) only: Vec<String>,
    /// Do not measure these functions. May be given several times.
    #[arg(long, value_name = "PATTERN", value_parser = function_patterns)]
    pub(crate) not: Vec<String>,
    /// Measure every function, even the smallest and those of the standard library.
    #[arg(long)]
    pub(crate) every_function: bool,
    /// Limit for the additional CPU time. Default: 5%. Above it, functions are switched off; `tickscope sites` names them.
    /// off: no limit.
    #[arg(long, value_name = "PERCENT|off", value_parser = budget)]
    pub(crate) budget: Option<String>,
    /// Forget which functions were too expensive to measure in earlier runs of this build.
    #[arg(long)]
    pub(crate) relearn: bool,
    /// Do not sample the code. Functions that are not counted then have no rows, and their time counts as their callers' time.
    #[arg(long)]
    pub(crate) no_samples: bool,
}

impl FunctionsArgs {
    /// Returns these options, completed with the project's options. If any of `--only`, `--not` and `--every-function`
    /// is given, the project's whole choice of functions is replaced. If a part of it remained, that part could exclude
    /// a function that the user names.
    pub(crate) fn or(self, project: Self) -> Self {
        let typed = Self {
            budget: None,
            relearn: false,
            no_samples: false,
            ..self.clone()
        };
        let choice = if typed == Self::default() {
            &project
        } else {
            &typed
        };
        Self {
            budget: self.budget.or_else(|| project.budget.clone()),
            relearn: self.relearn,
            no_samples: self.no_samples,
            ..choice.clone()
        }
    }

    /// Returns the environment variables that pass these options to the collector.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let mut variables = Vec::new();
        if self.every_function {
            variables.push(("TICKSCOPE_FUNCTIONS", "every".to_string()));
        }
        for (name, patterns) in [("TICKSCOPE_ONLY", &self.only), ("TICKSCOPE_NOT", &self.not)] {
            if !patterns.is_empty() {
                variables.push((name, patterns.join(",")));
            }
        }
        variables.extend(self.budget.clone().map(|budget| ("TICKSCOPE_BUDGET", budget)));
        if self.relearn {
            variables.push(("TICKSCOPE_RELEARN", "on".to_string()));
        }
        if self.no_samples {
            variables.push(("TICKSCOPE_LINES", "off".to_string()));
        }
        variables
    }
}

/// The cargo command to run, with sleds in the functions and the collector linked into the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum CargoCommand {
    /// Build a program, start it and watch it.
    #[command(
        alias = "r",
        override_usage = "cargo tickscope [OPTIONS] run [CARGO ARGS] [-- ARGS]"
    )]
    Run,
    /// Build, and say how to start what was built.
    #[command(alias = "b", override_usage = "cargo tickscope [OPTIONS] build [CARGO ARGS]")]
    Build,
    /// Run the tests, and print the tests of each test program by time.
    #[command(
        alias = "t",
        override_usage = "cargo tickscope [OPTIONS] test [CARGO ARGS] [-- ARGS]"
    )]
    Test,
    /// Run the benchmarks, and print a report on each benchmark program.
    #[command(override_usage = "cargo tickscope [OPTIONS] bench [CARGO ARGS] [-- ARGS]")]
    Bench,
}

impl CargoCommand {
    /// Returns cargo's name for the command.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Build => "build",
            Self::Test => "test",
            Self::Bench => "bench",
        }
    }
}

/// A command line, split into the arguments for this program and the arguments for cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Everything up to and including cargo's command, such as `run`. The first word is the name of this program.
    pub ours: Vec<OsString>,
    /// Everything after cargo's command, for cargo and for the program that cargo starts.
    pub(crate) for_cargo: Vec<OsString>,
}

/// Splits a command line right after the cargo command, which is the first word that is neither an option nor the value
/// of an option.
pub fn split<L: Args>(words: impl IntoIterator<Item = OsString>) -> Split {
    let mut ours: Vec<OsString> = words.into_iter().collect();
    let cli = CargoCli::<L>::command();
    let takes_value = |word: &OsStr| {
        let long = word.to_str().and_then(|word| word.strip_prefix("--"));
        cli.get_arguments()
            .any(|option| option.get_long() == long && long.is_some() && option.get_action().takes_values())
    };
    let mut at = 1;
    while let Some(word) = ours.get(at) {
        if !word.as_encoded_bytes().starts_with(b"-") {
            break;
        }
        at += if takes_value(word) { 2 } else { 1 };
    }
    let for_cargo = ours.split_off(ours.len().min(at + 1));
    Split { ours, for_cargo }
}

/// Returns the first argument after the cargo command that is an option of this program. Cargo would refuse it.
pub(crate) fn misplaced(for_cargo: &[OsString]) -> Option<&str> {
    const OURS: [&str; 8] = [
        "--only",
        "--not",
        "--every-function",
        "--budget",
        "--relearn",
        "--no-samples",
        "--report",
        "--record",
    ];
    let before_dashes = for_cargo.iter().take_while(|word| *word != "--");
    before_dashes
        .filter_map(|word| word.to_str())
        .find(|word| OURS.contains(&word.split('=').next().unwrap_or_default()))
}

/// Returns whether the arguments after the cargo command ask for help. If so, this program shows its own help.
pub(crate) fn asks_for_help(for_cargo: &[OsString]) -> bool {
    let mut before_dashes = for_cargo.iter().take_while(|word| *word != "--");
    before_dashes.any(|word| word == "--help" || word == "-h")
}

/// Parses function patterns that are separated by commas, and returns them as a list that the collector can read. A
/// comma inside generic arguments becomes `*` in that list, because the collector takes every comma for a separator.
pub(crate) fn function_patterns(text: &str) -> Result<String, String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = Some(text);
    while let Some(list) = rest {
        let (first, others) =
            split_at(list, ",").map_or((list, None), |(first, others)| (first, Some(others)));
        words.push(pattern(first.trim())?.as_str().replace(',', "*"));
        rest = others;
    }
    Ok(words.join(","))
}

/// Parses a share of the CPU time (`5%` or `5`), or `off` for no limit, and returns it in the form that the collector
/// reads.
pub(crate) fn budget(text: &str) -> Result<String, &'static str> {
    if text == "off" {
        return Ok(text.into());
    }
    let number: Option<f64> = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    match number {
        Some(percent) if (0.1..=1000.0).contains(&percent) => Ok(format!("{percent}%")),
        _ => Err("wanted 0.1% to 1000%, like 5% or 2.5%, or off"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stands in for the options that determine how the screen looks.
    #[derive(Args, Debug)]
    struct Look {
        #[arg(long)]
        ascii: bool,
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ')
            .filter(|word| !word.is_empty())
            .map(OsString::from)
            .collect()
    }

    fn parsed(line: &str) -> (CargoCli<Look>, Vec<OsString>) {
        let parts = split::<Look>(words(line));
        (CargoCli::<Look>::parse_from(parts.ours), parts.for_cargo)
    }

    #[test]
    fn the_command_line_is_sound() {
        CargoCli::<Look>::command().debug_assert();
    }

    #[test]
    fn all_behind_the_command_is_cargos() {
        let (cli, rest) = parsed(
            "c --only a,b::* --not c --budget 2.50% --record f.tks run --release -p x -- --report -- y",
        );
        assert_eq!(cli.command, CargoCommand::Run);
        assert_eq!(cli.functions.only, ["a,b::*"]);
        assert_eq!(cli.functions.not, ["c"]);
        assert_eq!(cli.functions.budget.as_deref(), Some("2.5%"));
        assert_eq!(cli.record, Some("f.tks".into()));
        assert_eq!(rest, words("--release -p x -- --report -- y"));
        // The value of an option may look like a command, and may follow an equals sign.
        let (cli, rest) = parsed("c --only run --not=test --ascii t --no-run");
        assert_eq!((cli.command, rest), (CargoCommand::Test, words("--no-run")));
        assert_eq!(
            (cli.functions.only, cli.functions.not),
            (vec!["run".into()], vec!["test".into()])
        );
        assert!(cli.look.ascii);
        let (cli, rest) = parsed("c --every-function --report bench");
        assert!(cli.functions.every_function && cli.report && rest.is_empty());
    }

    #[test]
    fn what_is_typed_replaces_what_the_project_says() {
        let args = |line: &str| parsed(&format!("c {line} run")).0.functions;
        let project = args("--only a --not b --budget 3%");
        assert_eq!(args("").or(project.clone()), project);
        assert_eq!(
            args("--budget 9%").or(project.clone()),
            args("--only a --not b --budget 9%")
        );
        let unlimited = args("--budget off").or(project.clone()).variables();
        assert!(
            unlimited.contains(&("TICKSCOPE_BUDGET", "off".to_string())),
            "{unlimited:?}"
        );
        assert_eq!(args("--not c").or(project.clone()), args("--not c --budget 3%"));
        let anew = args("--relearn --no-samples").or(project.clone());
        assert_eq!(anew, args("--only a --not b --budget 3% --relearn --no-samples"));
        assert!(
            anew.variables()
                .contains(&("TICKSCOPE_RELEARN", "on".to_string()))
        );
        assert_eq!(anew.variables().len(), 5);
        assert_eq!(
            args("--every-function --not c").or(project).variables(),
            [
                ("TICKSCOPE_FUNCTIONS", "every".to_string()),
                ("TICKSCOPE_NOT", "c".to_string()),
                ("TICKSCOPE_BUDGET", "3%".to_string())
            ]
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in [
            "c",
            "c --only",
            "c check",
            "c --report --record f run",
            "c --budget 0% run",
            "c --budget many run",
            "c --budget 2000% run",
            "c --only= run",
        ] {
            let parts = split::<Look>(words(line));
            assert!(CargoCli::<Look>::try_parse_from(parts.ours).is_err(), "{line}");
        }
    }

    #[test]
    fn our_options_among_cargos_are_found() {
        assert_eq!(misplaced(&words("--release --only x")), Some("--only"));
        assert_eq!(misplaced(&words("--budget=5%")), Some("--budget=5%"));
        assert_eq!(misplaced(&words("--release -- --only x")), None);
        assert!(asks_for_help(&words("--release -h")) && !asks_for_help(&words("-- --help")));
    }
}
