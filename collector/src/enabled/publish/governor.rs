//! Keeps what measuring functions costs within its budget, a share of the program's CPU time: functions whose calls are
//! shortest are muted until the rest fits. Their time becomes that of their callers, which stay. It works in each mode that
//! counts: with what a call costs in that mode, and with the mean time of the calls that are timed or, where none is, that
//! samples have found.
//!
//! It looks often in the beginning and rarely later. The mean time of a call decides, and not the number of calls: a tree
//! without its shortest functions still says which part of the program takes the time. A function that lasts much longer
//! than measuring it is never switched off. When the cost has been far below the budget for some time, the longest of those
//! that are off come back, each after a longer time than before.

use std::time::{Duration, Instant};

use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::{Mode, MuteReason, Muted, Quantity};

use crate::enabled::capture::collector_state;
use crate::enabled::platform::os;
use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::function_sites;
use crate::enabled::record::mode_switch::{self, Switch};
use crate::enabled::record::node::Node;
use crate::enabled::record::registry::{self, Block};
use crate::enabled::record::site::Site;
use crate::enabled::record::site_table;
use crate::enabled::runtime::config;
use crate::enabled::runtime::function_choice;
use crate::enabled::runtime::learned::{self, Learned};

/// The time to the first look; each further one comes after twice the time.
const FIRST: Duration = Duration::from_millis(2);
const LONGEST: Duration = Duration::from_millis(200);

/// A look may cost one in so many parts of the time, but for those of the beginning: a short run would be over before the next
/// one.
const LOOK_SHARE: u32 = 200;
const BEGINNING: Duration = Duration::from_millis(250);

/// Less CPU time than this says nothing.
const LEAST_CPU_NS: u64 = 1_000_000;

/// A function whose calls last so many times what measuring them costs stays on.
const WORTH: f64 = 100.0;

/// A function that costs less than this share of the CPU time stays on.
const HARMLESS: f64 = 0.0005;

/// Once the cost is above the budget, functions are switched off until it is below this part of it. So one look more is seldom
/// needed, and what a look does not see, as the session itself and caches that are full of the tree, fits as well.
const AIM: f64 = 0.5;

/// Functions come back while the cost, with theirs, is below this part of the budget.
const COMFORT: f64 = 0.4;

/// A call costs so many times more in a program than in the loop in which its cost is measured: its memory has left the nearest
/// cache, and reading the clock waits for what the program has begun. In ripgrep it was 31 ns instead of 21.
const IN_PROGRAM: f64 = 1.5;

/// Measuring a poll of an async body takes as long as measuring so many calls.
const POLL: u64 = 10;

/// How long the cost must have been that low, and how long a function stays off at least. The second time doubles each time
/// that the function is switched off.
const QUIET: Duration = Duration::from_secs(2);
const OFF_AT_LEAST: Duration = Duration::from_secs(5);

/// A function that was muted.
#[derive(Clone, Copy, Debug)]
struct Off {
    of: Learned,
    since: Instant,
    /// Whether it is so from the program's start.
    is_learned: bool,
}

/// What measuring a call costs in the program, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CallCost {
    /// A call that is timed.
    pub(crate) timed: f64,
    /// One that is only counted.
    pub(crate) counted: f64,
}

/// What a function did up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Done {
    /// Its calls; a poll counts as several.
    calls: u64,
    /// Those of them whose time is known.
    timed: u64,
    /// The ticks of these, with all calls inside.
    ticks: u64,
}

/// The state between looks.
#[derive(Debug)]
pub(crate) struct Governor {
    budget: f64,
    began: Instant,
    next: Instant,
    pause: Duration,
    /// The mode of the last look, and what a call costs in it; `None` before the first one.
    mode: Option<(Switch, CallCost)>,
    /// By function: what it had done at the last look.
    seen: Vec<Done>,
    cpu_ns: u64,
    off: Vec<Off>,
    /// By function: how often it was muted.
    times_off: Vec<u8>,
    /// Since when the cost is low.
    low_since: Option<Instant>,
}

/// A function's calls since the last look.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Busy {
    number: u32,
    mean_ns: f64,
    /// What measuring them took, in nanoseconds.
    cost_ns: f64,
    /// The same of a call.
    call_ns: f64,
}

impl Governor {
    /// Returns a governor if there are functions and a budget for them.
    pub(crate) fn new() -> Option<Self> {
        let budget = function_choice::budget()?;
        let sites = function_sites::all();
        if sites.is_empty() {
            return None;
        }
        let mut governor = Self {
            budget,
            began: Instant::now(),
            next: Instant::now() + FIRST,
            pause: FIRST,
            mode: None,
            seen: vec![Done::default(); sites.len()],
            cpu_ns: os::process_cpu_ns(),
            off: Vec::new(),
            times_off: vec![0; sites.len()],
            low_since: None,
        };
        let since = Instant::now();
        for &of in learned::recalled() {
            let site = sites.get(of.number as usize);
            if site.is_some_and(Site::is_muted) {
                governor.times_off[of.number as usize] = of.times;
                governor.off.push(Off {
                    of,
                    since,
                    is_learned: true,
                });
            }
        }
        governor.tell(0.0, 0.0);
        Some(governor)
    }

