//! Sites whose scopes cost more than they tell, and those that are off for what they cost: in words and as JSON.

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

#[cfg(feature = "json")]
pub(crate) use self::document::Mute;
#[cfg(feature = "json")]
pub use self::document::json;

#[cfg(feature = "json")]
mod document {
    use serde::Serialize;

    use super::*;
    use crate::json::finite;

    /// What is muted, and what is offered.
    #[derive(Serialize)]
    pub(crate) struct Mute<'a> {
        policy: &'static str,
        offered: Vec<Row<'a>>,
        muted: Vec<Row<'a>>,
    }

    #[derive(Serialize)]
    struct Row<'a> {
        site: u32,
        module: &'a str,
        name: &'a str,
        /// Only of what is muted.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'static str>,
        mean_ns: f64,
        call_ns: f64,
        cost_share: f64,
    }

    impl<'a> Mute<'a> {
        /// Returns what is muted and offered; `raw` has times from which nothing was taken off.
        pub(crate) fn new(raw: &'a Snapshot) -> Self {
            let row = |site: u32, reason, [mean_ns, call_ns, cost_share]: [f64; 3]| {
                let named = raw.sites.get(site as usize)?;
                Some(Row {
                    site,
                    module: &named.module,
                    name: &named.name,
                    reason,
                    mean_ns: finite(mean_ns),
                    call_ns: finite(call_ns),
                    cost_share: finite(cost_share),
                })
            };
            let offered = offered(raw).into_iter().filter_map(|cost| {
                let numbers = [cost.mean_ns, cost.call_ns, cost.cost_share];
                row(cost.site.0, None, numbers)
            });
            let muted = raw.muting.muted.iter().filter_map(|muted| {
                let numbers = [muted.mean_ns, muted.call_ns, muted.cost_share];
                row(muted.site.0, Some(muted.reason.as_str()), numbers)
            });
            Self {
                policy: raw.muting.policy.as_str(),
                offered: offered.collect(),
                muted: muted.collect(),
            }
        }
    }

    /// Returns the object `mute` of JSON reports, ending in a newline.
    pub fn json(snapshot: &Snapshot) -> String {
        crate::json::written(&Mute::new(snapshot), 1)
    }
}
