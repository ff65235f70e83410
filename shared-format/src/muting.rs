//! Which sites cost more than they tell. The collector, the viewer and reports decide by this one rule.
//!
//! A site is worth muting if measuring its scopes takes more than half of the time that is inside them, and more than 2 % of
//! the time in which threads work in scopes. Both must hold beyond doubt: the cost is the lower bound of what a scope costs in
//! the mode in force, and the time inside is the upper bound of its estimate. Calls inside may go on being measured; their
//! time, and the site's own, is that of its callers once it is muted.
//!
//! The rule looks at the mean call. A site whose calls are mostly long has a long mean, so it stays on, and so does one that has
//! a few very long calls among short ones: those are what it is there to tell.

use crate::ids::{NO_PARENT, SiteId};
use crate::pattern::Pattern;
use crate::snapshot::{AutoMute, BORDER_NS, Quantity, Site, Snapshot, Timing, Values, own_share};

/// A site is worth muting if its scopes cost more than so much of what is inside them.
pub const OF_INSIDE: f64 = 0.5;

/// And more than so much of the time in which threads work in scopes.
pub const OF_ALL: f64 = 0.02;

/// Fewer calls say nothing of a site.
const CALLS_LEAST: u64 = 1_000;

/// So many calls must have been timed, where not all are. The clock alone says too little of short ones, so there must be samples as well.
const TIMED_LEAST: u64 = 100;

/// Less work in scopes says nothing of a program: what runs at the beginning may never run again.
const WORK_LEAST_NS: f64 = 100e6;

/// So many standard errors above its estimate the true time inside is at most, 19 times out of 20 and more.
const ERRORS: f64 = 2.0;

/// Where no sample has found a site, it has less time than so many samples stand for, 19 times out of 20.
const UNSEEN_SAMPLES: f64 = 3.0;

/// Of a call, the calls inside it cost at most so much, because their cost is not known well enough to leave less.
const CHILDREN_MOST: f64 = 0.5;

/// What measuring a site costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteCost {
    /// The site.
    pub site: SiteId,
    /// Its calls since the reset.
    pub calls: u64,
    /// What measuring a call takes at least, in nanoseconds.
    pub call_ns: f64,
    /// How long a call takes with all calls inside and what measuring it takes, in nanoseconds.
    pub mean_ns: f64,
    /// How much measuring it takes of the time in which threads work in scopes, from 0 to 1.
    pub cost_share: f64,
    /// How many times both limits it reaches; 0 where that is not certain. Above 1 it is worth muting.
    worth: f64,
}

/// What somebody asks to mute has reached the limits in a snapshot before. In the newest one it need reach only this part of them,
/// because costs and estimates vary.
const ASKED: f64 = 0.5;

impl SiteCost {
    /// Returns whether it is worth muting.
    pub fn is_worth_muting(&self) -> bool {
        self.worth > 1.0
    }

    /// Returns how much of a call is measuring, from 0 to 1.
    pub fn own_share(&self) -> f64 {
        own_share(self.call_ns, self.mean_ns)
    }
}

/// What was counted of a site, over all its rows.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    calls: u64,
    /// Calls, or polls of futures: what measuring them costs is that of a scope each.
    events: u64,
    /// Whether only some calls were timed, and how many.
    is_estimated: bool,
    timed: u64,
    /// The time inside, without what measuring takes, in nanoseconds.
    inside_ns: f64,
    /// The square of its standard error.
    variance: f64,
}

