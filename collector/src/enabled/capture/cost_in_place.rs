//! What the clock costs in this program, measured in place: which function is the unit, and what its calls took with clocks on and off.
//!
//! A unit is chosen from two snapshots: of the functions whose calls repeat often enough and have scopes in them, the one in which threads
//! work most. If another has nearly as much, the one with more calls, because they say more in the same time. A unit whose calls then come too
//! rarely gives way to the next.

use std::time::{Duration, Instant};

use tickscope_format::Snapshot;
use tickscope_format::ids::{NO_PARENT, SiteId};
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{InPlace, InPlaceState, PAIRS_LEAST, Quantity};

use crate::enabled::capture::site_ids::SiteIds;
use crate::enabled::platform::sync::{Ordering, spin_loop};
use crate::enabled::record::mode_switch::{self, Switch};
use crate::enabled::record::registry::{self, Block};
use crate::enabled::record::site::{Site, SiteState};
use crate::enabled::record::site_table;
use crate::enabled::record::unit::{Clocks, PairSums};
use crate::enabled::runtime::config;

/// The shortest and the longest time between the two snapshots of a choice.
const BETWEEN: Duration = Duration::from_millis(250);
const LONGEST_BETWEEN: Duration = Duration::from_secs(4);

/// A call of a unit takes at least so long: reading the thread's CPU clock for it takes up to half a microsecond.
const LEAST_NS: f64 = 20_000.0;

/// A unit that is not asked for by name has at least so many scopes in a call.
const SCOPES_LEAST: f64 = 8.0;

/// Functions with at least this part of the most time are as good as that.
const NEARLY: f64 = 0.9;

/// After so long it is seen whether a unit's calls come often enough.
const PATIENCE: Duration = Duration::from_secs(2);

/// A call with clocks off that lasts longer goes on with clocks: it is none of those that repeat.
const LONGEST_UNCLOCKED: Duration = Duration::from_secs(1);

/// It ends early once this many pairs give an interval that is this narrow.
const PAIRS_ENOUGH: u64 = 100;
const NARROW: f64 = 0.03;
const SHORTEST: Duration = Duration::from_secs(2);

/// The looks at sums that are being written.
const LOOKS: usize = 1000;

/// What was asked for.
#[derive(Debug)]
struct Wanted {
    pattern: Pattern,
    began: Instant,
    longest: Duration,
}

/// What a site had done at a moment.
#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    /// Calls that are in no other call of the site.
    calls: u64,
    /// The ticks that threads worked in these calls, with all that is in them.
    ticks: u64,
    /// The scopes in them.
    scopes: u64,
}

#[derive(Debug)]
pub(crate) struct CostInPlace {
    wanted: Option<Wanted>,
    /// Grows with each unit.
    number: u32,
    unit: Option<(&'static Site, Instant)>,
    /// What the unit had done when it was chosen, and in which reset epoch.
    unit_before: (u64, Busy),
    /// The first snapshot of a choice: when, its reset epoch, and what each site had done.
    before: Option<(Instant, u64, Vec<Busy>)>,
    /// The sites that were no unit.
    tried: Vec<SiteId>,
    /// The time between the two snapshots of a choice, which grows with each choice that finds none.
    between: Duration,
    /// The pairs of threads that have ended, with those of their single calls.
    finished: PairSums,
    /// The single calls that have no other one yet, in nanoseconds: with clocks on, and with clocks off.
    single: [Vec<u64>; 2],
    /// What counting a scope costs, in nanoseconds.
    counted_ns: Option<(f64, f64)>,
    found: Option<InPlace>,
}

impl CostInPlace {
    pub(crate) const fn new() -> Self {
        Self {
            wanted: None,
            number: 0,
            unit: None,
            unit_before: (
                0,
                Busy {
                    calls: 0,
                    ticks: 0,
                    scopes: 0,
                },
            ),
            before: None,
            tried: Vec::new(),
            between: BETWEEN,
            finished: PairSums {
                pairs: 0.0,
                x: 0.0,
                y: 0.0,
                xx: 0.0,
                yy: 0.0,
                xy: 0.0,
            },
            single: [const { Vec::new() }; 2],
            counted_ns: None,
            found: None,
        }
    }

