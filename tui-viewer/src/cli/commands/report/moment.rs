//! Which moment, or which time, a report is on.

use tickscope_report::Extent;

use crate::cli::args::{MomentArgs, When};
use crate::cli::commands::live_snapshot::LiveSnapshot;
use crate::output::console::{Misuse, say};
use crate::source::local_time;
use crate::source::target::wanted::Found;
use crate::source::timeline::Timeline;

/// Puts what was asked for in the place of the newest snapshot; says which part of the run it is.
///
/// # Errors
/// There is nothing of then.
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

/// The first and the last moment of what was asked for; of a moment the first is the oldest that is known.
///
/// # Errors
/// There is nothing of then.
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

/// The moment that an option chose, or that it is this one that chose none.
fn named(option: &str, when: When, found: anyhow::Result<usize>) -> Result<usize, Misuse> {
    found.map_err(|error| Misuse(format!("{option} {when}: {error}")))
}
