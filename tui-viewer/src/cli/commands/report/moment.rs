//! Chooses the moment or span of time of a report.

use tickscope_command::console::{Misuse, say};
use tickscope_programs::local_time;
use tickscope_programs::moment::When;
use tickscope_programs::target::wanted::Found;
use tickscope_programs::timeline::Timeline;
use tickscope_report::Extent;

use crate::cli::args::MomentArgs;
use crate::cli::commands::live_snapshot::LiveSnapshot;

/// Replaces the newest snapshot with a snapshot of the chosen moment or span. Returns a description of the choice.
///
/// # Errors
/// There is no data for that time.
pub(in crate::cli::commands) fn choose(
    args: &MomentArgs,
    found: &Found,
    live: &mut LiveSnapshot,
) -> anyhow::Result<Extent> {
    if args.is_newest() {
        return Ok(Extent::default());
    }
    let timeline = Timeline::of(found, local_time::utc_offset_s())?;
    let (from, to) = ends(args, &timeline)?;
    if args.at.is_some() {
        live.snapshot = timeline.snapshot(to)?;
        return Ok(Extent {
            when: Some(timeline.words(to)),
            ..Extent::default()
        });
    }
    let between = timeline.between(from, to)?;
    for doubt in between.doubts {
        say(doubt);
    }
    live.snapshot = between.snapshot;
    Ok(Extent {
        when: Some(between.words),
        ..Extent::default()
    })
}

/// Returns the first and the last moment of the chosen span. With `--at`, the first moment is the oldest one.
///
/// # Errors
/// There is no data for that time.
pub(super) fn ends(args: &MomentArgs, timeline: &Timeline) -> Result<(usize, usize), Misuse> {
    if let Some(at) = args.at {
        return Ok((0, named("--at", at, timeline.find(at))?));
    }
    let to = match args.to {
        Some(to) => named("--to", to, timeline.find_to(to))?,
        None => timeline.newest(),
    };
    let from = match (args.from, args.window) {
        (Some(from), _) => named("--from", from, timeline.find_from(from))?,
        (None, Some(length)) => timeline.begin_of(to, length),
        (None, None) => 0,
    };
    Ok((from, to))
}

/// Returns the moment that was found for an option. An error names the option.
fn named(option: &str, when: When, found: anyhow::Result<usize>) -> Result<usize, Misuse> {
    found.map_err(|error| Misuse(format!("{option} {when}: {error}")))
}