    /// Returns how long until there is work: the next look, or ends of functions to switch off.
    pub(crate) fn rest(&self) -> Duration {
        let look = self.next.saturating_duration_since(Instant::now());
        function_sites::ends_wait().map_or(look, |ends| ends.min(look))
    }

    /// Looks if it is time. Returns whether sleds are to be switched. `call_ns` measures what a call costs after a switch, and
    /// whether it skips the clock where the mode lets it; 0 if that cannot be told.
    pub(crate) fn round(&mut self, call_ns: fn(Switch, bool) -> f64) -> bool {
        let ends_are_due = function_sites::ends_wait().is_some_and(|wait| wait.is_zero());
        if Instant::now() < self.next {
            return ends_are_due;
        }
        let began = os::own_cpu_ns();
        let changed = self.look(call_ns);
        let cost = Duration::from_nanos(os::own_cpu_ns().saturating_sub(began));
        self.pause = (self.pause * 2).min(LONGEST);
        if self.began.elapsed() > BEGINNING {
            self.pause = self.pause.max(cost * LOOK_SHARE);
        }
        self.next = Instant::now() + self.pause;
        changed || ends_are_due
    }

    fn look(&mut self, call_ns: fn(Switch, bool) -> f64) -> bool {
        let switch = mode_switch::newest();
        if !switch.mode.traits().is_counting {
            return false;
        }
        let cpu_ns = os::process_cpu_ns();
        let spent = cpu_ns.saturating_sub(self.cpu_ns);
        if spent < LEAST_CPU_NS {
            return false;
        }
        let Some(cost) = self.call_cost(switch, call_ns) else {
            return false;
        };
        self.cpu_ns = cpu_ns;
        let busy = self.busy(switch.mode, cost);
        let spent = spent as f64;
        let share = busy.iter().map(|busy| busy.cost_ns).sum::<f64>() / spent;
        let (off, on) = if share > self.budget {
            self.low_since = None;
            (switch_off(busy, self.budget * AIM, spent), Vec::new())
        } else {
            (Vec::new(), self.bring_back(share))
        };
        let since = Instant::now();
        for (busy, cost_share) in &off {
            let times = &mut self.times_off[busy.number as usize];
            *times = times.saturating_add(1);
            self.off.push(Off {
                of: Learned {
                    number: busy.number,
                    mean_ns: busy.mean_ns,
                    call_ns: busy.call_ns,
                    cost_share: *cost_share,
                    times: *times,
                },
                since,
                is_learned: false,
            });
            mute(busy.number, true);
        }
        self.off.retain(|off| !on.contains(&off.of.number));
        on.iter().for_each(|number| mute(*number, false));
        let left = share - off.iter().map(|(_, cost)| cost).sum::<f64>();
        self.tell(left, cost.counted);
        let changed = !off.is_empty() || !on.is_empty();
        if changed {
            learned::keep(self.budget, switch.mode, self.off.iter().map(|off| off.of));
        }
        changed
    }

    /// Returns what a call costs in the mode in force; `None` if that cannot be told, or another mode is in force since the last
    /// look: what was done until then says nothing of this one.
    fn call_cost(&mut self, switch: Switch, call_ns: fn(Switch, bool) -> f64) -> Option<CallCost> {
        let known = self.mode.filter(|(of, _)| of.mode == switch.mode);
        if let Some((_, cost)) = known {
            return Some(cost);
        }
        let counted = IN_PROGRAM * call_ns(switch, true);
        let timed = match switch.mode.times_some_calls() {
            true => {
                let exact = Switch {
                    mode: Mode::Exact,
                    ..switch
                };
                IN_PROGRAM * (call_ns(switch, false) + call_ns(exact, true))
            }
            false => counted,
        };
        if counted <= 0.0 || timed <= 0.0 {
            return None;
        }
        let cost = CallCost { timed, counted };
        let before = self.mode.replace((switch, cost));
        let Some((_, before)) = before else {
            return Some(cost);
        };
        // Those that are off would cost this mode less, or more.
        for off in &mut self.off {
            off.of.cost_share *= counted / before.counted;
            off.of.call_ns *= counted / before.counted;
        }
        self.cpu_ns = os::process_cpu_ns();
        self.low_since = None;
        self.busy(switch.mode, cost);
        None
    }

