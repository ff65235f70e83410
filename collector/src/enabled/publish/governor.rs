//! Keeps the cost of measuring functions within a budget, which is a share of the program's CPU time. If the cost is
//! too high, functions that are expensive to measure and take little time themselves are switched off until the
//! remaining cost fits the budget. The time of such a function is then counted as its callers' time, and samples
//! estimate how much of it was the function's. The governor works in every mode that counts calls, based on what a call
//! costs in that mode. It takes the mean duration of a function from timed calls, or from samples in modes that time no
//! calls.
//!
//! Functions in dependencies are switched off before functions in the workspace's packages. Within each of these
//! groups, functions whose cost is high compared with their measured time are switched off first. This way, only a few
//! functions are switched off, and they are the same ones in each run. The governor makes decisions only for periods
//! with enough CPU time, and only about functions with enough timed calls. Three kinds of functions are never switched
//! off: polls of async functions, functions whose calls take much longer to execute than to measure, and outermost
//! functions, unless their calls take longer to measure than to execute.
//!
//! The governor runs often at first and less often later. When the cost has been far below the budget for some time,
//! functions are switched on again. Each time that a function is switched off, it stays off longer. Functions that an
//! earlier run switched off are off from the start. They are tried once, as soon as the budget allows a short trial. So
//! each run makes its own decisions, but begins with a choice that is probably right.

mod choice;

use std::time::{Duration, Instant};

use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::{Mode, OverBudget};

use crate::enabled::capture::capture_lock;
use crate::enabled::capture::function_sums::Done;
use crate::enabled::capture::functions::Told;
use crate::enabled::platform::os;
use crate::enabled::publish::governor::choice::{Busy, CallCost, Seen, switch_off};
use crate::enabled::publish::overhead::function_call_ns;
use crate::enabled::record::function_sites;
use crate::enabled::record::mode_switch::{self, Switch};
use crate::enabled::record::site_table;
use crate::enabled::runtime::config;
use crate::enabled::runtime::function_choice;
use crate::enabled::runtime::learned::{self, Learned};

/// Time until the governor's first round. Later rounds come whenever the program's age has grown by 1/[`OFTEN`], but no
/// later than [`LONGEST`] after the previous round. Rounds are frequent at first, because a function that is called for
/// the first time is measured at full cost until the next round.
const FIRST: Duration = Duration::from_millis(2);
const OFTEN: u32 = 8;
const LONGEST: Duration = Duration::from_millis(200);

/// Rounds may use 1/`LOOK_SHARE` of a core. During [`BEGINNING`] they may use more, because a short run would otherwise
/// end before the next round.
const LOOK_SHARE: u32 = 200;
const BEGINNING: Duration = Duration::from_millis(250);

/// A round makes decisions only if the program has used at least this much CPU time since the last round, in ns.
const LEAST_CPU_NS: u64 = 10_000_000;

/// CPU time that the program is expected to use during a trial, in ns.
const TRIAL_NS: f64 = 2.0 * LEAST_CPU_NS as f64;

/// Once the cost is above the budget, functions are switched off until the cost is below this fraction of the budget.
/// This may take several rounds, because a round decides only about functions with enough timed calls. The aim makes
/// further switching rare, and leaves room for costs that a round cannot measure: the session itself, and cache misses
/// caused by the tree.
const AIM: f64 = 0.5;

/// How long the start of a program lasts, in ns of CPU time. A program often calls other functions at its start than
/// later. So during this time the cost may be `EARLY` times the budget, to avoid switching functions off unnecessarily.
const EARLY_NS: f64 = 100_000_000.0;
const EARLY: f64 = 2.0;

/// Functions are switched on again as long as the total cost, including theirs, is below this fraction of the budget.
const COMFORT: f64 = 0.4;

/// `QUIET` is how long the cost must have been below [`COMFORT`] before functions are switched on again. `OFF_AT_LEAST`
/// is the minimum time that a function stays off. It doubles each time the function is switched off. The load of a
/// program varies, so with 5 s, runs of 10 s ended with different functions off.
const QUIET: Duration = Duration::from_secs(2);
const OFF_AT_LEAST: Duration = Duration::from_secs(30);

/// A function that was switched off.
#[derive(Clone, Copy, Debug)]
struct Off {
    of: Learned,
    since: Instant,
    /// Whether the function has been off since the program's start and has not been tried yet.
    is_learned: bool,
}

/// The state between rounds.
pub(crate) struct Governor {
    budget: f64,
    began: Instant,
    next: Instant,
    /// The mode of the last round, and what measuring a call costs in that mode; `None` before the first round.
    mode: Option<(Switch, CallCost)>,
    seen: Seen,
    cpu_ns: u64,
    /// CPU time of all periods that rounds have judged, and how much of it was spent on measuring, in nanoseconds.
    judged_ns: f64,
    cost_ns: f64,
    /// Whether the last round has switched functions off.
    is_cutting: bool,
    /// Whether functions that an earlier run has switched off are being tried.
    is_trial: bool,
    off: Vec<Off>,
    /// How many times each function has been switched off.
    times_off: Vec<u8>,
    /// Time of the first round that found the cost below [`COMFORT`], if all rounds since then have found the same.
    low_since: Option<Instant>,
}