/// Returns what measuring costs of each site that can be muted, the most expensive first. Nothing is known in mode `off`, and of
/// other values than time.
pub fn costs(snapshot: &Snapshot) -> Vec<SiteCost> {
    let working_ns = snapshot.nanos(snapshot.working_ticks()) as f64;
    let call_ns = least_cost(snapshot);
    let timing = snapshot.capture.mode.traits().timing;
    let is_known = working_ns > 0.0 && call_ns.is_finite() && call_ns > 0.0;
    if timing == Timing::Never || snapshot.values != Values::Time || !is_known {
        return Vec::new();
    }
    let unseen_ns = match timing {
        Timing::Samples => {
            let period = snapshot.capture.since_reset_ns as f64 / snapshot.measuring.samples.max(1) as f64;
            UNSEEN_SAMPLES * period
        }
        Timing::EveryCall | Timing::SomeCalls | Timing::Never => 0.0,
    };
    let is_kept_on = kept_on(snapshot);
    let mut costs: Vec<SiteCost> = Vec::new();
    for (site, sums) in (0..).map(SiteId).zip(sums(snapshot, call_ns)) {
        if sums.calls == 0 || is_kept_on[site.index()] {
            continue;
        }
        let cost_ns = sums.events as f64 * call_ns;
        let cost_share = (cost_ns / working_ns).min(1.0);
        let at_most_ns = sums.inside_ns + ERRORS * sums.variance.sqrt() + unseen_ns;
        let is_certain = sums.calls >= CALLS_LEAST
            && working_ns >= WORK_LEAST_NS
            && (!sums.is_estimated
                || snapshot.scope_cost_seen().is_some()
                    && (timing == Timing::Samples || sums.timed >= TIMED_LEAST));
        let calls = sums.calls as f64;
        costs.push(SiteCost {
            site,
            calls: sums.calls,
            call_ns: cost_ns / calls,
            mean_ns: (cost_ns + sums.inside_ns) / calls,
            cost_share,
            worth: if is_certain {
                (cost_ns / at_most_ns.max(1.0) / OF_INSIDE).min(cost_share / OF_ALL)
            } else {
                0.0
            },
        });
    }
    costs.sort_by(|a, b| b.cost_share.total_cmp(&a.cost_share));
    costs
}

/// Returns what a scope costs at least, in nanoseconds. Samples see what the calibration cannot, as misses of caches. The calibration
/// knows what samples do not see, which is the instructions that stand in the program itself.
fn least_cost(snapshot: &Snapshot) -> f64 {
    let seen = snapshot
        .seen_cost
        .filter(|_| snapshot.scope_cost_seen().is_some());
    let measured = match seen {
        Some(seen) => seen.least_ns(snapshot.scope_calls()),
        None => snapshot.scope_cost().low_ns,
    };
    measured.max(snapshot.own_cost().low_ns)
}

/// Returns the sites that are worth muting, the most expensive first.
pub fn worth_muting(snapshot: &Snapshot) -> impl Iterator<Item = SiteCost> {
    costs(snapshot).into_iter().filter(SiteCost::is_worth_muting)
}

/// Returns the sites that are muted if somebody asks for it who has seen them worth it in a snapshot before.
pub fn worth_muting_if_asked(snapshot: &Snapshot) -> impl Iterator<Item = SiteCost> {
    costs(snapshot).into_iter().filter(|cost| cost.worth > ASKED)
}

/// Returns the sites that are offered: those that are worth muting, unless the program offers nothing.
pub fn offered(snapshot: &Snapshot) -> Vec<SiteCost> {
    if snapshot.muting.policy == AutoMute::Off {
        return Vec::new();
    }
    worth_muting(snapshot).collect()
}

