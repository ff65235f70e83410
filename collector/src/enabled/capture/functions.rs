//! What snapshots say about the functions that the compiler has instrumented. If there are none, this module does nothing.

use std::ops::AddAssign;
use std::time::Duration;

use tickscope_format::snapshot::Functions;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use tickscope_format::snapshot::OverBudget;

use crate::enabled::capture::site_ids::SiteIds;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use crate::enabled::platform::sync::Ordering;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use crate::enabled::record::site::Site;
use crate::enabled::record::tree::Tree;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use crate::enabled::record::{calls_by_future, function_sites};
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use crate::enabled::runtime::function_choice;

/// How many calls of a thread's functions have ended in each way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ends {
    returned: u64,
    unwound: u64,
    elsewhere: u64,
}

/// What the publisher tells snapshots about the cost of functions.
#[cfg(not(all(feature = "functions", target_arch = "x86_64")))]
#[derive(Debug, Default)]
pub(crate) struct Told;

/// What the publisher tells snapshots about the cost of functions.
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) budget: f64,
    pub(crate) cost_share: f64,
    pub(crate) call_ns: f64,
    /// Functions that are off because of the budget. The site ids in each `OverBudget` are not set yet.
    pub(crate) over_budget: Vec<(&'static Site, OverBudget)>,
}

#[cfg(all(feature = "functions", target_arch = "x86_64"))]
impl Told {
    /// Returns the functions that are off because of the budget, unless a rule has switched them off or on in the meantime.
    fn over_budget(&self, sites: &mut SiteIds) -> Vec<OverBudget> {
        let over_budget = self.over_budget.iter();
        let over_budget = over_budget.filter(|(site, _)| site.is_over_budget());
        over_budget
            .map(|&(site, over)| OverBudget {
                site: sites.id(site),
                ..over
            })
            .collect()
    }
}

impl AddAssign for Ends {
    fn add_assign(&mut self, other: Self) {
        self.returned += other.returned;
        self.unwound += other.unwound;
        self.elsewhere += other.elsewhere;
    }
}

#[cfg(all(feature = "functions", target_arch = "x86_64"))]
impl Ends {
    /// Returns how the calls of a tree's functions ended.
    pub(crate) fn of(tree: &Tree) -> Self {
        let frames = &tree.frames;
        Self {
            returned: frames.returned.load(Ordering::Relaxed),
            unwound: frames.unwound.load(Ordering::Relaxed),
            elsewhere: frames.elsewhere.load(Ordering::Relaxed),
        }
    }

    /// Returns what a snapshot says about functions, or `None` if there are none. `self` must cover the calls of all threads.
    pub(crate) fn described(self, told: &Told, sites: &mut SiteIds) -> Option<Functions> {
        function_sites::counts().map(|counts| Functions {
            known: counts.known,
            on: counts.on,
            returned: self.returned,
            unwound: self.unwound,
            elsewhere: self.elsewhere,
            vanished: calls_by_future::vanished(),
            fixed: function_sites::refused().is_some(),
            budget: told.budget,
            cost_share: told.cost_share,
            call_ns: told.call_ns,
            over_budget: told.over_budget(sites),
            choice: function_sites::choice().cloned().unwrap_or_default(),
        })
    }
}

#[cfg(not(all(feature = "functions", target_arch = "x86_64")))]
impl Ends {
    pub(crate) fn of(_: &Tree) -> Self {
        Self::default()
    }

    pub(crate) fn described(self, _: &Told, _: &mut SiteIds) -> Option<Functions> {
        None
    }
}

/// Switches the instrumentation of functions (their sleds) on or off, as the rules and the mode require.
pub(crate) fn follow() {
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    function_sites::follow(false);
}

/// Returns the time until the next check for end sleds that can be switched off; `None` if no end sled is waiting for
/// that.
pub(crate) fn ends_wait() -> Option<Duration> {
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    return function_sites::ends_wait();
    #[cfg(not(all(feature = "functions", target_arch = "x86_64")))]
    None
}

/// Returns whether the program has functions that may be counted.
pub(crate) fn are_known() -> bool {
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    return function_sites::all().len() > 0;
    #[cfg(not(all(feature = "functions", target_arch = "x86_64")))]
    false
}

/// Returns whether there are functions whose cost a budget limits.
pub(crate) fn have_a_budget() -> bool {
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    return are_known() && function_choice::budget().is_some();
    #[cfg(not(all(feature = "functions", target_arch = "x86_64")))]
    false
}

/// Returns a sentence for each setting that could not be applied.
pub(crate) fn warnings() -> Vec<String> {
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    return function_choice::warnings()
        .into_iter()
        .chain(function_sites::warning())
        .collect();
    #[cfg(not(all(feature = "functions", target_arch = "x86_64")))]
    Vec::new()
}