impl Governor {
    /// Returns a governor if the program has compiler-instrumented functions and a budget for measuring them.
    pub(crate) fn new() -> Option<Self> {
        let budget = function_choice::budget()?;
        let known = function_sites::all().len();
        if known == 0 {
            return None;
        }
        let mut seen = Seen::default();
        seen.begin_mode(sums(mode_switch::newest().mode).unwrap_or_default());
        let mut governor = Self {
            budget,
            began: Instant::now(),
            next: Instant::now() + FIRST,
            mode: None,
            seen,
            cpu_ns: os::process_cpu_ns(),
            judged_ns: 0.0,
            cost_ns: 0.0,
            is_cutting: false,
            is_trial: false,
            off: Vec::new(),
            times_off: vec![0; known],
            low_since: None,
        };
        let since = Instant::now();
        let (learned, is_first) = learned::known();
        let sites = (0..).zip(function_sites::all());
        for (number, _) in sites.filter(|(_, site)| site.is_over_budget()) {
            let of = learned.iter().find(|of| of.number == number);
            governor.off.extend(of.map(|&of| Off {
                of,
                since,
                is_learned: is_first,
            }));
        }
        governor.tell(0.0, 0.0);
        Some(governor)
    }

    /// Returns the time until the next round.
    pub(crate) fn rest(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Runs a round if one is due. Returns whether the sleds have to be switched.
    pub(crate) fn round(&mut self) -> bool {
        if Instant::now() < self.next {
            return false;
        }
        let began = os::own_cpu_ns();
        let changed = self.look();
        let cost = Duration::from_nanos(os::own_cpu_ns().saturating_sub(began));
        let age = self.began.elapsed();
        let mut pause = (age / OFTEN).clamp(FIRST, LONGEST);
        if self.is_trial {
            pause = FIRST;
        } else if age > BEGINNING {
            pause = pause.max(cost * LOOK_SHARE);
        }
        self.next = Instant::now() + pause;
        changed
    }

    fn look(&mut self) -> bool {
        let switch = mode_switch::newest();
        if !switch.mode.traits().is_counting {
            return false;
        }
        let cpu_ns = os::process_cpu_ns();
        let spent = cpu_ns.saturating_sub(self.cpu_ns);
        if spent < LEAST_CPU_NS {
            return false;
        }
        let Some(cost) = self.call_cost(switch) else {
            return false;
        };
        let Some(sums) = sums(switch.mode) else {
            return false;
        };
        self.cpu_ns = cpu_ns;
        let ns_per_tick = 1e9 / config::ticks_per_second();
        let busy = self.seen.busy(sums, cost, ns_per_tick).into_iter();
        let (decided, busy): (Vec<Busy>, Vec<Busy>) = busy.partition(|busy| busy.is_decided);
        let spent = spent as f64;
        let cost_of = |busy: &[Busy]| busy.iter().map(|busy| busy.cost_ns).sum::<f64>();
        let (cost_ns, decided_share) = (cost_of(&busy), cost_of(&decided) / spent);
        self.judged_ns += spent;
        self.cost_ns += cost_ns;
        let share = cost_ns / spent;
        let was_trial = std::mem::take(&mut self.is_trial);
        let (most, aim) = match self.judged_ns < EARLY_NS {
            true => (self.budget * EARLY, self.budget * EARLY),
            false => (self.budget, self.budget * AIM),
        };
        let limit = if self.is_cutting { aim } else { most };
        let (off, on) = if share > limit {
            self.low_since = None;
            (switch_off(busy, most, aim, spent), Vec::new())
        } else {
            let tried = self.to_try();
            self.is_trial = !tried.is_empty();
            let on = if self.is_trial {
                tried
            } else {
                self.bring_back(share)
            };
            (Vec::new(), on)
        };
        let since = Instant::now();
        let off: Vec<Learned> = off.into_iter().filter(|of| set_off(of.number, true)).collect();
        self.is_cutting = !off.is_empty();
        for &of in &off {
            let times = &mut self.times_off[of.number as usize];
            *times = times.saturating_add(1);
            self.off.push(Off {
                of,
                since,
                is_learned: false,
            });
        }
        self.off.retain(|off| !on.contains(&off.of.number));
        for &number in &on {
            set_off(number, false);
        }
        let left = share - off.iter().map(|of| of.cost_share).sum::<f64>();
        self.tell(left + decided_share, cost.counted);
        let changed = !off.is_empty() || !on.is_empty();
        // Functions on trial have not been judged yet. A run that ends during a trial leaves the stored choice as it
        // is.
        if (changed || was_trial) && !self.is_trial {
            learned::keep(
                self.budget,
                switch.mode,
                self.off.iter().map(|off| off.of).collect(),
            );
        }
        changed
    }

    /// Returns the cost of a call in the current mode. Returns `None` if the cost is unknown. Also returns `None` if
    /// the mode has changed since the last round, because earlier calls say nothing about the new mode.
    fn call_cost(&mut self, switch: Switch) -> Option<CallCost> {
        let known = self.mode.filter(|(of, _)| of.mode == switch.mode);
        if let Some((_, cost)) = known {
            return Some(cost);
        }
        let counted = function_call_ns(switch, true);
        let timed = match switch.mode.times_some_calls() {
            true => {
                let exact = Switch {
                    mode: Mode::Exact,
                    ..switch
                };
                function_call_ns(switch, false) + function_call_ns(exact, true)
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
        // The cost of a call depends on the mode, so the cost shares of the functions that are off are scaled to the
        // new mode.
        for off in &mut self.off {
            off.of.cost_share *= counted / before.counted;
        }
        self.cpu_ns = os::process_cpu_ns();
        self.low_since = None;
        self.is_cutting = false;
        if let Some(sums) = sums(switch.mode) {
            self.seen.begin_mode(sums);
        }
        None
    }

    /// Returns which of the functions that have been off since the start should be tried. Their trial must cost no more
    /// than the rest of the budget for all CPU time so far. A trial is short, and functions that turn out to be too
    /// expensive are switched off again afterwards.
    fn to_try(&self) -> Vec<u32> {
        let mut room = self.budget * self.judged_ns - self.cost_ns;
        let mut learned: Vec<&Off> = self.off.iter().filter(|off| off.is_learned).collect();
        learned.sort_by(|a, b| a.of.cost_share.total_cmp(&b.of.cost_share));
        let affordable = learned.iter().take_while(|off| {
            room -= off.of.cost_share * TRIAL_NS;
            room >= 0.0
        });
        affordable.map(|off| off.of.number).collect()
    }

    /// Returns the functions to switch on again, if the cost is now `share` of the CPU time.
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
        let is_other = |off: &Off| !function_sites::is_own(off.of.number);
        candidates.sort_by(|a, b| {
            is_other(a)
                .cmp(&is_other(b))
                .then(b.of.mean_ns.total_cmp(&a.of.mean_ns))
        });
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

    /// Lets snapshots show which functions are off, and why.
    fn tell(&self, cost_share: f64, call_ns: f64) {
        let over_budget = self.off.iter().filter_map(|&Off { of, is_learned, .. }| {
            let over = OverBudget {
                site: SiteId::default(),
                mean_ns: of.mean_ns,
                cost_share: of.cost_share,
                learned: is_learned,
            };
            Some((function_sites::get(of.number)?, over))
        });
        let told = Told {
            budget: self.budget,
            cost_share,
            call_ns,
            over_budget: over_budget.collect(),
        };
        capture_lock::with(|state| state.session.functions = told);
    }
}

/// Returns what each function has done so far; `None` if the state cannot be locked.
fn sums(mode: Mode) -> Option<Vec<Done>> {
    capture_lock::with(|state| state.function_sums(mode).by_number)
}

/// Switches a function off or on. Returns false if a rule or a watch keeps it as it is.
fn set_off(number: u32, off: bool) -> bool {
    let site = function_sites::get(number).filter(|site| site.set_over_budget(off));
    site.into_iter().for_each(site_table::update_if_met);
    site.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_come_back_after_a_time_that_doubles_if_they_cost_little() {
        function_sites::set_for_tests();
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
        let off = |number, seconds, cost_share| Off {
            of: Learned {
                number,
                mean_ns: 100.0,
                cost_share,
            },
            since: ago(seconds),
            is_learned: false,
        };
        let mut governor = Governor {
            budget: 0.05,
            began: ago(99),
            next: ago(0),
            mode: None,
            seen: Seen::default(),
            cpu_ns: 0,
            judged_ns: 0.0,
            cost_ns: 0.0,
            is_cutting: false,
            is_trial: false,
            off: vec![
                off(0, 25, 0.001),
                off(1, 35, 0.001),
                off(2, 35, 0.03),
                off(3, 35, 0.001),
            ],
            times_off: vec![1, 1, 1, 2],
            low_since: None,
        };
        assert!(
            governor.bring_back(0.001).is_empty(),
            "the cost was not low until now"
        );
        governor.low_since = Some(ago(3));
        assert_eq!(governor.bring_back(0.001), [1]);
        governor.low_since = Some(ago(3));
        assert!(governor.bring_back(0.03).is_empty());
        assert_eq!(governor.low_since, None);
    }
}
