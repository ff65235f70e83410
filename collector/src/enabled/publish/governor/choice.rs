//! Chooses the functions to switch off, from what they have done and what measuring them has cost.

use crate::enabled::capture::function_sums::Done;
use crate::enabled::record::function_sites;
use crate::enabled::record::site::Site;
use crate::enabled::runtime::learned::Learned;

/// Number of timed calls after which the mean time of a function is reliable.
const SETTLED: u64 = 64;

/// A function stays on if its calls take this many times longer to execute than to measure.
const WORTH: f64 = 100.0;

/// If a function's calls take this many times longer to execute than to measure, the function is switched off only
/// while the cost is above the budget. Other functions are switched off until the cost is well below it. Otherwise,
/// functions with long calls would be switched off and on again for a small part of the cost. A function near this
/// border is off in some runs only, because the measured cost of a call varies. With 28, this was so for a function of
/// pulldown-cmark, and with 40 for one of tokei.
const TELLS_MUCH: f64 = 35.0;

/// A function that costs less than this share of the CPU time stays on.
const HARMLESS: f64 = 0.0005;

/// What it costs the program to measure one call, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CallCost {
    /// A call that is timed.
    pub(super) timed: f64,
    /// A call that is only counted.
    pub(super) counted: f64,
}

/// A function that was called since the last round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Busy {
    number: u32,
    /// Mean duration of its calls, including the functions that they call, in nanoseconds. Time in a recursion is
    /// counted only once.
    mean_ns: f64,
    /// Cost of measuring its calls since the last round, in nanoseconds.
    pub(super) cost_ns: f64,
    /// Cost of measuring one call, in nanoseconds.
    call_ns: f64,
    /// Whether the function may be switched off.
    may_go: bool,
    /// Whether a rule or a watch decides about the function, so that the budget does not include it.
    pub(super) is_decided: bool,
    is_own: bool,
}

impl Busy {
    /// Compares two functions by the order in which they are switched off.
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        let told = |busy: &Self| busy.cost_ns * (busy.call_ns / busy.mean_ns).min(1.0);
        let by_cost = told(other).total_cmp(&told(self));
        self.is_own.cmp(&other.is_own).then(by_cost)
    }
}

/// What each function had done at earlier moments, by function number. A function that is missing had not been called.
#[derive(Debug, Default)]
pub(super) struct Seen {
    by_last_round: Vec<Done>,
    by_begin_of_mode: Vec<Done>,
}

impl Seen {
    /// Begins anew when the session begins, or the mode is switched. Sums of several modes do not make one mean.
    pub(super) fn begin_mode(&mut self, sums: Vec<Done>) {
        self.by_begin_of_mode.clone_from(&sums);
        self.by_last_round = sums;
    }

    /// Returns the functions that were called since the last round.
    pub(super) fn busy(&mut self, sums: Vec<Done>, cost: CallCost, ns_per_tick: f64) -> Vec<Busy> {
        let then = [&self.by_last_round, &self.by_begin_of_mode];
        let busy = (0..).zip(&sums).filter_map(|(number, now)| {
            let [round, mode] = then.map(|of| of.get(number as usize).copied().unwrap_or_default());
            busy_since(number, now, (&round, &mode), cost, ns_per_tick)
        });
        let busy = busy.collect();
        self.by_last_round = sums;
        busy
    }
}

