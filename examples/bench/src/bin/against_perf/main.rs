//! Compares a program's hottest functions according to tickscope with the hottest ones in perf's samples of the same
//! binary. The script `examples/bench/against_perf/run` makes the files that this program reads.
//!
//! ```text
//! against_perf NAME BINARY STACKS... -- REPORT...         output of `perf script`, and JSON reports of `tickscope`
//! against_perf cost NAME TIMES REPORT...                  CPU times of the plain and of the measured program, and reports
//! against_perf load PORT CONNECTIONS REQUESTS GAP TEXT    sends TEXT to a server again and again, every GAP microseconds
//! ```
//!
//! Both results are added up by symbol. A sample of perf belongs to its innermost address in user code, so kernel time
//! belongs to the code that entered the kernel. Inlined code belongs to the function that it was inlined into. In a
//! report, rows of inlined functions are added to the function above them. All instances of a generic function count as
//! one function here, and so do all symbols of the same piece of code.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

mod cost;
mod load;
mod names;
mod report;
mod seen;
mod table;

use std::error::Error;
use std::fs;
use std::process::ExitCode;

use crate::cost::cost;
use crate::load::load;
use crate::report::Report;
use crate::seen::{Files, Seen, Symbols};
use crate::table::Table;

/// Exit code if tickscope's functions differ too much from perf's. Other failures exit with 1.
const DOES_NOT_HOLD: u8 = 3;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Prints a table for a program, and a line of JSON. Returns whether every report is close enough to perf's result.
fn compare(name: &str, binary: &str, stacks: &[String], reports: &[String]) -> Outcome<bool> {
    let mut files = Files::from([(binary.to_owned(), Symbols::read(binary)?)]);
    let read = |path: &String| fs::read(path).map_err(|error| format!("{path}: {error}"));
    let mut runs = Vec::new();
    for path in stacks {
        runs.push(Seen::of(
            &String::from_utf8_lossy(&read(path)?),
            binary,
            &mut files,
        )?);
    }
    let report = |path: &String| -> Outcome<Report> {
        let report = serde_json::from_slice(&read(path)?)?;
        Ok(Report::of(&report, binary, &files[binary]))
    };
    let reports = reports.iter().map(report).collect::<Outcome<Vec<_>>>()?;
    let table = Table::of(&runs, &reports);
    println!("{}", table.markdown(&reports));
    println!("{}", table.summary(name, &reports));
    Ok((0..reports.len()).all(|report| table.holds(report)))
}

fn main() -> Outcome<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut parts = words.splitn(2, |word| word == "--");
    let holds = match (parts.next().unwrap_or_default(), parts.next()) {
        ([command, port, connections, requests, gap, request], None) if command == "load" => {
            load(port, connections, requests, gap, request).map(|()| true)
        }
        ([command, name, times, reports @ ..], None) if command == "cost" => {
            println!("{}", cost(name, times, reports)?);
            Ok(true)
        }
        ([name, binary, stacks @ ..], Some(reports)) if !stacks.is_empty() && !reports.is_empty() => {
            compare(name, binary, stacks, reports)
        }
        _ => Err("wanted: NAME BINARY STACKS... -- REPORT..., cost NAME TIMES REPORT..., or load PORT CONNECTIONS REQUESTS GAP TEXT".into()),
    };
    Ok(ExitCode::from(if holds? { 0 } else { DOES_NOT_HOLD }))
}
