//! Keeps what measuring functions costs within its budget, a share of the program's CPU time: functions whose calls are
//! shortest are switched off until the rest fits. Their time becomes that of their callers, which stay.
//!
//! It looks often in the beginning and rarely later. The mean time of a call decides, and not the number of calls: a tree
//! without its shortest functions still says which part of the program takes the time. A function that lasts much longer
//! than measuring it is never switched off. When the cost has been far below the budget for some time, the longest of those
//! that are off come back, each after a longer time than before.

use std::time::{Duration, Instant};

use tickscope_format::snapshot::{OverBudget, Quantity};

use crate::enabled::capture::collector_state;
use crate::enabled::platform::os;
use crate::enabled::platform::sync::Ordering;
use crate::enabled::record::function_sites;
use crate::enabled::record::mode_switch;
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

/// A function that was switched off. Its site stands as the number of the function.
#[derive(Clone, Copy, Debug)]
struct Off {
    of: OverBudget,
    since: Instant,
}

/// The state between looks.
#[derive(Debug)]
pub(crate) struct Governor {
    budget: f64,
    began: Instant,
    next: Instant,
    pause: Duration,
    /// By function: calls and ticks with all calls inside, at the last look.
    seen: Vec<(u64, u64)>,
    cpu_ns: u64,
    /// What measuring a call costs in the program; 0 before it is known.
    call_ns: f64,
    off: Vec<Off>,
    /// By function: how often it was switched off.
    times_off: Vec<u8>,
    /// Since when the cost is low.
    low_since: Option<Instant>,
}

/// A function's calls since the last look.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Busy {
    number: u32,
    calls: f64,
    mean_ns: f64,
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
            seen: vec![(0, 0); sites.len()],
            cpu_ns: os::process_cpu_ns(),
            call_ns: 0.0,
            off: Vec::new(),
            times_off: vec![0; sites.len()],
            low_since: None,
        };
        let since = Instant::now();
        for &Learned { of, times } in learned::recalled() {
            let site = sites.get(of.site as usize);
            if site.is_some_and(Site::is_over_budget) {
                governor.times_off[of.site as usize] = times;
                governor.off.push(Off { of, since });
            }
        }
        governor.tell(0.0);
        Some(governor)
    }

    /// Returns how long until there is work: the next look, or ends of functions to switch off.
    pub(crate) fn rest(&self) -> Duration {
        let look = self.next.saturating_duration_since(Instant::now());
        function_sites::ends_wait().map_or(look, |ends| ends.min(look))
    }

    /// Looks if it is time. Returns whether sleds are to be switched. `call_ns` measures what a call costs.
    pub(crate) fn round(&mut self, call_ns: fn() -> f64) -> bool {
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

    fn look(&mut self, call_ns: fn() -> f64) -> bool {
        // In other modes a call costs less, and most have no times.
        if mode_switch::newest().mode != tickscope_format::snapshot::Mode::Exact {
            return false;
        }
        let cpu_ns = os::process_cpu_ns();
        let spent = cpu_ns.saturating_sub(self.cpu_ns);
        if spent < LEAST_CPU_NS {
            return false;
        }
        self.cpu_ns = cpu_ns;
        if self.call_ns == 0.0 {
            self.call_ns = IN_PROGRAM * call_ns();
        }
        let busy = self.busy();
        let cost = |busy: &Busy| busy.calls * self.call_ns / spent as f64;
        let share: f64 = busy.iter().map(cost).sum();
        let (off, on) = if share > self.budget {
            self.low_since = None;
            (
                switch_off(busy, self.budget * AIM, self.call_ns, spent as f64),
                Vec::new(),
            )
        } else {
            (Vec::new(), self.bring_back(share))
        };
        let now = Instant::now();
        for (busy, cost_share) in &off {
            let times = &mut self.times_off[busy.number as usize];
            *times = times.saturating_add(1);
            self.off.push(Off {
                of: OverBudget {
                    site: busy.number,
                    mean_ns: busy.mean_ns,
                    cost_share: *cost_share,
                    learned: false,
                },
                since: now,
            });
            switch(busy.number, true);
        }
        self.off.retain(|off| !on.contains(&off.of.site));
        on.iter().for_each(|number| switch(*number, false));
        let left = share - off.iter().map(|(_, cost)| cost).sum::<f64>();
        self.tell(left);
        let changed = !off.is_empty() || !on.is_empty();
        if changed {
            self.keep();
        }
        changed
    }

    /// Keeps what was learned for the next run.
    fn keep(&self) {
        let learned = self.off.iter().map(|&Off { of, .. }| Learned {
            of,
            times: self.times_off[of.site as usize],
        });
        learned::keep(self.budget, learned);
    }

    /// Returns what each function that is on did since the last look.
    fn busy(&mut self) -> Vec<Busy> {
        let mut sums = vec![(0, 0); self.seen.len()];
        let mut inclusive = Vec::new();
        {
            // A thread that ends meanwhile keeps its tree until the lock is free.
            let _state = collector_state::lock();
            for block in registry::living() {
                add_tree(block, &mut inclusive, &mut sums);
            }
        }
        let ns_per_tick = 1e9 / config::ticks_per_second();
        let numbered = (0..).zip(sums.iter().zip(&self.seen));
        let busy = numbered.filter_map(|(number, (now, before))| {
            // The calls of threads that ended are no longer among them.
            let calls = now.0.checked_sub(before.0).filter(|calls| *calls > 0)?;
            let ticks = now.1.saturating_sub(before.1);
            Some(Busy {
                number,
                calls: calls as f64,
                mean_ns: ticks as f64 * ns_per_tick / calls as f64,
            })
        });
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
            let times = self.times_off[off.of.site as usize].clamp(1, 8);
            if off.of.cost_share < left && off.since.elapsed() >= OFF_AT_LEAST * (1 << (times - 1)) {
                left -= off.of.cost_share;
                on.push(off.of.site);
            }
        }
        on
    }

    /// Tells snapshots what was done and why.
    fn tell(&self, cost_share: f64) {
        let Some(mut state) = collector_state::lock() else {
            return;
        };
        let told = &mut state.session.functions;
        told.budget = self.budget;
        told.cost_share = cost_share;
        told.call_ns = self.call_ns;
        told.over_budget.clear();
        told.over_budget.extend(self.off.iter().map(|off| off.of));
    }
}

