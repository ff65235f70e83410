//! `tickscope report`: the call tree and the top functions, as text, JSON, or in the forms that other tools read.

mod threads;

use std::io::{self, IsTerminal, Write};

use tickscope_format::Snapshot;
use tickscope_format::profile::compensate::compensated;
use tickscope_format::profile::narrow;
use tickscope_format::render::text::TextOptions;
use tickscope_format::render::{ProcessState, callgrind, csv, folded, json, pprof, speedscope, text};

use crate::args::{ReportArgs, ReportFormat};
use crate::command::fresh::{self, Fresh};
use crate::command::output::{self, Misuse};
use crate::command::whole::Place;
use crate::target::Wanted;
use crate::theme;

/// Writes the report on a target.
///
/// # Errors
/// Options that do not go together, no such target or thread, or why it cannot be read or written.
pub fn run(args: &ReportArgs) -> anyhow::Result<u8> {
    args.check().map_err(|why| Misuse(why.into()))?;
    let place = Place::new(args.output.as_deref(), args.force);
    if args.format == ReportFormat::Pprof && place.is_stdout() && io::stdout().is_terminal() {
        return Err(Misuse("pprof's format is not for terminals; give -o FILE, or pipe it on".into()).into());
    }
    let wanted = Wanted::of(&args.target);
    let found = fresh::find(&wanted, args.target.dir.as_deref(), args.wait)?;
    let fresh = fresh::of(&found, &wanted)?;
    let mut options = TextOptions {
        view: args.view.map(Into::into).unwrap_or_default(),
        min_share: args.min_share.unwrap_or(0.0),
        compensated: args.times.compensated,
        ..TextOptions::default()
    };
    if let Some(width) = terminal_width().filter(|_| place.is_stdout()) {
        options.width = width;
    }
    let fresh = in_threads(fresh, args, &mut options)?;
    if args.format == ReportFormat::Text {
        let text = self::text(&fresh, &options);
        place.write(|out| out.write_all(text.as_bytes()))?;
    } else {
        let shown = shown(&fresh.snapshot, args);
        place.write(|out| export(&shown, &fresh, args, out))?;
    }
    Ok(output::DONE)
}

/// Cells of a line on standard output, where that is a terminal.
fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

/// The text; the program's state and the character set are found here.
pub fn text(Fresh { snapshot, state }: &Fresh, options: &TextOptions) -> String {
    text::report(
        snapshot,
        &TextOptions {
            state: *state,
            ascii: theme::ascii_locale(|name| std::env::var(name).ok()),
            ..options.clone()
        },
    )
}

/// The snapshot with the threads that are wanted. The text says itself which one it shows.
fn in_threads(fresh: Fresh, args: &ReportArgs, options: &mut TextOptions) -> anyhow::Result<Fresh> {
    let Some(wanted) = &args.thread else {
        return Ok(fresh);
    };
    let chosen = threads::find(&fresh.snapshot, wanted)?;
    if let ([only], ReportFormat::Text) = (&chosen[..], args.format) {
        options.thread = Some(*only);
        return Ok(fresh);
    }
    Ok(Fresh {
        snapshot: narrow::of_threads(&fresh.snapshot, |thread| chosen.contains(&thread)),
        ..fresh
    })
}

/// What an export shows of a snapshot.
fn shown(snapshot: &Snapshot, args: &ReportArgs) -> Snapshot {
    let less = args.times.compensated.then(|| compensated(snapshot));
    let shown = less.as_ref().unwrap_or(snapshot);
    match args.min_share {
        Some(share) => narrow::above(shown, share),
        None => less.unwrap_or_else(|| snapshot.clone()),
    }
}

fn export(
    shown: &Snapshot,
    Fresh { snapshot, state }: &Fresh,
    args: &ReportArgs,
    mut out: &mut dyn Write,
) -> io::Result<()> {
    match args.format {
        ReportFormat::Text => Ok(()),
        ReportFormat::Json => out.write_all(json(shown, snapshot, *state, args.times.compensated).as_bytes()),
        ReportFormat::Folded => folded::write(shown, &mut out),
        ReportFormat::Speedscope => speedscope::write(shown, &mut out),
        ReportFormat::Pprof => pprof::write(shown, &mut out),
        ReportFormat::Callgrind => callgrind::write(shown, &mut out),
        ReportFormat::Csv => csv::write(shown, args.unit.map(Into::into).unwrap_or_default(), &mut out),
    }
}

fn json(shown: &Snapshot, raw: &Snapshot, state: ProcessState, is_compensated: bool) -> String {
    if is_compensated {
        json::of_compensated(shown, raw, state)
    } else {
        json::report(shown, state)
    }
}
