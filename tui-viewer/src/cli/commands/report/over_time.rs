//! What the threads did over the course of a recording, for the HTML page.

use tickscope_analysis::filter;
use tickscope_command::console::{printable, say};
use tickscope_format::Snapshot;
use tickscope_format::addresses::Addresses;
use tickscope_programs::local_time;
use tickscope_programs::target::wanted::Found;
use tickscope_programs::timeline::Timeline;
use tickscope_report::slots::Slots;

use super::{moment, threads};
use crate::cli::args::ReportArgs;

/// Returns the time slots of a recording. `None` (for a single snapshot or an unreadable file) means a page without a
/// timeline.
pub(super) fn slots(args: &ReportArgs, found: &Found, addresses: &Addresses) -> Option<Slots> {
    let Found::Kept(_) = found else {
        return None;
    };
    let timeline = Timeline::of(found, local_time::utc_offset_s()).ok()?;
    let ends = moment::ends(&args.moment, &timeline).ok()?;
    let slots = timeline.slots(ends, addresses, |snapshot| match &args.thread {
        Some(wanted) => only(&snapshot, wanted),
        None => snapshot,
    });
    let complain = |why: &anyhow::Error| {
        let why = printable(&format!("{why:#}"));
        say(&format!("the page has no view Timeline: {why}"));
    };
    slots.inspect_err(complain).ok()
}

/// Returns the snapshot with only the chosen threads. An early snapshot may have none of them.
fn only(snapshot: &Snapshot, wanted: &str) -> Snapshot {
    let chosen = threads::named(snapshot, wanted);
    filter::of_threads(snapshot, |thread| chosen.contains(&thread))
}