/// Returns what a function has done since the last round, or `None` if it was not called. Its mean is over all calls in this
/// mode. `before` is what it had done by the last round, and when the mode was switched.
fn busy_since(
    number: u32,
    now: &Done,
    before: (&Done, &Done),
    cost: CallCost,
    ns_per_tick: f64,
) -> Option<Busy> {
    let round = now.since(before.0);
    let calls = Some(round.calls).filter(|calls| *calls > 0)?;
    let timed = round.timed.min(calls);
    let now = now.since(before.1);
    let cost_ns = timed as f64 * cost.timed + (calls - timed) as f64 * cost.counted;
    let call_ns = cost_ns / calls as f64;
    let mean_ns = now.ticks as f64 * ns_per_tick / now.calls as f64 * now.once();
    let site = function_sites::get(number);
    let is_future = site.is_some_and(Site::is_future);
    let is_decided = !site.is_none_or(Site::may_go_over_budget);
    // An outermost function stays on because its callees need a caller, unless its calls take longer to measure than to
    // execute.
    let is_needed = is_future || now.is_outermost() && mean_ns > call_ns;
    Some(Busy {
        number,
        mean_ns,
        cost_ns,
        call_ns,
        may_go: now.timed >= SETTLED && mean_ns <= WORTH * call_ns && !is_needed,
        is_decided,
        is_own: function_sites::is_own(number),
    })
}