    /// Returns what each function that is on did since the last look.
    fn busy(&mut self, mode: Mode, cost: CallCost) -> Vec<Busy> {
        let mut sums = vec![Done::default(); self.seen.len()];
        let mut inclusive = Vec::new();
        {
            // A thread that ends meanwhile keeps its tree until the lock is free.
            let state = collector_state::lock();
            for block in registry::living() {
                let sampled = state.as_ref().map_or(&[][..], |state| state.sampled_ticks(block));
                add_tree(block, mode, sampled, &mut inclusive, &mut sums);
            }
        }
        let ns_per_tick = 1e9 / config::ticks_per_second();
        let numbered = (0..).zip(sums.iter().zip(&self.seen));
        let busy =
            numbered.filter_map(|(number, (now, before))| busy_since(number, now, before, cost, ns_per_tick));
        let busy = busy.collect();
        self.seen = sums;
        busy
    }

    /// Returns the functions that come back, if the cost is `share` now.
    fn bring_back(&mut self, share: f64) -> Vec<u32> {
        if share > self.budget * COMFORT {
            self.low_since = None;
            return Vec::new();
        }
        let since = *self.low_since.get_or_insert_with(Instant::now);
        if since.elapsed() < QUIET || self.off.is_empty() {
            return Vec::new();
        }
        self.low_since = None;
        let mut left = self.budget * COMFORT - share;
        let mut candidates: Vec<&Off> = self.off.iter().collect();
        candidates.sort_by(|a, b| b.of.mean_ns.total_cmp(&a.of.mean_ns));
        let mut on = Vec::new();
        for off in candidates {
            let times = self.times_off[off.of.number as usize].clamp(1, 8);
            if off.of.cost_share < left && off.since.elapsed() >= OFF_AT_LEAST * (1 << (times - 1)) {
                left -= off.of.cost_share;
                on.push(off.of.number);
            }
        }
        on
    }

    /// Tells snapshots what was done and why.
    fn tell(&self, cost_share: f64, call_ns: f64) {
        let Some(mut state) = collector_state::lock() else {
            return;
        };
        let told = &mut state.session.functions;
        told.budget = self.budget;
        told.cost_share = cost_share;
        told.call_ns = call_ns;
        let muted = self.off.iter().filter_map(|&Off { of, is_learned, .. }| {
            let muted = Muted {
                site: SiteId::default(),
                reason: MuteReason::Budget { learned: is_learned },
                mean_ns: of.mean_ns,
                call_ns: of.call_ns,
                cost_share: of.cost_share,
            };
            Some((function_sites::get(of.number)?, muted))
        });
        state.mutes.set_over_budget(muted);
    }
}

/// Returns what a function did between two looks, if it was called.
fn busy_since(number: u32, now: &Done, before: &Done, cost: CallCost, ns_per_tick: f64) -> Option<Busy> {
    // The calls of threads that ended are no longer among them.
    let calls = now.calls.checked_sub(before.calls).filter(|calls| *calls > 0)?;
    let new = now.timed.saturating_sub(before.timed);
    // Where no call was timed since, those before say how long one takes. What no sample has ever found takes next to nothing.
    let (timed, ticks) = match new {
        0 => (now.timed, now.ticks),
        timed => (timed, now.ticks.saturating_sub(before.ticks)),
    };
    let cost_ns = new.min(calls) as f64 * cost.timed + calls.saturating_sub(new) as f64 * cost.counted;
    Some(Busy {
        number,
        mean_ns: ticks as f64 * ns_per_tick / timed.max(1) as f64,
        cost_ns,
        call_ns: cost_ns / calls as f64,
    })
}

/// Adds what a thread's functions did to the sums. `sampled` has the ticks that samples gave each node, and `inclusive` is kept
/// for its memory.
fn add_tree(block: &'static Block, mode: Mode, sampled: &[u64], inclusive: &mut Vec<u64>, sums: &mut [Done]) {
    let nodes = &block.tree.nodes;
    let length = nodes.len();
    inclusive.clear();
    inclusive.resize(length as usize, 0);
    // Parents stand before children.
    for index in (1..length).rev() {
        let Some(node) = nodes.get(index) else { continue };
        let own = match mode.is_sampling() {
            true => sampled.get(index as usize).copied().unwrap_or(0),
            false => node.self_ticks.load(Ordering::Relaxed),
        };
        let total = inclusive[index as usize].saturating_add(own);
        if let Some(parent) = node.parent.get() {
            let sum = &mut inclusive[parent.index() as usize];
            *sum = sum.saturating_add(total);
        }
        let number = node.site.get().and_then(function_sites::number_of);
        if let Some(sum) = number.and_then(|number| sums.get_mut(number as usize)) {
            let polls = block.tree.measures.get(index);
            let polls = polls.map_or(0, |of| of.of(Quantity::Polls).load(Ordering::Relaxed));
            let begun = node.calls.load(Ordering::Relaxed);
            let calls = if node.site.get().is_some_and(Site::is_future) {
                polls * POLL
            } else {
                begun
            };
            let (timed, ticks) = match mode.times_some_calls() {
                true => timed_of(node, calls, begun),
                false => (calls, total),
            };
            sum.calls += calls;
            sum.timed += timed;
            sum.ticks = sum.ticks.saturating_add(ticks);
        }
    }
}