/// Adds up what was counted of each site. A call of `call_ns` has the cost of the calls in it taken out, and that part of its own
/// which lies between its clock reads: a half.
fn sums(snapshot: &Snapshot, call_ns: f64) -> Vec<Sums> {
    let nodes = &snapshot.nodes;
    let totals = nodes.totals(&nodes.self_ticks);
    let polls = snapshot.measures.of(Quantity::Polls);
    let events = |row: usize| {
        let polls = polls.map_or(0, |polls| polls.of_row(row as u32));
        nodes.calls[row].max(polls)
    };
    let mut counters = snapshot.counts.iter().map(|count| count.node.index()).peekable();
    let is_counter: Vec<bool> = (0..nodes.len())
        .map(|row| counters.next_if_eq(&row).is_some())
        .collect();
    // Events of all scopes in a row.
    let mut below = vec![0u64; nodes.len()];
    for row in (0..nodes.len()).rev() {
        let parent = nodes.parent[row];
        if parent != NO_PARENT {
            let own = if is_counter[row] { 0 } else { events(row) };
            below[parent as usize] = below[parent as usize]
                .saturating_add(below[row])
                .saturating_add(own);
        }
    }
    let ns_per_tick = 1e9 / snapshot.clock.ticks_per_second;
    // What samples saw of measuring is in no row, or in all in proportion.
    let in_rows_ns = if snapshot.scope_cost_seen().is_some() {
        0.0
    } else {
        call_ns
    };
    let mut sums = vec![Sums::default(); snapshot.sites.len()];
    let mut estimates = snapshot.estimates.iter().peekable();
    for row in 0..nodes.len() {
        let estimate = estimates.next_if(|estimate| estimate.node.index() == row);
        if is_counter[row] {
            continue;
        }
        let sums = &mut sums[nodes.site[row] as usize];
        let events = events(row);
        let timed = estimate.map_or(events, |estimate| estimate.timed.min(events));
        let measured_ns = totals[row] as f64 * ns_per_tick;
        let children_ns = (below[row] as f64 * in_rows_ns).min(CHILDREN_MOST * measured_ns);
        sums.calls = sums.calls.saturating_add(nodes.calls[row]);
        sums.events = sums.events.saturating_add(events);
        sums.timed = sums.timed.saturating_add(timed);
        sums.is_estimated |= estimate.is_some();
        sums.inside_ns += (measured_ns - children_ns - timed as f64 * in_rows_ns / 2.0).max(0.0);
        let error = estimate.map_or(0.0, |estimate| estimate.total_error as f64 * ns_per_tick);
        // What may be another's at the borders of calls is no reason to keep their scope.
        let borders = nodes.calls[row] as f64 * BORDER_NS;
        sums.variance += (error * error - borders * borders).max(0.0);
    }
    sums
}

