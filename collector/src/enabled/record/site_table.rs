//! All known sites, and which of them are counted.
//!
//! A thread *meets* a site when it opens the site's first scope, which makes the site known. This scope may be in a signal
//! handler or an allocator, so meeting a site takes no lock and does not allocate. Rules and watches are applied to known sites
//! under the capture lock, and to a new site by the thread that meets it. If the path of a new site is too long, or is not known
//! yet, the publisher applies them in its next [`Rules::look`].

use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{self, Rule, WATCHES_MAX};

use crate::enabled::platform::sync::{Ordering, fence};
use crate::enabled::record::arena::{Ref, zeros};
use crate::enabled::record::choices::Choices;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
use crate::enabled::record::function_sites;
use crate::enabled::record::mode_switch;
use crate::enabled::record::site::{Site, SiteState};
use crate::enabled::record::site_name::ShortText;

/// Maximum number of rules; further rules are refused.
pub(crate) const RULES_MAX: usize = 256;

/// The site that was met last. It is the head of a list, linked by `next`.
static NEWEST: Ref<Site> = Ref::none();

/// Patterns of the rules, for threads that meet a site. A rule with decision 1 disables the site, and one with decision 0 enables
/// it.
static RULES: Choices<RULES_MAX> = zeros();

/// Patterns of the watches, each with the slot of its watch, for threads that meet a site.
pub(crate) static WATCHED: Choices<WATCHES_MAX> = zeros();

/// The rules that disable and enable sites. The last rule that matches a site decides.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    rules: Vec<(Pattern, bool)>,
    /// The newest site that has been checked. All older sites have been checked as well.
    looked_at: Option<&'static Site>,
}

/// Adds a site to the list at its first scope.
#[cold]
pub(crate) fn meet(site: &'static Site) {
    // Two threads may meet the site at once, and a signal handler may meet it while the interrupted thread is meeting it. Only
    // one of them adds the site.
    if site.claim() {
        NEWEST.push(site, |next| site.next.set(next));
    }
    // SYNC POINT: the site becomes known before the rules are read (pairs with the fence in `update_if_met`).
    fence(Ordering::SeqCst);
    choose(site);
    update_state(site);
}

/// Applies rules and watches to a site that is being met.
fn choose(site: &'static Site) {
    if RULES.is_empty() && WATCHED.is_empty() {
        return;
    }
    let mut path = ShortText::default();
    if site.write_path(&mut path).is_err() {
        return;
    }
    RULES.decide(path.as_ref(), |off| match off {
        Some(off) => site.set_ruled_off(off != 0),
        None => site.forget_rules(),
    });
    if !site.is_counter() {
        WATCHED.decide(path.as_ref(), |slot| site.set_watch(slot.map(|slot| slot as u32)));
    }
}

/// Returns all known sites, the newest first.
pub(crate) fn met() -> impl Iterator<Item = &'static Site> {
    std::iter::successors(NEWEST.get_acquire(), |site| site.next.get_acquire())
}

/// Enables or disables all known sites, after a switch of modes.
pub(crate) fn update_states() {
    // SYNC POINT: the mode is changed before the states of the sites.
    fence(Ordering::SeqCst);
    met().for_each(update_state);
}

/// Removes all sites, so that a loom model can begin without any.
#[cfg(test)]
pub(crate) fn forget_all() {
    NEWEST.set(None);
}

/// Updates the state of a site. A thread that changes the mode or a rule makes this change first, and then, after a fence,
/// updates the sites. So whichever thread is the last to store a site's state, the state fits the newest mode and rules.
fn update_state(site: &'static Site) {
    loop {
        let wanted = || {
            (
                !mode_switch::newest().mode.traits().is_counting,
                site.is_ruled_off(),
                site.watch().is_some(),
            )
        };
        let before = wanted();
        let disabled = before.0 || before.1;
        site.set_state(if disabled {
            SiteState::Disabled
        } else if before.2 {
            SiteState::Watched
        } else {
            SiteState::Enabled
        });
        // SYNC POINT: the site's state is stored before the mode and the rules are read again. This pairs with the fence between
        // a change of the mode or a rule and the call of this function.
        fence(Ordering::SeqCst);
        if wanted() == before {
            return;
        }
    }
}

/// Applies a rule to a site. `None` means that no rule matches the site. If the site has not been met yet, its state is updated
/// when it is met.
fn rule(site: &'static Site, off: Option<bool>) {
    match off {
        Some(off) => site.set_ruled_off(off),
        None => site.forget_rules(),
    }
    update_if_met(site);
}

/// Updates the state of a site that has been met, after its rule or the budget has changed.
pub(crate) fn update_if_met(site: &'static Site) {
    // SYNC POINT: the rule is stored before the site's state, and before the check whether the site has been met (pairs with the
    // fence in `meet`).
    fence(Ordering::SeqCst);
    if site.is_claimed() {
        update_state(site);
    }
}

/// Returns the functions that have been known since the program's start but have not been met yet.
pub(crate) fn unmet_functions() -> impl Iterator<Item = &'static Site> {
    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    let all = function_sites::all();
    #[cfg(not(all(feature = "functions", target_arch = "x86_64")))]
    let all = std::iter::empty::<&'static Site>();
    all.filter(|site| !site.is_claimed())
}