    /// Begins to measure for so long at most, in a function that matches; 0 ends it.
    pub(crate) fn ask_for(&mut self, pattern: Pattern, longest: Duration) {
        self.let_go();
        if longest.is_zero() {
            self.end(InPlaceState::Done);
            return;
        }
        let mode = mode_switch::newest().mode;
        let (low, high) = self.counted_ns.unwrap_or_default();
        self.found = Some(InPlace {
            mode,
            counted_low_ns: low,
            counted_high_ns: high,
            ..InPlace::default()
        });
        self.before = None;
        self.tried.clear();
        self.between = BETWEEN;
        self.wanted = Some(Wanted {
            pattern,
            began: Instant::now(),
            longest,
        });
        if !mode.charges_time() {
            self.end(InPlaceState::NoClocks);
        }
    }

    /// Returns whether the publisher is to find out what counting a scope costs.
    pub(crate) fn wants_counted_ns(&self) -> bool {
        self.wanted.is_some() && self.counted_ns.is_none()
    }

    /// Returns whether a snapshot is wanted now, to choose a unit by.
    pub(crate) fn wants_snapshot(&self) -> bool {
        let is_time = |before: &(Instant, u64, Vec<Busy>)| before.0.elapsed() >= self.between;
        self.wanted.is_some() && self.unit.is_none() && self.before.as_ref().is_none_or(is_time)
    }

    /// Notes what counting a scope costs, in nanoseconds.
    pub(crate) fn set_counted_ns(&mut self, low: f64, high: f64) {
        self.counted_ns = Some((low, high));
        if let Some(found) = &mut self.found {
            (found.counted_low_ns, found.counted_high_ns) = (low, high);
        }
    }

    /// Adds the pairs of a thread that has ended. A thread may have one call only: such calls are pairs with those of other threads.
    pub(crate) fn finish(&mut self, block: &'static Block) {
        if self.unit.is_none() {
            return;
        }
        let (unit, number) = (&block.tree.unit, self.number.into());
        self.finished.add(unit.read(number).unwrap_or_default());
        if let Some((clocks, ns)) = unit.take_single(number) {
            let [on, off] = &mut self.single;
            let (same, other) = match clocks {
                Clocks::On => (on, off),
                Clocks::Off => (off, on),
            };
            match (other.pop(), clocks) {
                (Some(unclocked), Clocks::On) => self.finished.add_pair(ns as f64, unclocked as f64),
                (Some(clocked), Clocks::Off) => self.finished.add_pair(clocked as f64, ns as f64),
                (None, _) => same.push(ns),
            }
        }
    }

    /// Reads the pairs so far, and ends when enough is known or the time is over.
    pub(crate) fn look(&mut self) {
        let Some(wanted) = &self.wanted else { return };
        let left = wanted.longest.saturating_sub(wanted.began.elapsed());
        let is_late = left.is_zero();
        let Some(found) = &mut self.found else { return };
        if mode_switch::newest().mode != found.mode {
            return self.end(InPlaceState::Done);
        }
        let Some((_, since)) = self.unit else {
            if is_late {
                self.end(InPlaceState::NothingRepeats);
            }
            return;
        };
        end_open_calls((LONGEST_UNCLOCKED.as_secs_f64() * config::ticks_per_second()) as u64);
        let mut sums = self.finished;
        for block in registry::living() {
            let read = || {
                spin_loop();
                block.tree.unit.read(self.number.into())
            };
            sums.add((0..LOOKS).find_map(|_| read()).unwrap_or_default());
        }
        found.pairs = sums.pairs as u64;
        found.for_ns = since.elapsed().as_nanos() as u64;
        if let Some(ratio) = sums.ratio() {
            (found.measured_ns, found.unclocked_ns) = (ratio.x, ratio.y);
            (found.low, found.high) = (ratio.low, ratio.high);
        }
        let is_known = found.pairs >= PAIRS_ENOUGH && found.high - found.low < NARROW;
        if is_late || is_known && since.elapsed() >= SHORTEST {
            self.end(InPlaceState::NothingRepeats);
        } else if since.elapsed() >= PATIENCE
            && expected_pairs(found.pairs, since.elapsed(), left) < PAIRS_LEAST
        {
            found.state = InPlaceState::Choosing;
            found.unit.clear();
            self.let_go();
            self.before = None;
        }
    }

