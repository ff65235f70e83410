//! Sites whose scopes cost more than they tell, and those that are off for what they cost: in words.

use std::collections::BTreeMap;

use tickscope_format::muting::{SiteCost, offered};
use tickscope_format::snapshot::{Muted, Snapshot};

use crate::number::{ascii, duration, percent};

/// Returns what a scope costs in words: `41.2% of its 62ns a call is measuring, 8.2% of all`.
pub fn cost_words(own_share: f64, mean_ns: f64, cost_share: f64) -> String {
    format!(
        "{} of its {} a call is measuring, {} of all",
        percent(own_share),
        duration(mean_ns.round() as u64),
        percent(cost_share)
    )
}

/// Returns the same of a site that was not muted.
pub fn words_of(cost: &SiteCost) -> String {
    cost_words(cost.own_share(), cost.mean_ns, cost.cost_share)
}

/// Returns why a site is off, if it is for what its scopes cost; that of the budget of functions has words of its own.
pub fn reason(muted: &Muted) -> String {
    cost_words(muted.own_share(), muted.mean_ns, muted.cost_share)
}

/// Returns how to count functions that are off for their budget; `None` if there are none.
pub fn remedy(snapshot: &Snapshot) -> Option<String> {
    let mut by_crate: BTreeMap<&str, f64> = BTreeMap::new();
    for over in snapshot.muting.over_budget() {
        let module = &snapshot.sites[over.site.index()].module;
        let name = module.split("::").next().unwrap_or_default();
        *by_crate.entry(name).or_default() += over.cost_share;
    }
    let (name, _) = by_crate.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "`tickscope on '{name}::*'`, --only or --budget off counts them"
    ))
}

/// Returns a sentence on functions that are off for their budget, if there are any.
pub(crate) fn off_for_the_budget(snapshot: &Snapshot) -> Option<String> {
    let remedy = remedy(snapshot)?;
    let off = snapshot.muting.over_budget().count();
    Some(format!(
        "{off} functions are not counted, because that is over the budget: {remedy}"
    ))
}

/// Returns the lines of a report's header: what is muted, and what is worth it. `path` makes the name of a site printable.
pub(crate) fn facts(
    snapshot: &Snapshot,
    is_ascii: bool,
    path: impl Fn(u32) -> String,
) -> Vec<(&'static str, String)> {
    let text = |text: String| if is_ascii { ascii(text) } else { text };
    let mut facts = Vec::new();
    for muted in snapshot
        .muting
        .muted
        .iter()
        .filter(|muted| !muted.reason.is_budget())
    {
        let words = reason(muted);
        facts.push(("muted", text(format!("{}: {words}", path(muted.site.0)))));
    }
    for cost in offered(snapshot) {
        let words = words_of(&cost);
        facts.push((
            "mute",
            text(format!(
                "{}: {words}; `tickscope mute` switches it off",
                path(cost.site.0)
            )),
        ));
    }
    facts
}
