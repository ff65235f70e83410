//! Report on a test program: its tests, and how long each took.

use std::fmt::Write;

use tickscope_analysis::functions::Functions;
use tickscope_analysis::inclusive_time::{InclusiveTime, SetId, inclusive_times};
use tickscope_analysis::measure::Measure;
use tickscope_command::child::{Program, code_of, wait, watch_interrupts};
use tickscope_command::console;
use tickscope_command::console::{in_one_line, say};
use tickscope_format::Snapshot;
use tickscope_programs::target::wanted::{NoTarget, Wanted};
use tickscope_report::number::{ascii, count, duration};

use crate::cli::commands::run::{eprint_all, not_started, start};
use crate::cli::commands::{live_snapshot, report};

/// Counts of a test that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TestTime {
    name: String,
    calls: u64,
    total_ns: u64,
    /// Part of the total time in which the thread was waiting; `None` if waits are not measured.
    waiting_ns: Option<u64>,
}

/// Runs a test program. When it has ended, prints its tests, longest first.
///
/// # Errors
/// The program cannot be watched.
pub(crate) fn run(mut program: Program, tests: &[String], whole_report: bool) -> anyhow::Result<u8> {
    let terminated = watch_interrupts()?;
    let mut started = match start(&mut program.command, None) {
        Ok(started) => started,
        Err(error) => return Ok(not_started(&program.name, &error)),
    };
    let status = wait(&mut started.child, &terminated)?;
    match started
        .find()
        .and_then(|found| live_snapshot::of(&found, &Wanted::Only))
    {
        Ok(live) => {
            eprint_all(&text(&live.snapshot, tests));
            if whole_report {
                eprint_all(&report::usual_text(live));
            }
        }
        Err(error) if error.is::<NoTarget>() => say(&format!(
            "no report on the tests of {}: the program published nothing; was it killed at once?",
            program.name.display()
        )),
        Err(error) => say(&format!("no report on the tests: {}", in_one_line(&error))),
    }
    Ok(code_of(status))
}

/// Returns the tests that ran, longest first.
fn times(snapshot: &Snapshot, tests: &[String]) -> Vec<TestTime> {
    let functions = Functions::of(snapshot);
    let of_function: Vec<Option<SetId>> = functions
        .list
        .iter()
        .map(|function| test_of(&function.full_name(), tests))
        .collect();
    // A test that is also marked in the source appears both as a function and as a scope. The two count as one call.
    let of_site: Vec<Option<SetId>> = functions
        .of_site
        .iter()
        .map(|id| of_function[id.index()])
        .collect();
    let all = sums(snapshot, &of_site, tests.len());
    let waiting = snapshot
        .waits
        .then(|| sums(&Measure::Waiting.of(snapshot), &of_site, tests.len()));
    let time = |(at, name): (usize, &String)| TestTime {
        name: name.clone(),
        calls: all[at].outermost_calls,
        total_ns: all[at].total_ns,
        waiting_ns: waiting.as_ref().map(|waiting| waiting[at].total_ns),
    };
    let met = |time: &TestTime| time.calls > 0;
    let mut found: Vec<TestTime> = tests.iter().enumerate().map(time).filter(met).collect();
    found.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.name.cmp(&b.name)));
    found
}

/// Sums the times of each test over all threads.
fn sums(snapshot: &Snapshot, of_site: &[Option<SetId>], tests: usize) -> Vec<InclusiveTime> {
    let mut sums = vec![InclusiveTime::default(); tests];
    for (test, time) in inclusive_times(snapshot, of_site).into_iter().flatten() {
        sums[test as usize].add(&time);
    }
    sums
}

/// Returns the test whose path equals the function's path without the crate. A closure in a test belongs to that test.
fn test_of(function: &str, tests: &[String]) -> Option<SetId> {
    let (_, path) = function.split_once("::")?;
    let path = path.split("::{").next().unwrap_or(path);
    let at = tests.iter().position(|test| test == path)?;
    Some(at as SetId)
}

/// Returns the table of the tests as text.
fn text(snapshot: &Snapshot, tests: &[String]) -> String {
    let times = times(snapshot, tests);
    let process = &snapshot.process;
    let mut out = format!(
        "\ntickscope: tests of {} (pid {}) by time\n",
        process.name, process.pid
    );
    let spell = |ns: u64| {
        let text = duration(ns);
        if console::is_ascii() { ascii(text) } else { text }
    };
    // Writing into a String does not fail.
    if !times.is_empty() {
        let _ = writeln!(
            out,
            "{:>6} {:>8} {:>8} {:>8}  test",
            "calls", "total", "working", "waiting"
        );
    }
    for time in &times {
        let waiting = time.waiting_ns.map_or("-".to_string(), spell);
        let working = time.waiting_ns.map_or("-".to_string(), |waiting| {
            spell(time.total_ns.saturating_sub(waiting))
        });
        let total = spell(time.total_ns);
        let _ = writeln!(
            out,
            "{:>6} {total:>8} {working:>8} {waiting:>8}  {}",
            count(time.calls),
            time.name
        );
    }
    let unseen = tests.len() - times.len();
    if unseen > 0 {
        let _ = writeln!(
            out,
            "{unseen} of {} tests were not seen: they did not run, or their code is compiled into others",
            tests.len()
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_tests_by_their_path() {
        let tests = ["tests::adds".to_string(), "slow".to_string()];
        for (function, wanted) in [
            ("mylib::tests::adds", Some(0)),
            ("mylib::tests::adds::{closure#0}", Some(0)),
            ("whole::slow", Some(1)),
            ("other::deep::slow", None),
            ("slow", None),
        ] {
            assert_eq!(test_of(function, &tests), wanted, "{function}");
        }
    }
}
