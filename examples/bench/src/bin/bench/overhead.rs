//! Cost of a scope, measured side by side in one process: without scopes (plain), with two bare clock reads (the
//! floor), and in all modes of tickscope. The publisher runs all the time.

pub(crate) mod instructions;
mod markdown;
mod measure;
mod memory;
mod publisher;
pub(crate) mod sizes;

use clap::builder::PossibleValuesParser;
use clap::{Args, value_parser};
use tickscope_bench::callgrind;

use crate::cases::{CASES, Case};
use crate::modes::Mode;
use crate::{start, viewer};
use measure::Measured;

/// Command-line options.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Measures this case alone.
    #[arg(long, value_parser = PossibleValuesParser::new(all().map(|case| case.name)))]
    case: Option<String>,
    /// Number of threads [default: 1, then 2].
    #[arg(long, value_parser = value_parser!(u64).range(1..=64))]
    threads: Option<u64>,
    /// Counts no instructions.
    #[arg(long)]
    no_instructions: bool,
    /// Watches memory for a minute.
    #[arg(long)]
    long: bool,
}

fn all() -> impl Iterator<Item = &'static Case> {
    CASES.iter().filter(|case| case.amount > 0)
}

pub(crate) fn run(mut options: Options) -> Result<(), String> {
    if !options.no_instructions && !callgrind::is_here() {
        eprintln!(
            "instructions are not counted: there is no valgrind here (Debian: apt-get install valgrind)"
        );
        options.no_instructions = true;
    }
    // The publisher runs all the time, as it would in a real program.
    let session = tickscope::start("overhead");
    let threads = options.threads;
    let counts = threads.map_or(vec![1, 2], |threads| vec![threads as usize]);
    let mut rows = Vec::new();
    for case in all().filter(|case| options.case.as_deref().is_none_or(|name| name == case.name)) {
        for &threads in &counts {
            rows.extend(measure_case(case, threads, &options, &session));
            eprintln!("{} with {threads} threads is measured", case.name);
        }
    }
    markdown::print(&rows);
    if options.case.is_none() {
        println!("\n```text");
        publisher::print(&session)?;
        memory::print(options.long);
        sizes::print()?;
        println!();
        start::print_quiet()?;
        println!("```");
    }
    Ok(())
}

/// Measures all rows of a case.
fn measure_case(
    case: &'static Case,
    threads: usize,
    options: &Options,
    session: &tickscope::Session,
) -> Vec<Measured> {
    let mut rows = measure::measure(case, threads, Mode::all(), false);
    // With fewer scopes, the rest of the program would dominate the difference in instructions.
    if !options.no_instructions && threads == 1 && case.scopes(case.amount) >= 1_000 {
        match instructions::added(case) {
            Ok(added) => {
                for (row, added) in rows.iter_mut().zip(added) {
                    row.instructions = Some(added);
                }
            }
            // The times are still useful if valgrind fails.
            Err(error) => eprintln!("{}: instructions are not counted: {error}", case.name),
        }
    }
    if let Ok(_watching) = viewer::attach(session) {
        rows.extend(measure::measure(case, threads, &[Mode::Exact], true));
    }
    rows
}
