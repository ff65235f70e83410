//! How true is what tickscope shows?
//!
//! `accuracy [SECONDS]` prints a table: the sphereflake in each mode, so many seconds each, 10 by default.
//!
//! `accuracy --json [--seconds S] [--case NAME] [cost | share | errors]` is the judge. It prints an object a line:
//!
//! - `cost`: what a scope costs, as tickscope claims it, against the plain copy of the same workload. S is the time of a
//!   row, 8 by default.
//! - `share`: the shares of self time that each mode shows, against `perf record` of the plain program. S is the time of a
//!   mode, 10 by default.
//! - `errors`: how often the truth is within two of the standard errors that are shown. S is the time of a run, 0.5 by
//!   default.
//!
//! Without one of them, cost and share.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that speaks to its user"
)]

mod cases;
mod cost;
mod errors;
mod options;
mod table;

use std::time::Duration;

use tickscope_bench::share::{self, Program};

use cases::{CASES, Case};
use options::{Options, PLAIN, Part, SCOPED, Task};

fn main() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match Task::new(&words)? {
        Task::Plain(case, seconds) => share::be_recorded(case.plain, None, seconds),
        Task::Scoped(case, mode, seconds) => share::be_recorded(case.scoped, Some(mode), seconds),
        Task::Table(time) => {
            let _session = tickscope::start("accuracy");
            table::print(time);
            Ok(())
        }
        Task::Judge(options) => judge(&options),
    }
}

fn judge(options: &Options) -> Result<(), String> {
    let _session = tickscope::start("accuracy");
    for &part in options.parts {
        let time = options.time.unwrap_or(match part {
            Part::Cost => Duration::from_secs(8),
            Part::Share => Duration::from_secs(10),
            Part::Errors => Duration::from_millis(500),
        });
        match part {
            Part::Cost => cost::print(|case| options.chose(case), time),
            Part::Share => {
                let chosen = CASES.iter().filter(|case| options.chose(case));
                shares(chosen, time)?;
            }
            Part::Errors => errors::print(time),
        }
    }
    Ok(())
}

/// Compares the shares of those cases that have any. Where perf may not look it says so once.
fn shares(cases: impl Iterator<Item = &'static Case>, time: Duration) -> Result<(), String> {
    let file = std::env::current_exe().map_err(|error| error.to_string())?;
    for case in cases.filter_map(Case::share) {
        let [plain, scoped] = [[PLAIN, case.name], [SCOPED, case.name]];
        let program = |words| Program { file: &file, words };
        if !share::compare(&case, program(&plain), program(&scoped), time)? {
            break;
        }
    }
    Ok(())
}
