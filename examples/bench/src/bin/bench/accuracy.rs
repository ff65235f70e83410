//! Compares the numbers that tickscope shows with the true ones. Every subcommand prints JSON objects, one per line.

mod cost;
mod errors;

use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use tickscope_bench::child;
use tickscope_bench::share::{self, Program};

use crate::cases::{CASES, Case};

/// Command-line options.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// The numbers to compare with the truth.
    #[arg(value_enum)]
    part: Part,
    /// Length of each measurement in seconds [default: 8 for cost, 10 for share, 0.5 for errors].
    #[arg(long, value_parser = seconds)]
    seconds: Option<Duration>,
    /// Compares this case alone.
    #[arg(long, value_parser = PossibleValuesParser::new(all().map(|case| case.name)))]
    case: Option<String>,
}

/// Numbers that are compared with the truth.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Part {
    /// Cost of a scope as claimed by tickscope, compared with a copy of the workload without scopes; SECONDS is per row.
    Cost,
    /// Shares of self time in each mode, compared with `perf record` of the program without scopes; SECONDS is per recording.
    Share,
    /// How often the true share is within two standard errors of the one shown; SECONDS is per run.
    Errors,
}

fn seconds(word: &str) -> Result<Duration, String> {
    let seconds = word.parse().ok();
    let seconds = seconds.filter(|seconds: &f64| (0.1..=3600.0).contains(seconds));
    let time = seconds.map(Duration::from_secs_f64);
    time.ok_or("wanted 0.1 to 3600 seconds".to_owned())
}

fn all() -> impl Iterator<Item = &'static Case> {
    CASES.iter().filter(|case| case.unit > 0)
}

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let _session = tickscope::start("accuracy");
    let chosen = all().filter(|case| options.case.as_deref().is_none_or(|name| name == case.name));
    let chosen: Vec<&Case> = chosen.collect();
    let time = |usual| options.seconds.unwrap_or(Duration::from_secs_f64(usual));
    match options.part {
        Part::Cost => cost::print(&chosen, time(8.0)),
        Part::Share => shares(&chosen, time(10.0))?,
        Part::Errors => errors::print(time(0.5)),
    }
    Ok(())
}

/// Compares the shares of all cases that list functions. If perf is missing or not permitted, only a message that says
/// so is printed.
fn shares(cases: &[&Case], time: Duration) -> Result<(), String> {
    let file = std::env::current_exe().map_err(|error| error.to_string())?;
    for case in cases.iter().filter(|case| !case.functions.is_empty()) {
        let [plain, scoped] = ["plain", "scoped"].map(|copy| [child::FLAG, copy, case.name]);
        let program = |words| Program { file: &file, words };
        let (name, functions) = (case.name, case.functions);
        let case = share::Case { name, functions };
        if !share::compare(&case, program(&plain), program(&scoped), time)? {
            break;
        }
    }
    Ok(())
}

/// Runs as the child process that perf records: a case with scopes in the given mode, or without scopes if there is no mode.
pub(crate) fn recorded(case: &str, mode: Option<&str>, seconds: &str) -> Result<(), String> {
    let case = Case::named(case)?;
    share::be_recorded(|| case.run_unit(mode.is_some()), mode, seconds)
}