    /// No function is the unit any more. Its open calls go on as usual.
    fn let_go(&mut self) {
        if let Some((site, _)) = self.unit.take() {
            site.set_unit(0);
            site_table::update_if_met(site);
            end_open_calls(0);
        }
        self.single.iter_mut().for_each(Vec::clear);
    }

    /// Ends the measurement, because the session ends.
    pub(crate) fn stop(&mut self) {
        self.look();
        self.end(InPlaceState::NothingRepeats);
    }

    fn end(&mut self, state: InPlaceState) {
        self.let_go();
        self.wanted = None;
        self.before = None;
        if let Some(found) = self.found.as_mut().filter(|found| !found.state.is_over()) {
            let is_known = found.slowdown().is_some();
            found.state = if is_known { InPlaceState::Done } else { state };
        }
    }

    /// Puts what is known into a snapshot whose rows are complete, and chooses the unit by it if there is none yet.
    pub(crate) fn show(&mut self, snapshot: &mut Snapshot, sites: &mut SiteIds) {
        self.look();
        let (epoch, before) = self.unit_before;
        if let Some(found) = &mut self.found
            && let Some((site, _)) = self.unit
            && epoch == snapshot.capture.reset_epoch
        {
            let now = busy(snapshot)
                .get(sites.id(site).index())
                .copied()
                .unwrap_or_default();
            let calls = now.calls.saturating_sub(before.calls);
            if calls >= PAIRS_LEAST {
                found.scopes = now.scopes.saturating_sub(before.scopes) as f64 / calls as f64;
            }
        }
        if self.wanted.is_some() && self.unit.is_none() {
            self.choose(snapshot, sites);
        }
        snapshot.in_place.clone_from(&self.found);
    }

    fn choose(&mut self, snapshot: &Snapshot, sites: &mut SiteIds) {
        let epoch = snapshot.capture.reset_epoch;
        let now = busy(snapshot);
        let before = self.before.as_ref().filter(|(_, of_epoch, _)| *of_epoch == epoch);
        let (Some(wanted), Some((then, _, before))) = (&self.wanted, before) else {
            self.before = Some((Instant::now(), epoch, now));
            return;
        };
        let passed = then.elapsed();
        if passed < self.between {
            return;
        }
        let left = wanted.longest.saturating_sub(wanted.began.elapsed());
        let scopes_least = if wanted.pattern.as_str() == "*" {
            SCOPES_LEAST
        } else {
            1.0
        };
        let mut good: Vec<(SiteId, u64, u64, f64)> = Vec::new();
        for (id, after) in (0..).map(SiteId).zip(&now) {
            let earlier = before.get(id.index()).copied().unwrap_or_default();
            let calls = after.calls.saturating_sub(earlier.calls);
            let ticks = after.ticks.saturating_sub(earlier.ticks);
            let scopes = after.scopes.saturating_sub(earlier.scopes);
            let mean_ns = snapshot.nanos(ticks) as f64 / calls.max(1) as f64;
            let pairs = calls as f64 / 2.0 * left.as_secs_f64() / passed.as_secs_f64();
            if calls > 0
                && mean_ns >= LEAST_NS
                && scopes as f64 >= scopes_least * calls as f64
                && pairs >= PAIRS_LEAST as f64
                && !self.tried.contains(&id)
                && wanted.pattern.matches(&snapshot.sites[id.index()])
            {
                good.push((id, ticks, calls, scopes as f64 / calls as f64));
            }
        }
        let most = good.iter().map(|&(_, ticks, ..)| ticks).max().unwrap_or(0);
        good.retain(|&(_, ticks, ..)| ticks as f64 >= NEARLY * most as f64);
        good.sort_by_key(|&(_, _, calls, _)| std::cmp::Reverse(calls));
        for (id, _, _, scopes) in good {
            self.tried.push(id);
            let site = site_table::met().find(|site| sites.id(site) == id);
            let may_be = |site: &&Site| site.is(SiteState::Enabled) && !site.is_future();
            if let Some(site) = site.filter(may_be) {
                note_means(snapshot, sites);
                self.number += 1;
                self.finished = PairSums::default();
                site.set_unit(self.number);
                site_table::update_if_met(site);
                self.unit = Some((site, Instant::now()));
                self.unit_before = (epoch, now[id.index()]);
                if let Some(found) = &mut self.found {
                    found.scopes = scopes;
                    let described = site.describe();
                    found.state = InPlaceState::Measuring;
                    found.unit = format!("{}::{}", described.module, described.name)
                        .trim_start_matches("::")
                        .into();
                }
                return;
            }
        }
        // Other functions may repeat later.
        self.between = (self.between * 2).min(LONGEST_BETWEEN);
        self.before = Some((Instant::now(), epoch, now));
    }
}

/// Lets calls with clocks off go on as usual that have lasted for more than so many ticks. It is a switch to the mode that is in force, so
/// each thread is charged for the time until now as with any switch.
fn end_open_calls(ticks: u64) {
    let now = config::now();
    let is_open = |block: &'static Block| {
        let began = block.tree.last.load(Ordering::Relaxed);
        block.tree.unit.is_unclocked() && now.saturating_sub(began) > ticks
    };
    if registry::living().any(is_open) {
        let Switch { mode, histograms, .. } = mode_switch::newest();
        registry::switch_to(mode, histograms, now);
    }
}

