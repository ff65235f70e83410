//! What a scope costs, measured side by side in one process: plain, the floor of two bare clock reads, and
//! exact mode, with the publisher running.
//!
//! `overhead [--json] [--case NAME] [--threads N]`
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

mod cases;
mod measure;
mod memory;
mod print;
mod tail;

use cases::{CASES, Case, Mode};
use measure::Measured;

const USAGE: &str = "usage: overhead [--json] [--case NAME] [--threads N]";

#[derive(Debug)]
struct Options {
    json: bool,
    /// None for all.
    case: Option<&'static Case>,
    /// None for one and two.
    threads: Option<usize>,
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        json: false,
        case: None,
        threads: None,
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value; {USAGE}"));
        match word.as_str() {
            "--json" => options.json = true,
            "--case" => {
                let name = value()?;
                let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
                let case = CASES.iter().find(|case| case.name == name);
                options.case = Some(case.ok_or(format!("no case {name}; there are: {}", names.join(", ")))?);
            }
            "--threads" => {
                let number = value()?;
                let threads = number.parse().ok().filter(|threads| (1..=64).contains(threads));
                options.threads = Some(threads.ok_or(format!("--threads {number}: wanted 1 to 64"))?);
            }
            _ => return Err(format!("what is {word}? {USAGE}")),
        }
    }
    Ok(options)
}

fn main() -> Result<(), String> {
    let options = options(std::env::args().skip(1))?;
    // The publisher works all the while, as it does in a program.
    let session = tickscope::start("overhead");
    let thread_counts = options.threads.map_or(vec![1, 2], |threads| vec![threads]);
    if !options.json {
        print::heading();
    }
    for case in CASES
        .iter()
        .filter(|case| options.case.is_none_or(|chosen| chosen.name == case.name))
    {
        for &threads in &thread_counts {
            let rows: Vec<Measured> = Mode::ALL
                .iter()
                .map(|&mode| measure::measure(case, mode, threads))
                .collect();
            print::rows(&rows, options.json);
        }
    }
    if !options.json && options.case.is_none() {
        memory::print();
        tail::print(&session);
    }
    Ok(())
}