/// Adds what a thread's functions did to the sums. `inclusive` is kept for its memory.
fn add_tree(block: &'static Block, inclusive: &mut Vec<u64>, sums: &mut [(u64, u64)]) {
    let nodes = &block.tree.nodes;
    let length = nodes.len();
    inclusive.clear();
    inclusive.resize(length as usize, 0);
    // Parents stand before children.
    for index in (1..length).rev() {
        let Some(node) = nodes.get(index) else { continue };
        let total = inclusive[index as usize].saturating_add(node.self_ticks.load(Ordering::Relaxed));
        if let Some(parent) = node.parent.get() {
            let sum = &mut inclusive[parent.index() as usize];
            *sum = sum.saturating_add(total);
        }
        let number = node.site.get().and_then(function_sites::number_of);
        if let Some(sum) = number.and_then(|number| sums.get_mut(number as usize)) {
            let polls = block.tree.measures.get(index);
            let polls = polls.map_or(0, |of| of.of(Quantity::Polls).load(Ordering::Relaxed));
            sum.0 += if node.site.get().is_some_and(Site::is_future) {
                polls * POLL
            } else {
                node.calls.load(Ordering::Relaxed)
            };
            sum.1 = sum.1.saturating_add(total);
        }
    }
}

/// Returns the functions to switch off, with what each costs, so that the rest costs no more than `budget`.
fn switch_off(mut busy: Vec<Busy>, budget: f64, call_ns: f64, spent_ns: f64) -> Vec<(Busy, f64)> {
    busy.sort_by(|a, b| a.mean_ns.total_cmp(&b.mean_ns));
    let cost = |busy: &Busy| busy.calls * call_ns / spent_ns;
    let mut share: f64 = busy.iter().map(cost).sum();
    let mut off = Vec::new();
    for busy in busy {
        if share <= budget || busy.mean_ns > WORTH * call_ns {
            break;
        }
        let own = cost(&busy);
        if own >= HARMLESS {
            share -= own;
            off.push((busy, own));
        }
    }
    off
}

fn switch(number: u32, over: bool) {
    if let Some(site) = function_sites::get(number)
        && site.set_over_budget(over)
    {
        site_table::update_if_met(site);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy(all: &[(f64, f64)]) -> Vec<Busy> {
        let numbered = all.iter().zip(0..);
        let busy = numbered.map(|(&(calls, mean_ns), number)| Busy {
            number,
            calls,
            mean_ns,
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
        assert!(numbers(&switch_off(all.clone(), 0.4, 30.0, 1e8)).is_empty());
        assert_eq!(numbers(&switch_off(all.clone(), 0.07, 30.0, 1e8)), [0]);
        assert_eq!(numbers(&switch_off(all.clone(), 0.05, 30.0, 1e8)), [0, 1]);
        // What lasts long stays, however small the budget is.
        let off = switch_off(all, 0.0, 30.0, 1e8);
        assert_eq!(numbers(&off), [0, 1, 2]);
        assert!((off[1].1 - 0.03).abs() < 1e-9);
    }

    #[test]
    fn what_costs_nothing_stays_although_it_is_short() {
        let all = busy(&[(10.0, 20.0), (1e6, 50.0)]);
        assert_eq!(numbers(&switch_off(all, 0.05, 30.0, 1e8)), [1]);
    }
}
