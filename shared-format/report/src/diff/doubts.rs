//! Finds reasons why two sides may not be comparable, such as different programs, modes or active sites, estimated times, or
//! incomplete counts.

use std::collections::BTreeSet;

use tickscope_format::snapshot::{Site, Snapshot, saturating_sum};

use crate::escape::visible;

/// Maximum number of names or modes listed in one of the reasons.
const TOLD: usize = 4;

/// Returns the reasons why these runs may not be comparable, one sentence each.
pub fn doubts(before: &[Snapshot], after: &[Snapshot]) -> Vec<String> {
    let mut doubts = Vec::new();
    let all = || before.iter().chain(after);
    let list = |words: BTreeSet<String>| {
        let shown: Vec<String> = words.into_iter().take(TOLD).collect();
        shown.join(", ")
    };
    let modes = |runs: &[Snapshot]| -> BTreeSet<String> {
        let modes = runs.iter().map(|run| run.capture.mode.as_str().to_string());
        modes.collect()
    };
    if modes(before) != modes(after) || modes(before).len() > 1 {
        doubts.push(format!(
            "measured in different modes ({} before, {} after): compare calls, not times",
            list(modes(before)),
            list(modes(after))
        ));
    } else if all().any(|run| run.capture.mode.has_estimated_times()) {
        doubts.push(format!(
            "times are estimates (mode {}); calls are exact, except with ~ before them",
            list(modes(before))
        ));
    }
    let names: BTreeSet<String> = all()
        .map(|run| visible(&run.process.name, false).into_owned())
        .collect();
    if names.len() > 1 {
        doubts.push(format!("different programs: {}", list(names)));
    }
    let off = |runs: &[Snapshot]| -> BTreeSet<String> {
        let off = runs.iter().flat_map(|run| {
            let sites = run.counted_in_part();
            let sites = sites.filter_map(|site| run.sites.get(site.index()));
            sites.map(Site::path)
        });
        off.collect()
    };
    if off(before) != off(after) {
        doubts.push("different sites are switched off: do not compare their calls".into());
    }
    let dropped = saturating_sum(all().map(|run| run.capture.losses.dropped));
    if dropped > 0 {
        doubts.push(format!(
            "{dropped} calls were over a limit of their program: counts are not complete"
        ));
    }
    if all().any(|run| run.capture.pruned > 0) {
        doubts.push(
            "a program had too many rows, and summed some up as (pruned): counts by function are not complete".into(),
        );
    }
    doubts
}
