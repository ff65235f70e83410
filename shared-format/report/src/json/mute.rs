//! What is muted, and what is offered for muting.

use serde::Serialize;

use tickscope_format::muting::offered;
use tickscope_format::snapshot::Snapshot;

use super::raw::finite;

/// What is muted, and what is offered.
#[derive(Serialize)]
pub(super) struct Mute<'a> {
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
    /// Returns what is muted and offered.
    pub(super) fn new(snapshot: &'a Snapshot) -> Self {
        let row = |site: u32, reason, [mean_ns, call_ns, cost_share]: [f64; 3]| {
            let named = snapshot.sites.get(site as usize)?;
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
        let offered = offered(snapshot).into_iter().filter_map(|cost| {
            let numbers = [cost.mean_ns, cost.call_ns, cost.cost_share];
            row(cost.site.0, None, numbers)
        });
        let muted = snapshot.muting.muted.iter().filter_map(|muted| {
            let numbers = [muted.mean_ns, muted.call_ns, muted.cost_share];
            row(muted.site.0, Some(muted.reason.as_str()), numbers)
        });
        Self {
            policy: snapshot.muting.policy.as_str(),
            offered: offered.collect(),
            muted: muted.collect(),
        }
    }
}