/// Says of each site whether it stays as it is: it is no place in the source, it is off already, its calls are watched, or
/// somebody has switched it on.
fn kept_on(snapshot: &Snapshot) -> Vec<bool> {
    let patterns = |texts: &mut dyn Iterator<Item = &String>| -> Vec<Pattern> {
        texts.filter_map(|text| Pattern::new(text).ok()).collect()
    };
    let watched = patterns(&mut snapshot.watches.iter().map(|watch| &watch.function));
    let rules = snapshot.measuring.rules.iter().rev();
    let rules: Vec<(Pattern, bool)> = rules
        .filter_map(|rule| Some((Pattern::new(&rule.pattern).ok()?, rule.off)))
        .collect();
    let is_switched_on = |site: &Site| {
        let mut rules = rules.iter();
        rules
            .find(|(pattern, _)| pattern.matches(site))
            .is_some_and(|(_, off)| !off)
    };
    let sites = snapshot.sites.iter().map(|site| {
        site.file.is_empty() || watched.iter().any(|pattern| pattern.matches(site)) || is_switched_on(site)
    });
    let mut kept: Vec<bool> = sites.collect();
    for site in &snapshot.measuring.off_sites {
        kept[site.index()] = true;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::NodeId;
    use crate::snapshot::{Estimate, Mode, Over, Rule, SeenCost, Sites, Watch, WatchState};

    /// A loop of 10 s, and in it peek with this many calls that take so many nanoseconds each, as the clock says. Measuring takes
    /// 20 ns a call, of which 10 are inside.
    fn peeked(calls: u64, ns: u64) -> Snapshot {
        let site = |name: &str| Site {
            name: name.into(),
            module: "app::parse".into(),
            file: "src/parse.rs".into(),
            ..Site::default()
        };
        let mut s = Snapshot {
            sites: Sites::from([site("run"), site("peek"), site("inner")]),
            ..Snapshot::default()
        };
        s.clock.ticks_per_second = 1e9;
        s.capture.since_reset_ns = 10_000_000_000;
        (s.capture.cost.lower_ns, s.capture.cost.upper_ns) = (20.0, 20.0);
        let run = s.nodes.push(None, SiteId(0), 1, 10_000_000_000 - calls * ns);
        s.nodes.push(Some(run), SiteId(1), calls, calls * ns);
        s
    }

    fn names(s: &Snapshot) -> Vec<&str> {
        worth_muting(s)
            .map(|cost| s.sites[cost.site.index()].name.as_str())
            .collect()
    }

    #[test]
    fn a_scope_is_worth_muting_that_costs_more_than_half_of_what_is_in_it() {
        // 20 ns around 35 ns of work, and around 45.
        assert_eq!(names(&peeked(20_000_000, 45)), ["peek"]);
        assert!(names(&peeked(20_000_000, 55)).is_empty());
        let cost = worth_muting(&peeked(20_000_000, 45)).next().unwrap();
        assert_eq!((cost.call_ns, cost.mean_ns, cost.cost_share), (20.0, 55.0, 0.04));
        assert!((cost.own_share() - 20.0 / 55.0).abs() < 1e-9);
    }

    #[test]
    fn what_takes_little_of_all_stays_on() {
        assert!(names(&peeked(9_000_000, 30)).is_empty(), "1.8 %");
        assert_eq!(names(&peeked(11_000_000, 30)), ["peek"], "2.2 %");
        assert!(!costs(&peeked(9_000_000, 30))[0].is_worth_muting());
    }

    #[test]
    fn what_is_not_known_well_stays_on() {
        let mut s = peeked(20_000_000, 45);
        s.nodes.self_ticks = vec![9_999_000, 90_000_000];
        s.nodes.calls[1] = 4_000_000;
        assert!(names(&s).is_empty(), "less than a tenth of a second of work");
        // The mean may be 48 ns as well, or was found in few calls.
        for (timed, error, found) in [
            (100_000, 10_000_000, true),
            (100_000, 100_000_000, false),
            (99, 0, false),
            (100, 0, true),
        ] {
            let mut s = peeked(20_000_000, 38);
            s.capture.mode = Mode::Adaptive;
            s.measuring.samples = 10_000_000;
            let (looks, ns) = (400_000, 400e6);
            s.seen_cost = Some(SeenCost { looks, ns });
            s.estimates = vec![Estimate {
                node: NodeId(1),
                timed,
                self_error: error,
                total_error: error,
            }];
            assert_eq!(!names(&s).is_empty(), found, "{timed} {error}");
        }
    }

    #[test]
    fn a_mode_without_times_mutes_nothing_and_samples_have_to_be_many() {
        let mut s = peeked(20_000_000, 45);
        s.capture.mode = Mode::Off;
        assert!(costs(&s).is_empty());
        s.capture.mode = Mode::Sampled;
        s.nodes.self_ticks[1] = 0;
        // 400 ms for measuring: that no sample has found it says less than 300 ms in 100 samples, 3 s in 10.
        for (samples, found) in [(100, true), (10, false)] {
            s.measuring.samples = samples;
            assert_eq!(!names(&s).is_empty(), found, "{samples}");
        }
    }

    #[test]
    fn the_cost_of_calls_inside_is_not_work() {
        // Each peek has one inner, which has 2 of its 12 ns for work: peek has 30 ns of work of its own.
        let mut s = peeked(20_000_000, 40 + 10);
        let peek = NodeId(1);
        s.nodes.push(Some(peek), SiteId(2), 20_000_000, 20_000_000 * 12);
        assert_eq!(names(&s), ["peek", "inner"]);
        // A call with a hundred others in it: their cost is known too badly to say that it does nothing.
        let mut s = peeked(20_000, 30_000);
        s.nodes.push(Some(peek), SiteId(2), 80_000_000, 80_000_000 * 12);
        assert_eq!(names(&s), ["inner"]);
    }

    #[test]
    fn what_is_off_watched_or_switched_on_stays_as_it_is() {
        let s = peeked(20_000_000, 45);
        let but = |change: fn(&mut Snapshot)| {
            let mut s = s.clone();
            change(&mut s);
            names(&s).len()
        };
        assert_eq!(but(|_| {}), 1);
        assert_eq!(but(|s| s.measuring.off_sites.push(SiteId(1))), 0);
        let rule = |pattern: &str, off| Rule {
            pattern: pattern.into(),
            off,
        };
        let rules = [rule("parse::*", false), rule("run", true)];
        let mut switched_on = s.clone();
        switched_on.measuring.rules = rules.to_vec();
        assert!(names(&switched_on).is_empty());
        let mut watched = s.clone();
        watched.watches.push(Watch {
            function: "peek".into(),
            over: Over::Tail,
            state: WatchState::default(),
            ..Watch::default()
        });
        assert!(names(&watched).is_empty());
        let mut pruned = s.clone();
        pruned.sites[1].file.clear();
        assert!(names(&pruned).is_empty(), "no place in the source");
        let mut off = s;
        off.muting.policy = AutoMute::Off;
        assert!(offered(&off).is_empty());
    }
}