/// In adaptive mode: how many of `calls`, of which `begun` are calls and no polls, were timed, and their ticks.
fn timed_of(node: &Node, calls: u64, begun: u64) -> (u64, u64) {
    let Some(latency) = node.latency.get() else {
        return (0, 0);
    };
    let timed = latency.timed.load(Ordering::Relaxed).min(begun);
    let ticks = latency.timed_ticks.load(Ordering::Relaxed);
    let part = timed as f64 / begun.max(1) as f64;
    ((calls as f64 * part) as u64, ticks)
}

/// Returns the functions to mute, with what each costs, so that the rest costs no more than `budget`.
fn switch_off(mut busy: Vec<Busy>, budget: f64, spent_ns: f64) -> Vec<(Busy, f64)> {
    busy.sort_by(|a, b| a.mean_ns.total_cmp(&b.mean_ns));
    let mut share = busy.iter().map(|busy| busy.cost_ns).sum::<f64>() / spent_ns;
    let mut off = Vec::new();
    for busy in busy {
        if share <= budget {
            break;
        }
        let own = busy.cost_ns / spent_ns;
        if own >= HARMLESS && busy.mean_ns <= WORTH * busy.call_ns {
            share -= own;
            off.push((busy, own));
        }
    }
    off
}

fn mute(number: u32, muted: bool) {
    if let Some(site) = function_sites::get(number)
        && site.set_muted(muted)
    {
        site_table::update_if_met(site);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls and their mean time, where measuring a call takes 30 ns.
    fn busy(all: &[(f64, f64)]) -> Vec<Busy> {
        let numbered = all.iter().zip(0..);
        let busy = numbered.map(|(&(calls, mean_ns), number)| Busy {
            number,
            mean_ns,
            cost_ns: calls * 30.0,
            call_ns: 30.0,
        });
        busy.collect()
    }

    fn numbers(off: &[(Busy, f64)]) -> Vec<u32> {
        off.iter().map(|(busy, _)| busy.number).collect()
    }

    #[test]
    fn the_shortest_are_switched_off_until_the_rest_fits() {
        // Of 100 ms, at 30 ns a call: 30 %, 3 %, 3 %, 0.3 %.
        let all = busy(&[(1e6, 50.0), (1e5, 200.0), (1e5, 900.0), (1e4, 9e6)]);
        assert!(numbers(&switch_off(all.clone(), 0.4, 1e8)).is_empty());
        assert_eq!(numbers(&switch_off(all.clone(), 0.07, 1e8)), [0]);
        assert_eq!(numbers(&switch_off(all.clone(), 0.05, 1e8)), [0, 1]);
        // What lasts long stays, however small the budget is.
        let off = switch_off(all, 0.0, 1e8);
        assert_eq!(numbers(&off), [0, 1, 2]);
        assert!((off[1].1 - 0.03).abs() < 1e-9);
    }

    #[test]
    fn what_costs_nothing_stays_although_it_is_short() {
        let all = busy(&[(10.0, 20.0), (1e6, 50.0)]);
        assert_eq!(numbers(&switch_off(all, 0.05, 1e8)), [1]);
    }

    #[test]
    fn in_adaptive_mode_timed_calls_say_how_long_all_take_and_cost_more() {
        let cost = CallCost {
            timed: 40.0,
            counted: 4.0,
        };
        let done = |calls, timed, ticks| Done { calls, timed, ticks };
        let since = |now, before| busy_since(7, &now, &before, cost, 0.5);
        let found = since(done(11_000, 110, 22_000), done(1_000, 10, 2_000)).unwrap();
        assert_eq!((found.number, found.mean_ns), (7, 100.0));
        assert!((found.cost_ns - (100.0 * 40.0 + 9_900.0 * 4.0)).abs() < 1e-6);
        // None was timed since: those before say it. Nothing was called, or a thread has ended: nothing is said.
        assert_eq!(
            since(done(11_000, 10, 2_000), done(1_000, 10, 2_000))
                .unwrap()
                .mean_ns,
            100.0
        );
        assert_eq!(since(done(5, 5, 9), done(5, 5, 9)), None);
        assert_eq!(since(done(4, 4, 9), done(5, 5, 9)), None);
    }
}
