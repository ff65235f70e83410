//! `tickscope top`: prints the functions that take the most time, in a few lines.

use tickscope_analysis::measure::Measure;
use tickscope_command::console;
use tickscope_command::console::{Misuse, say};
use tickscope_report::brief;
use tickscope_report::brief::Length;
use tickscope_report::text::{TextOptions, View};

use crate::cli::args::TopArgs;
use crate::cli::commands::brief::read;
use crate::cli::commands::live_snapshot::Reader;
use crate::cli::commands::report;

/// Number of functions if none is given.
const FUNCTIONS: usize = 10;

/// Prints the functions of a target.
///
/// # Errors
/// There is no such target, it does not have the requested measure, or it cannot be read or written.
pub fn run(args: &TopArgs) -> anyhow::Result<u8> {
    let (count, target) = args.understood().map_err(Misuse)?;
    let answered = read(&target, &args.moment, Reader::of_text(!args.json))?;
    let by = args
        .by
        .unwrap_or_else(|| Measure::of_lists(&[&answered.live.snapshot]));
    by.check(&answered.live.snapshot)
        .map_err(|why| Misuse(format!("--by {}: {why}", by.name())))?;
    if args.json {
        let length = count.map_or(Length::Brief, Length::Rows);
        let next = answered.named.in_shell(&target);
        console::write(&brief::top::json(&answered.subject(&next), by, length))?;
        return Ok(console::DONE);
    }
    answered.notes.iter().for_each(|note| say(note));
    let mut options = TextOptions {
        view: View::Top,
        top: count.unwrap_or(FUNCTIONS),
        by,
        extent: answered.extent.clone(),
        ..TextOptions::default()
    };
    if let Some(width) = report::terminal_width(std::io::stdout()) {
        options.width = width;
    }
    console::write(&report::text(&answered.live, options))?;
    Ok(console::DONE)
}
