//! Functions of the compiler, and what is muted. Those that are off because of the budget were known before other sites could be
//! muted, so their section is that of functions.

use bincode::{Decode, Encode};

use crate::ids::SiteId;
use crate::snapshot::{AutoMute, FunctionChoice, Functions, MuteReason, Muted, Muting};

#[derive(Encode)]
pub(super) struct FunctionsOut<'a>(Counted, Ends, bool, Cost, Vec<OverBudget>, &'a FunctionChoice);

#[derive(Decode)]
pub(super) struct FunctionsIn(Counted, Ends, bool, Cost, Vec<OverBudget>, FunctionChoice);

/// Functions known, and on.
#[derive(Encode, Decode)]
struct Counted(u32, u32);

/// Calls returned, unwound, elsewhere, vanished.
#[derive(Encode, Decode)]
struct Ends(u64, u64, u64, u64);

/// The budget, the share that measuring took, and the nanoseconds of a call.
#[derive(Encode, Decode)]
struct Cost(f64, f64, f64);

/// Site, mean time of a call, share of the cost, whether an earlier run has found it.
#[derive(Encode, Decode)]
struct OverBudget(u32, f64, f64, bool);

/// The policy, and what is off for other reasons than the budget.
#[derive(Encode, Decode)]
pub(super) struct Mutes(AutoMute, Vec<Mute>);

/// Site, reason, mean time of a call, the cost of one, share of the cost.
#[derive(Encode, Decode)]
struct Mute(SiteId, MuteReason, f64, f64, f64);

impl<'a> FunctionsOut<'a> {
    pub(super) fn new(functions: &'a Functions, muting: &Muting) -> Self {
        let over_budget = muting.over_budget().map(|muted| {
            OverBudget(
                muted.site.0,
                muted.mean_ns,
                muted.cost_share,
                muted.reason.is_learned(),
            )
        });
        Self(
            Counted(functions.known, functions.on),
            Ends(
                functions.returned,
                functions.unwound,
                functions.elsewhere,
                functions.vanished,
            ),
            functions.fixed,
            Cost(functions.budget, functions.cost_share, functions.call_ns),
            over_budget.collect(),
            &functions.choice,
        )
    }
}

impl FunctionsIn {
    /// Returns the functions, and those that are off because of the budget.
    pub(super) fn functions(self) -> (Functions, Vec<Muted>) {
        let Self(
            Counted(known, on),
            Ends(returned, unwound, elsewhere, vanished),
            fixed,
            Cost(budget, cost_share, call_ns),
            over_budget,
            choice,
        ) = self;
        let muted = over_budget
            .into_iter()
            .map(|OverBudget(site, mean_ns, cost_share, learned)| Muted {
                site: SiteId(site),
                reason: MuteReason::Budget { learned },
                mean_ns,
                call_ns,
                cost_share,
            });
        let functions = Functions {
            known,
            on,
            returned,
            unwound,
            elsewhere,
            vanished,
            fixed,
            budget,
            cost_share,
            call_ns,
            choice,
        };
        (functions, muted.collect())
    }
}

impl Mutes {
    /// Returns what a section has; none where there is nothing to say.
    pub(super) fn new(muting: &Muting) -> Option<Self> {
        let others = muting.muted.iter().filter(|muted| !muted.reason.is_budget());
        let others: Vec<Mute> = others
            .map(|muted| {
                Mute(
                    muted.site,
                    muted.reason,
                    muted.mean_ns,
                    muted.call_ns,
                    muted.cost_share,
                )
            })
            .collect();
        let is_usual = muting.policy == AutoMute::default() && others.is_empty();
        (!is_usual).then_some(Self(muting.policy, others))
    }

    /// Returns the policy and what is muted.
    pub(super) fn muting(self) -> Muting {
        let Self(policy, others) = self;
        let muted = others
            .into_iter()
            .map(|Mute(site, reason, mean_ns, call_ns, cost_share)| Muted {
                site,
                reason,
                mean_ns,
                call_ns,
                cost_share,
            });
        Muting {
            policy,
            muted: muted.collect(),
        }
    }
}
