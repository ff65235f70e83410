//! Which moment, or which time, a report is on.

use tickscope_format::render::Extent;

use crate::args::{MomentArgs, When};
use crate::command::fresh::Fresh;
use crate::command::output::say;
use crate::local_time;
use crate::target::Found;
use crate::timeline::Timeline;

/// Puts what was asked for in the place of the newest snapshot; says which part of the run it is.
///
/// # Errors
/// There is nothing of then.
pub(super) fn choose(args: &MomentArgs, found: &Found, fresh: &mut Fresh) -> anyhow::Result<Extent> {
    if args.is_newest() {
        return Ok(Extent::default());
    }
    let timeline = Timeline::of(found, local_time::utc_offset_s())?;
    if let Some(at) = args.at {
        let at = timeline.find(at)?;
        fresh.snapshot = timeline.snapshot(at)?;
        return Ok(Extent {
            when: Some(timeline.words(at)),
            ..Extent::default()
        });
    }
    let find = |when: When| timeline.find(when);
    let to = args.to.map(find).transpose()?.unwrap_or(timeline.newest());
    let from = match (args.from, args.window) {
        (Some(from), _) => find(from)?,
        (None, Some(length)) => timeline.begin_of(to, length),
        (None, None) => 0,
    };
    let between = timeline.between(from, to)?;
    for doubt in between.doubts {
        say(doubt);
    }
    fresh.snapshot = between.snapshot;
    Ok(Extent {
        when: Some(between.words),
        ..Extent::default()
    })
}
