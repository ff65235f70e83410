//! The sites that are off because of what measuring them costs: hand-written scopes that cost more than they tell, by
//! `tickscope_format::muting`, and functions that are over their budget, by the governor. One list for both, with the reasons.

use tickscope_format::Snapshot;
use tickscope_format::muting;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{AutoMute, MuteReason, Muted, Muting};

use crate::enabled::capture::functions;
use crate::enabled::capture::site_ids::SiteIds;
use crate::enabled::record::site::Site;
use crate::enabled::record::site_table;

/// What is muted, and why.
#[derive(Debug)]
pub(crate) struct Mutes {
    /// What is done about hand-written scopes.
    pub(crate) policy: AutoMute,
    muted: Vec<(&'static Site, Muted)>,
}

impl Mutes {
    pub(crate) const fn new() -> Self {
        Self {
            policy: AutoMute::Offer,
            muted: Vec::new(),
        }
    }

    /// Mutes the sites that are worth it by a snapshot just captured, or nearly so if somebody asks, and that a pattern matches. Returns a sentence for each.
    pub(crate) fn mute(
        &mut self,
        snapshot: &Snapshot,
        sites: &mut SiteIds,
        pattern: Pattern,
        reason: MuteReason,
    ) -> Vec<String> {
        if self.policy == AutoMute::Off {
            return Vec::new();
        }
        let mut told = Vec::new();
        let costs: Vec<_> = if reason == MuteReason::Asked {
            muting::worth_muting_if_asked(snapshot).collect()
        } else {
            muting::worth_muting(snapshot).collect()
        };
        for cost in costs {
            let described = &snapshot.sites[cost.site.index()];
            let mut met = site_table::met();
            let Some(site) = met.find(|site| sites.id(site) == cost.site) else {
                continue;
            };
            // Functions have a budget of their own.
            let is_governed = reason == MuteReason::Automatic && functions::is_function(site);
            if is_governed || !pattern.matches(described) || !site.set_muted(true) {
                continue;
            }
            site_table::update_if_met(site);
            self.muted.push((
                site,
                Muted {
                    site: cost.site,
                    reason,
                    mean_ns: cost.mean_ns,
                    call_ns: cost.call_ns,
                    cost_share: cost.cost_share,
                },
            ));
            told.push(format!(
                "{path} is muted: its scopes cost more than they tell ({:.0} % of its {:.0} ns a call is measuring, {:.1} % of \
                 all); tickscope on {path} opens it again",
                cost.own_share() * 100.0,
                cost.mean_ns,
                cost.cost_share * 100.0,
                path = described.path(),
            ));
        }
        told
    }

    /// Takes over which functions are off because of the budget.
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    pub(crate) fn set_over_budget(&mut self, over: impl Iterator<Item = (&'static Site, Muted)>) {
        self.muted.retain(|(_, muted)| !muted.reason.is_budget());
        self.muted.extend(over);
    }

    /// Returns what snapshots show. What a rule has switched off or on since is muted no longer.
    pub(crate) fn shown(&mut self, sites: &mut SiteIds) -> Muting {
        self.muted.retain(|(site, _)| site.is_muted());
        let muted = self.muted.iter().map(|&(site, muted)| Muted {
            site: sites.id(site),
            ..muted
        });
        Muting {
            policy: self.policy,
            muted: muted.collect(),
        }
    }
}
