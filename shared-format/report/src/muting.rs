//! Sites whose scopes cost more than they tell, and those that are off for what they cost: in words.

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