/// Returns how many pairs there will be in the end, if they go on to come as they do.
fn expected_pairs(pairs: u64, passed: Duration, left: Duration) -> u64 {
    let rate = pairs as f64 / passed.as_secs_f64().max(1e-9);
    pairs.saturating_add((rate * left.as_secs_f64()) as u64)
}

/// Notes what a call of each site takes itself, over all threads.
fn note_means(snapshot: &Snapshot, sites: &mut SiteIds) {
    let nodes = &snapshot.nodes;
    let mut sums = vec![(0u64, 0u64); snapshot.sites.len()];
    for row in 0..nodes.len() {
        let (calls, ticks) = &mut sums[nodes.site[row] as usize];
        *calls = calls.saturating_add(nodes.calls[row]);
        *ticks = ticks.saturating_add(nodes.self_ticks[row]);
    }
    for site in site_table::met() {
        let (calls, ticks) = sums.get(sites.id(site).index()).copied().unwrap_or_default();
        site.set_mean_ticks(ticks as f64 / calls.max(1) as f64);
    }
}

/// Returns what each site has done, by its number.
fn busy(snapshot: &Snapshot) -> Vec<Busy> {
    let nodes = &snapshot.nodes;
    let mut working = nodes.self_ticks.clone();
    for quantity in [Quantity::Waiting, Quantity::Ready] {
        let column = snapshot.measures.of(quantity);
        for &(row, ticks) in column.map_or(&[][..], |column| &column.rows) {
            if let Some(working) = working.get_mut(row as usize) {
                *working = working.saturating_sub(ticks);
            }
        }
    }
    let totals = nodes.totals(&working);
    let mut calls = nodes.calls.clone();
    for count in &snapshot.counts {
        calls[count.node.index()] = 0;
    }
    let inside = nodes.totals(&calls);
    let mut all = vec![Busy::default(); snapshot.sites.len()];
    for row in 0..nodes.len() {
        let site = nodes.site[row];
        let mut above = nodes.parent[row];
        while above != NO_PARENT && nodes.site[above as usize] != site {
            above = nodes.parent[above as usize];
        }
        if above == NO_PARENT && calls[row] > 0 {
            let of = &mut all[site as usize];
            of.calls = of.calls.saturating_add(calls[row]);
            of.ticks = of.ticks.saturating_add(totals[row]);
            of.scopes = of.scopes.saturating_add(inside[row] - calls[row]);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use tickscope_testkit::fixture;

    use super::*;

    #[test]
    fn what_a_site_did_is_that_of_its_outermost_calls() {
        let snapshot = fixture::recursion();
        let busy = busy(&snapshot);
        let nodes = &snapshot.nodes;
        for (site, of) in (0..).zip(&busy) {
            let rows = (0..nodes.len()).filter(|&row| nodes.site[row] == site);
            let all: u64 = rows.map(|row| nodes.calls[row]).sum();
            assert!(of.calls <= all);
        }
        let top: u64 = (0..nodes.len())
            .filter(|&row| nodes.parent[row] == NO_PARENT)
            .map(|row| busy[nodes.site[row] as usize].ticks)
            .sum();
        assert!(top >= snapshot.working_ticks());
    }
}
