//! What is worth muting, and what was muted, in words.

use tickscope_format::Snapshot;
use tickscope_format::muting::{self, SiteCost};
use tickscope_format::snapshot::AutoMute;
use tickscope_report::muting::{reason, words_of};
use tickscope_report::number::{duration, percent};

use crate::output::console::printable;

/// Why a program mutes nothing.
pub(crate) const NOTHING_OFFERED: &str =
    "the program offers nothing for muting (TICKSCOPE_AUTOMUTE=off); `off` with a pattern switches sites off";

/// A line for each site that is worth muting, or one that says that none is.
pub(crate) fn offered(snapshot: &Snapshot) -> Vec<String> {
    if snapshot.muting.policy == AutoMute::Off {
        return vec![NOTHING_OFFERED.into()];
    }
    let offered = muting::offered(snapshot);
    let lines: Vec<String> = offered
        .iter()
        .map(|cost| format!("{}: {}; would be muted", path(snapshot, cost), words_of(cost)))
        .collect();
    if lines.is_empty() {
        vec![nothing(snapshot)]
    } else {
        lines
    }
}

/// A line for each site that was muted since a snapshot, or one that says that none was.
pub(crate) fn muted(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let is_new = |site| before.muting.of(site).is_none();
    let new = after.muting.muted.iter();
    let lines: Vec<String> = new
        .filter(|muted| !muted.reason.is_budget() && is_new(muted.site))
        .map(|muted| {
            let path = printable(&after.sites[muted.site.index()].path());
            format!("{path}: {}; muted. `tickscope on {path}` opens it", reason(muted))
        })
        .collect();
    if lines.is_empty() {
        vec![nothing(after)]
    } else {
        lines
    }
}

/// Why nothing is worth muting: what is wanted, and the most expensive site.
fn nothing(snapshot: &Snapshot) -> String {
    let mode = snapshot.capture.mode;
    if !mode.traits().is_counting {
        return format!("nothing to mute: mode {} measures nothing", mode.as_str());
    }
    let working = duration(snapshot.nanos(snapshot.working_ticks()));
    let largest = match muting::costs(snapshot).first() {
        Some(cost) => format!("the largest is {}: {}", path(snapshot, cost), words_of(cost)),
        None => "no scope that could be muted was called".into(),
    };
    let already = snapshot
        .muting
        .muted
        .iter()
        .filter(|muted| !muted.reason.is_budget());
    let already = match already.count() {
        0 => String::new(),
        1 => " 1 scope is muted already.".into(),
        many => format!(" {many} scopes are muted already."),
    };
    format!(
        "nothing to mute: in {working} of work in scopes none costs more than it tells; {largest} (wanted beyond doubt: more than {} \
         and {}).{already}",
        // More than half of what is inside is more than a third of both together.
        percent(muting::OF_INSIDE / (1.0 + muting::OF_INSIDE)),
        percent(muting::OF_ALL),
    )
}

fn path(snapshot: &Snapshot, cost: &SiteCost) -> String {
    printable(&snapshot.sites[cost.site.index()].path())
}

#[cfg(test)]
mod tests {
    use tickscope_format::snapshot::Mode;
    use tickscope_testkit::fixture;

    use super::*;

    #[test]
    fn it_says_which_and_why_or_why_none() {
        let (before, after) = (fixture::costly_scopes(), fixture::muted_scopes());
        let mut told = offered(&before);
        told.extend(muted(&before, &after));
        told.extend(muted(&after, &after));
        let changed = |change: fn(&mut Snapshot)| {
            let mut snapshot = fixture::costly_scopes();
            change(&mut snapshot);
            offered(&snapshot)
        };
        told.extend(changed(|snapshot| snapshot.capture.mode = Mode::Off));
        told.extend(changed(|snapshot| snapshot.muting.policy = AutoMute::Off));
        told.extend(changed(|snapshot| snapshot.nodes.calls.fill(0)));
        insta::assert_snapshot!(told.join("\n"));
    }
}