/// Returns the functions to switch off, and what each of them costs. Functions with long calls ([`TELLS_MUCH`]) are
/// switched off until the remaining cost is at most `most`, and other functions until it is at most `aim`. Both limits
/// are shares of the CPU time.
pub(super) fn switch_off(mut busy: Vec<Busy>, most: f64, aim: f64, spent_ns: f64) -> Vec<Learned> {
    let mut share = busy.iter().map(|busy| busy.cost_ns).sum::<f64>() / spent_ns;
    busy.retain(|busy| busy.may_go && busy.cost_ns >= HARMLESS * spent_ns);
    busy.sort_by(Busy::order);
    let mut off = Vec::new();
    for busy in busy {
        let tells_much = busy.mean_ns >= TELLS_MUCH * busy.call_ns;
        if share <= if tells_much { most } else { aim } {
            continue;
        }
        let cost_share = busy.cost_ns / spent_ns;
        share -= cost_share;
        off.push(Learned {
            number: busy.number,
            mean_ns: busy.mean_ns,
            cost_share,
        });
    }
    off
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a function from each pair of a number of calls and a mean duration in ns. Measuring a call takes 30 ns.
    fn busy(all: &[(f64, f64)]) -> Vec<Busy> {
        let numbered = all.iter().zip(0..);
        let busy = numbered.map(|(&(calls, mean_ns), number)| Busy {
            number,
            mean_ns,
            cost_ns: calls * 30.0,
            call_ns: 30.0,
            may_go: true,
            is_decided: false,
            is_own: true,
        });
        busy.collect()
    }

    fn numbers(off: &[Learned]) -> Vec<u32> {
        off.iter().map(|of| of.number).collect()
    }

    #[test]
    fn what_costs_most_for_what_it_tells_goes_until_the_rest_fits() {
        // Costs of the functions at 30 ns a call, as shares of 100 ms: 3 %, 30 %, 3 %, 0.3 %.
        let all = busy(&[(1e5, 200.0), (1e6, 50.0), (1e5, 90.0), (1e4, 20.0)]);
        let off = |limit| switch_off(all.clone(), limit, limit, 1e8);
        assert!(numbers(&off(0.4)).is_empty());
        assert_eq!(numbers(&off(0.07)), [1]);
        assert_eq!(numbers(&off(0.05)), [1, 2]);
        assert_eq!(numbers(&off(0.0)), [1, 2, 0, 3]);
        assert!((off(0.0)[1].cost_share - 0.03).abs() < 1e-9);
    }

    #[test]
    fn what_tells_much_stays_once_the_cost_is_within_the_budget() {
        // Costs of the functions: 30 %, 3 % and 0.3 %. A call of the second function takes 35 times as long to execute as
        // to measure.
        let mut all = busy(&[(1e6, 50.0), (1e5, 1050.0), (1e4, 50.0)]);
        assert_eq!(numbers(&switch_off(all.clone(), 0.05, 0.025, 1e8)), [0, 2]);
        assert_eq!(numbers(&switch_off(all.clone(), 0.029, 0.025, 1e8)), [0, 2, 1]);
        // Calls that are a little shorter tell less.
        all[1].mean_ns = 1040.0;
        assert_eq!(numbers(&switch_off(all, 0.05, 0.025, 1e8)), [0, 2, 1]);
    }

    #[test]
    fn dependencies_go_first_and_what_is_needed_or_costs_nothing_stays() {
        let mut all = busy(&[(1e6, 50.0), (1e4, 50.0), (1e6, 50.0), (10.0, 20.0)]);
        all[1].is_own = false;
        all[2].may_go = false;
        assert_eq!(numbers(&switch_off(all, 0.0, 0.0, 1e8)), [1, 0]);
    }

    #[test]
    fn functions_that_are_first_called_later_are_seen() {
        let cost = CallCost {
            timed: 40.0,
            counted: 4.0,
        };
        let done = |calls| Done {
            calls,
            timed: calls,
            ticks: calls * 100,
            ..Done::default()
        };
        let mut seen = Seen::default();
        // Before the first call there are no sums.
        seen.begin_mode(Vec::new());
        let mut costs = |sums| {
            let busy = seen.busy(sums, cost, 1.0);
            busy.iter()
                .map(|busy| (busy.number, busy.cost_ns))
                .collect::<Vec<_>>()
        };
        assert_eq!(costs(Vec::new()), []);
        assert_eq!(costs(vec![done(0), done(1_000)]), [(1, 40_000.0)]);
        assert_eq!(costs(vec![done(10), done(1_000)]), [(0, 400.0)]);
    }

    #[test]
    fn a_function_goes_by_the_mean_of_many_calls_and_never_if_nothing_is_around_it() {
        let cost = CallCost {
            timed: 40.0,
            counted: 4.0,
        };
        let since = |now: Done, before: Done| busy_since(900, &now, (&before, &Done::default()), cost, 0.5);
        let done = |calls, timed, ticks| Done {
            calls,
            timed,
            ticks,
            ..Done::default()
        };
        let found = since(done(11_000, 110, 2_200_000), done(1_000, 10, 200_000)).unwrap();
        assert_eq!((found.number, found.mean_ns, found.may_go), (900, 100.0, true));
        assert!((found.cost_ns - (100.0 * 40.0 + 9_900.0 * 4.0)).abs() < 1e-6);
        // Both functions stay on. Too few calls of the first function were timed, and the calls of the other one take much
        // longer to execute than to measure.
        assert!(!since(done(11_000, 60, 2_200_000), done(0, 0, 0)).unwrap().may_go);
        assert!(!since(done(100, 100, 1_000_000), done(0, 0, 0)).unwrap().may_go);
        // Time in a recursion is counted only once.
        let recursion = Done {
            charged: 1_000,
            charged_once: 250,
            ..done(11_000, 110, 2_200_000)
        };
        assert_eq!(since(recursion, done(1_000, 10, 200_000)).unwrap().mean_ns, 25.0);
        // Only the calls since the last switch of modes make the mean.
        let in_other_mode = done(10_000, 10_000, 9_000_000);
        let both = done(11_000, 11_000, 9_200_000);
        let found = busy_since(900, &both, (&in_other_mode, &in_other_mode), cost, 0.5).unwrap();
        assert_eq!((found.mean_ns, found.may_go), (100.0, true));
        // The function was not called.
        assert_eq!(since(done(5, 5, 9), done(5, 5, 9)), None);
        let outermost = |ticks, charged_outermost| Done {
            charged: ticks,
            charged_once: ticks,
            charged_outermost,
            ..done(1_000, 1_000, ticks)
        };
        let may_go = |now| since(now, done(0, 0, 0)).unwrap().may_go;
        assert!(!may_go(outermost(200_000, 100_000)) && may_go(outermost(200_000, 100)));
        // An outermost function may be switched off if its calls take longer to measure than to execute.
        assert!(may_go(outermost(20_000, 20_000)));
    }
}
