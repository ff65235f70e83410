//! `tickscope report`: the call tree and the top functions, as text, as JSON, or in the formats of other tools.

pub(super) mod moment;
mod over_time;
mod threads;

use std::io;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::sync::Arc;

use tickscope_analysis::filter;
use tickscope_analysis::measure::Measure;
use tickscope_analysis::per_call::PerCall;
use tickscope_command::console;
use tickscope_command::console::{Misuse, printable};
use tickscope_command::output_file::OutputFile;
use tickscope_command::similar::similar;
use tickscope_programs::sampled_code;
use tickscope_report::form::{Form, FormOptions};
use tickscope_report::text;
use tickscope_report::text::{TextOptions, View};
use tickscope_report::unit::Unit;

use crate::cli::args::ReportArgs;
use crate::cli::commands::live_snapshot;
use crate::cli::commands::live_snapshot::{LiveSnapshot, Reader};
use crate::source::source_files;

/// Default of `--min-share` for text: rows with a smaller share of the measured time are left out.
const LEAST_SHARE: f64 = 0.005;

/// Writes the report on a target.
///
/// # Errors
/// Options conflict, there is no such target or thread, or reading or writing fails.
pub fn run(args: &ReportArgs) -> anyhow::Result<u8> {
    let form = args.form();
    args.check_file().map_err(Misuse)?;
    args.check().map_err(|why| Misuse(why.into()))?;
    let place = OutputFile::new(args.output.as_deref(), args.force);
    if form == Form::Tks && place.is_stdout() {
        return Err(Misuse("a tks file needs a name, by which it is opened: give -o FILE".into()).into());
    }
    if form == Form::Pprof && place.is_stdout() && io::stdout().is_terminal() {
        return Err(Misuse("pprof's format is not for terminals; give -o FILE, or pipe it on".into()).into());
    }
    let wanted = args.target.wanted();
    let reader = Reader::of_text(matches!(form, Form::Text | Form::Html));
    let found = live_snapshot::find(&args.target, reader, args.wait)?;
    let mut live = live_snapshot::of(&found, &wanted)?;
    let extent = moment::choose(&args.moment, &found, &mut live)?;
    let mut code = sampled_code::read_code(&mut live.snapshot, std::mem::take(&mut live.addresses));
    if args.view == Some(View::Source) {
        source_files::read_texts(&live.snapshot, &mut code);
    }
    let mut options = FormOptions {
        text: TextOptions {
            state: live.state,
            view: args.view.unwrap_or_default(),
            ascii: console::is_ascii(),
            min_share: args
                .min_share
                .unwrap_or(match form == Form::Text && !args.all_rows {
                    true => LEAST_SHARE,
                    false => 0.0,
                }),
            extent,
            unit: args.unit.unwrap_or(Unit::Ns),
            code,
            ..TextOptions::default()
        },
        ..FormOptions::default()
    };
    if let Some(width) = terminal_width(io::stdout()).filter(|_| place.is_stdout()) {
        options.text.width = width;
    }
    let is_list = matches!(args.view, Some(View::Hot | View::Flat)) && form == Form::Text;
    let by = args.by.unwrap_or_else(|| match is_list {
        true => Measure::of_lists(&[&live.snapshot]),
        false => Measure::Time,
    });
    by.check(&live.snapshot)
        .map_err(|why| Misuse(format!("--by {}: {why}", by.name())))?;
    options.text.by = by;
    // Numbers per frame cover all threads, because one thread may do work for a frame that another thread began.
    if let Some(name) = &args.per {
        let per = PerCall::of(&live.snapshot, name);
        let per = per.map_err(|why| Misuse(printable(&why.to_string()) + &similar(name, &live.snapshot)))?;
        options.text.per = Some(per);
    }
    if let Some(wanted) = &args.thread {
        match threads::find(&live.snapshot, wanted)?[..] {
            // If exactly one thread is chosen, it is passed as an option, so that the text names it.
            [only] => options.text.thread = Some(only),
            ref several => {
                live.snapshot = filter::of_threads(&live.snapshot, |thread| several.contains(&thread));
            }
        }
    }
    if form == Form::Html {
        options.slots = over_time::slots(args, &found, &options.text.code.addresses).map(Arc::new);
    }
    place.write(|out| form.write(&live.snapshot, &options, out))?;
    Ok(console::DONE)
}

/// Returns the width of the terminal in columns, if the output is a terminal.
pub(super) fn terminal_width(of: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(of).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

/// Returns a report as text. `state` and `ascii` in `options` are overwritten.
pub(super) fn text(live: &LiveSnapshot, options: TextOptions) -> String {
    let options = TextOptions {
        state: live.state,
        ascii: console::is_ascii(),
        ..options
    };
    text::report(&live.snapshot, &options)
}

/// Returns the report as text with default options, including rows for sampled functions.
pub fn usual_text(mut live: LiveSnapshot) -> String {
    sampled_code::read_code(&mut live.snapshot, std::mem::take(&mut live.addresses));
    let options = TextOptions {
        min_share: LEAST_SHARE,
        ..TextOptions::default()
    };
    text(&live, options)
}