impl Rules {
    /// Adds a rule and applies it. Returns the number of sites that it matches, or `None` if there are too many rules.
    pub(crate) fn add(&mut self, pattern: Pattern, off: bool) -> Option<usize> {
        self.look();
        self.rules.retain(|(known, _)| *known != pattern);
        let is_all = pattern.as_str() == "*";
        if is_all {
            self.rules.clear();
        }
        // Without other rules, an enabling rule matters only if the budget could switch off functions that the rule keeps on.
        let is_over = |site: &'static Site| site.is_over_budget() && pattern.matches(&site.describe());
        let keeps_on = || unmet_functions().next().is_some() || met().any(is_over);
        let any_off = off || !self.rules.is_empty() || !is_all && keeps_on();
        if any_off {
            if self.rules.len() >= RULES_MAX {
                return None;
            }
            self.rules.push((pattern, off));
        }
        self.tell();
        // The last rule decides, so sites that do not match the new rule keep their state. That is why each site is compared only
        // with the new pattern.
        let mut matched = 0;
        for site in met().chain(unmet_functions()) {
            if pattern.matches(&site.describe()) {
                // A rule that enables all sites gives each site the state that it had before any rule.
                rule(site, (off || !is_all).then_some(off));
                matched += 1;
            }
        }
        Some(matched)
    }

    /// Publishes the rules to threads that meet sites.
    fn tell(&self) {
        RULES.set(self.rules.iter().map(|&(pattern, off)| (pattern, u64::from(off))));
    }

    /// Removes the rule with this pattern. The remaining rules then decide about the sites that match the pattern.
    pub(crate) fn forget(&mut self, pattern: Pattern) {
        self.look();
        self.rules.retain(|(known, _)| *known != pattern);
        self.tell();
        for site in met().chain(unmet_functions()) {
            let described = site.describe();
            if pattern.matches(&described) {
                rule(site, self.last_that_matches(&described));
            }
        }
    }

    /// Returns the decision of the last rule that matches a site.
    fn last_that_matches(&self, described: &snapshot::Site) -> Option<bool> {
        let mut rules = self.rules.iter().rev();
        let last = rules.find(|(pattern, _)| pattern.matches(described));
        last.map(|&(_, off)| off)
    }

    /// Applies all rules to the sites met since the last call.
    pub(crate) fn look(&mut self) {
        let newest = NEWEST.get_acquire();
        let is_known = |site: &&Site| self.looked_at.is_some_and(|known| std::ptr::eq(known, *site));
        let new = std::iter::successors(newest, |site| site.next.get_acquire());
        for site in new.take_while(|site| !self.rules.is_empty() && !is_known(site)) {
            rule(site, self.last_that_matches(&site.describe()));
        }
        self.looked_at = newest;
    }

    /// Returns the rules, oldest first.
    pub(crate) fn list(&self) -> Vec<Rule> {
        let rule = |(pattern, off): &(Pattern, bool)| Rule {
            pattern: pattern.as_str().into(),
            off: *off,
        };
        self.rules.iter().map(rule).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static GET: Site = Site::named("get", "rules::slab", "f.rs", 1);
    static PUT: Site = Site::named("put", "rules::slab", "f.rs", 2);
    static LATE: Site = Site::named("late", "rules::slab", "f.rs", 3);

    #[test]
    fn the_last_rule_that_matches_decides_also_for_later_sites() {
        let mut rules = Rules::default();
        meet(&GET);
        meet(&GET);
        meet(&PUT);
        assert_eq!(met().filter(|site| std::ptr::eq(*site, &GET)).count(), 1);
        let pattern = |text| Pattern::new(text).unwrap();
        assert_eq!(rules.add(pattern("rules::slab"), true), Some(2));
        assert_eq!(rules.add(pattern("slab::get"), false), Some(1));
        assert!(GET.is(SiteState::Enabled) && PUT.is(SiteState::Disabled));
        meet(&LATE);
        assert!(LATE.is(SiteState::Disabled));
        rules.look();
        assert!(LATE.is(SiteState::Disabled));
        assert_eq!(rules.list().len(), 2);
        // The narrower rule is gone, so the wider rule decides on `GET`.
        rules.forget(pattern("slab::get"));
        assert!(GET.is(SiteState::Disabled) && PUT.is(SiteState::Disabled));
        rules.forget(pattern("rules::slab"));
        assert!(GET.is(SiteState::Enabled) && LATE.is(SiteState::Enabled) && rules.list().is_empty());
        rules.add(pattern("slab"), true);
        assert!(GET.is(SiteState::Disabled));
        rules.add(pattern("*"), false);
        assert!(PUT.is(SiteState::Enabled) && LATE.is(SiteState::Enabled) && rules.list().is_empty());
    }

    #[cfg(all(feature = "functions", target_arch = "x86_64"))]
    #[test]
    fn what_somebody_switches_on_or_watches_is_not_off_for_the_budget() {
        static COSTLY: Site = Site::named("costly", "rules::budget", "f.rs", 4);
        static WATCHED: Site = Site::named("watched", "rules::budget", "f.rs", 5);
        let mut rules = Rules::default();
        meet(&COSTLY);
        assert!(COSTLY.set_over_budget(true));
        update_if_met(&COSTLY);
        assert!(COSTLY.is_over_budget() && COSTLY.is(SiteState::Disabled));
        // The rule stays, because without it the budget would switch the site off again.
        let pattern = |text| Pattern::new(text).unwrap();
        assert_eq!(rules.add(pattern("budget::costly"), false), Some(1));
        assert_eq!(rules.list().len(), 1);
        assert!(!COSTLY.is_over_budget() && COSTLY.is(SiteState::Enabled));
        assert!(!COSTLY.set_over_budget(true));
        // The pattern `*` restores the state that the site had before any rule.
        rules.add(pattern("*"), false);
        assert!(COSTLY.set_over_budget(true) && COSTLY.set_over_budget(false));
        WATCHED.set_watch(Some(0));
        assert!(!WATCHED.set_over_budget(true) && !WATCHED.is_over_budget());
    }
}
