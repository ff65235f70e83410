//! Measures what a scope costs, side by side in one process: plain, the floor of two bare clock reads, and all modes of
//! tickscope with the publisher running.
//!
//! `overhead [--json | --markdown | --harm] [--case NAME] [--threads N] [--no-instructions] [--long]`
//!
//! `--harm` measures one thing only: what the slowest of many operations of 1 us lose to a publisher and a viewer. With
//! `--long` it also measures more nodes and more records a second, and the exit code is 1 if more is lost than allowed.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that speaks to its user"
)]

mod callgrind;
mod cases;
mod child;
mod harm;
mod instructions;
mod kernel;
mod life;
mod markdown;
mod measure;
mod memory;
mod modes;
mod options;
mod print;
mod publisher;
mod series;
mod sizes;
mod tail;
mod viewer;
mod workers;

use std::process::ExitCode;

use cases::Case;
use measure::Measured;
use options::{Form, Options};

fn main() -> Result<ExitCode, String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, words @ ..] = &words[..]
        && flag == child::FLAG
    {
        return child::run(words).map(|()| ExitCode::SUCCESS);
    }
    let mut options = Options::new(words.into_iter())?;
    if options.harm {
        return harm::run(&options).map(|reached| ExitCode::from(u8::from(!reached)));
    }
    if options.form != Form::Json && options.instructions && !callgrind::is_here() {
        eprintln!(
            "instructions are not counted: there is no valgrind here (Debian: apt-get install valgrind)"
        );
        options.instructions = false;
    }
    // The publisher runs all the time, as it does in a program.
    let session = tickscope::start("overhead");
    print::heading(options.form);
    let mut all = Vec::new();
    for case in options.cases() {
        for threads in options.thread_counts() {
            let rows = rows(case, threads, &options, &session)?;
            print::rows(&rows, options.form);
            all.extend(rows);
        }
    }
    if options.form == Form::Markdown {
        markdown::print(&all);
    }
    if options.form != Form::Json && options.case.is_none() {
        let fence = if options.form == Form::Markdown {
            "\n```text"
        } else {
            ""
        };
        println!("{fence}");
        print_the_rest(&session, options.long)?;
        println!("{}", fence.trim_start().trim_end_matches("text"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints everything that does not belong to a case.
fn print_the_rest(session: &tickscope::Session, long: bool) -> Result<(), String> {
    publisher::print(session);
    memory::print(long);
    tail::print(session);
    sizes::print()?;
    life::print()
}

/// Measures all rows of a case. The JSON output has only the rows with a mode of their own.
fn rows(
    case: &'static Case,
    threads: usize,
    options: &Options,
    session: &tickscope::Session,
) -> Result<Vec<Measured>, String> {
    let mut rows = measure::measure(case, threads);
    if options.form == Form::Json {
        return Ok(rows);
    }
    // With fewer scopes the difference is that of what else the program does.
    if options.instructions && threads == 1 && case.scopes() >= 1_000 {
        match instructions::added(case) {
            Ok(added) => {
                for (row, added) in rows.iter_mut().zip(added) {
                    row.instructions = Some(added);
                }
            }
            // An error of valgrind must not hide the times.
            Err(error) => eprintln!("{}: instructions are not counted: {error}", case.name),
        }
    }
    if let Some(_watching) = viewer::attach(session) {
        rows.push(measure::measure_watched(case, threads));
    }
    Ok(rows)
}
