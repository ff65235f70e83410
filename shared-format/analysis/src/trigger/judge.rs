//! Judges whether a condition is true in a window.

use tickscope_format::latency::Histogram;
use tickscope_format::snapshot::Snapshot;

use super::condition::{Comparison, Condition, Metric, Unit};
use crate::call_tree::CallTree;
use crate::functions::FunctionId;
use crate::hotspots::{HotRow, hot};
use crate::measure::Measure;
use crate::tasks::{TaskKind, TaskRow, Tasks};

const NO_LATENCIES: &str = "this program keeps no latencies of single calls; they need mode exact or adaptive, and \
                            TICKSCOPE_HISTOGRAM must not be off";

const NO_TIMES: &str = "this is a counter, a value or a gauge, which has calls but no times";

const NOT_COUNTING: &str = "measuring is off in this program; `tickscope mode exact` switches it on";

/// Result of judging a condition, with the values behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether the condition is true.
    pub is_true: bool,
    /// One finding for each comparison, arranged in the same lists as [`Condition::any_of`].
    pub findings: Vec<Vec<Finding>>,
}

/// Result of one comparison. If several functions match, this is the result for the function that comes closest to
/// making the comparison true, or makes it true by the widest margin.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Full name of the function.
    pub function: String,
    /// Number of calls of the function that began in the window.
    pub calls: u64,
    /// Value in the unit of the comparison, or why it is missing.
    pub value: Result<f64, Absence>,
    /// Whether the comparison is true. It is false if there is no value.
    pub is_true: bool,
}

/// Reason why a value is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// None of the sites in the snapshot belongs to a matching function.
    Unmet,
    /// The function has no calls in the window from which the value could be computed.
    NoCalls,
    /// The program does not measure the value, for this reason.
    NotMeasured(&'static str),
}

impl Verdict {
    /// Returns the comparisons that decided the verdict, with their findings. If the condition is true, these are the comparisons
    /// of the first list that makes it true. Otherwise, they are all comparisons.
    pub fn decisive<'a>(
        &'a self,
        condition: &'a Condition,
    ) -> impl Iterator<Item = (&'a Comparison, &'a Finding)> {
        let holds = |all: &&Vec<Finding>| all.iter().all(|finding| finding.is_true);
        let first = self.findings.iter().position(|all| holds(&all));
        let lists = condition.any_of.iter().zip(&self.findings).enumerate();
        let chosen = lists.filter(move |(index, _)| first.is_none_or(|first| first == *index));
        chosen.flat_map(|(_, (comparisons, findings))| comparisons.iter().zip(findings))
    }
}

impl Condition {
    /// Returns the first comparison whose functions have no site in the snapshot yet.
    pub fn unmet(&self, snapshot: &Snapshot) -> Option<&Comparison> {
        let is_met = |one: &Comparison| snapshot.sites.iter().any(|site| one.function.matches(site));
        self.any_of.iter().flatten().find(|one| !is_met(one))
    }
}

/// Judges a condition in a window, which is a snapshot that contains only the counts of the window.
///
/// For a function that was not called in the window, only the numbers of calls and of calls in flight are available, and other
/// comparisons are false. If a pattern selects several functions, the comparison is true if it is true for any of them.
pub fn judge(condition: &Condition, window: &Snapshot) -> Verdict {
    let table = Table::of(window);
    let find = |all: &Vec<Comparison>| all.iter().map(|one| table.find(one)).collect::<Vec<_>>();
    let findings: Vec<Vec<Finding>> = condition.any_of.iter().map(find).collect();
    let holds = |all: &Vec<Finding>| all.iter().all(|finding| finding.is_true);
    Verdict {
        is_true: findings.iter().any(holds),
        findings,
    }
}

/// Calls and times in the window, by function.
struct Table<'a> {
    window: &'a Snapshot,
    tree: CallTree,
    /// The row of each function; `None` for a function without one.
    rows: Vec<Option<HotRow>>,
}

impl<'a> Table<'a> {
    fn of(window: &'a Snapshot) -> Self {
        let tree = CallTree::build(window, |_| true);
        let mut rows: Vec<Option<HotRow>> = vec![None; tree.functions.list.len()];
        for row in hot(&tree) {
            let index = row.function.index();
            rows[index] = Some(row);
        }
        Self { window, tree, rows }
    }

    /// Returns the finding for the matching function that comes closest to making the comparison true.
    fn find(&self, comparison: &Comparison) -> Finding {
        let functions = &self.tree.functions;
        let mut chosen = vec![false; functions.list.len()];
        for (site, id) in self.window.sites.iter().zip(&functions.of_site) {
            let chosen = &mut chosen[id.index()];
            *chosen = *chosen || comparison.function.matches(site);
        }
        let ids = (0..).map(FunctionId).zip(chosen).filter(|(_, is)| *is);
        ids.map(|(id, _)| self.finding(comparison, id))
            .reduce(|best, other| match is_closer(comparison, &other, &best) {
                true => other,
                false => best,
            })
            .unwrap_or_else(|| Finding {
                function: comparison.function.as_str().to_string(),
                calls: 0,
                value: Err(Absence::Unmet),
                is_true: false,
            })
    }

    fn finding(&self, comparison: &Comparison, id: FunctionId) -> Finding {
        let row = self.rows[id.index()].as_ref();
        let value = match row {
            _ if !self.window.capture.mode.traits().is_counting => Err(Absence::NotMeasured(NOT_COUNTING)),
            Some(row) => self.value(comparison, row),
            // The function has a site but no row, so it was not called.
            None if matches!(comparison.metric, Metric::Calls | Metric::InFlight) => Ok(0.0),
            None => Err(Absence::NoCalls),
        };
        Finding {
            function: self.tree.functions.get(id).full_name(),
            calls: row.map_or(0, |row| row.calls),
            is_true: value.is_ok_and(|value| comparison.sign.holds(value, comparison.threshold)),
            value,
        }
    }

    fn value(&self, comparison: &Comparison, row: &HotRow) -> Result<f64, Absence> {
        let metric = comparison.metric;
        if row.tally.is_some() && metric != Metric::Calls {
            return Err(Absence::NotMeasured(NO_TIMES));
        }
        let ns = |ticks: u64| self.window.nanos(ticks) as f64;
        match metric {
            Metric::Percentile(percent) => {
                let ticks = row.latency.quantile(percent / 100.0);
                ticks.map(ns).ok_or_else(|| self.no_latency())
            }
            Metric::Max => longest(&row.latency).map(ns).ok_or_else(|| self.no_latency()),
            Metric::Avg => match row
                .asynchronous
                .or(row.calls, row.sampled.counted_ns(row.total_ns))
            {
                (0, _) => Err(Absence::NoCalls),
                (calls, total_ns) => Ok(total_ns as f64 / calls as f64),
            },
            Metric::Calls if comparison.unit == Unit::PerSecond => {
                let seconds = self.window.capture.since_reset_ns as f64 / 1e9;
                match seconds > 0.0 {
                    true => Ok(row.calls as f64 / seconds),
                    false => Err(Absence::NoCalls),
                }
            }
            Metric::Calls => Ok(row.calls as f64),
            Metric::Share => part(row.total_ns, self.tree.measured_ns(), row),
            Metric::Waiting => match Measure::Waiting.check(self.window) {
                Err(why) => Err(Absence::NotMeasured(why)),
                Ok(()) => part(row.total_off.waiting_ns, row.total_ns, row),
            },
            Metric::InFlight if row.asynchronous.is_future => Ok(self.futures_in_flight(row.function) as f64),
            Metric::InFlight => Ok(f64::from(row.open)),
        }
    }

    /// Returns why a function has no latencies in this window.
    fn no_latency(&self) -> Absence {
        match self.window.capture.mode.charges_time() && self.keeps_latencies() {
            true => Absence::NoCalls,
            false => Absence::NotMeasured(NO_LATENCIES),
        }
    }

    /// Returns whether the program keeps latencies. If calls have ended but there are no latencies, it does not.
    fn keeps_latencies(&self) -> bool {
        let (polls, calls) = (&self.window.latencies, &self.window.async_latencies);
        let is_some = !polls.row.is_empty() || !calls.row.is_empty();
        // Each open frame of a thread is a call that has no latency yet, because it has not ended.
        let threads = self.window.threads.iter();
        let open = threads.map(|thread| thread.open.len() as u64);
        is_some || self.window.calls() <= open.sum::<u64>()
    }

    fn futures_in_flight(&self, function: FunctionId) -> u64 {
        let tasks = Tasks::of(self.window, &self.tree.functions);
        let is_own = |row: &&TaskRow| row.function == function && row.kind == TaskKind::Future;
        let in_flight = tasks.rows.iter().filter(is_own).map(|row| row.in_flight);
        in_flight.fold(0, u64::saturating_add)
    }
}

/// Returns the duration of the longest call in ticks. If only its bucket is known, returns the middle of the bucket.
fn longest(latency: &Histogram) -> Option<u64> {
    match latency.max()? {
        (ticks, true) => Some(ticks),
        (_, false) => latency.quantile(1.0),
    }
}

/// Returns `part_ns` as a percentage of `whole_ns`. If `whole_ns` or the time of the function is 0, there is no value.
fn part(part_ns: u64, whole_ns: u64, row: &HotRow) -> Result<f64, Absence> {
    if row.total_ns == 0 || whole_ns == 0 {
        return Err(Absence::NoCalls);
    }
    Ok(part_ns as f64 * 100.0 / whole_ns as f64)
}

/// Returns whether the finding `one` is closer to making the comparison true than `other`.
fn is_closer(comparison: &Comparison, one: &Finding, other: &Finding) -> bool {
    match (one.value, other.value) {
        (Ok(one), Ok(other)) if comparison.sign.is_upward() => one > other,
        (Ok(one), Ok(other)) => one < other,
        (Ok(_), Err(_)) => true,
        (Err(_), Ok(_)) => false,
        // For the user, "cannot be measured" is more useful than "no calls".
        (Err(one), Err(other)) => {
            matches!(one, Absence::NotMeasured(_)) && !matches!(other, Absence::NotMeasured(_))
        }
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::ids::SiteId;
    use tickscope_format::snapshot::Mode;
    use tickscope_testkit::fixture;

    use super::*;
    use crate::window::between;

    fn judged(condition: &str, window: &Snapshot) -> Verdict {
        judge(&condition.parse().unwrap(), window)
    }

    fn first(condition: &str, window: &Snapshot) -> Finding {
        judged(condition, window).findings[0][0].clone()
    }

    /// Returns the recursion fixture with `fast` calls of `fib` that take 1 ms each, and `slow` calls that take 60 ms each.
    fn calls(fast: u64, slow: u64) -> Snapshot {
        let mut s = fixture::recursion();
        let ms = (s.clock.ticks_per_second / 1e3) as u64;
        let mut latency = Histogram::default();
        (0..fast).for_each(|_| latency.insert(ms));
        (0..slow).for_each(|_| latency.insert(60 * ms));
        s.nodes.calls[1] = fast + slow;
        s.nodes.self_ticks[1] = (fast + 60 * slow) * ms;
        s.nodes.calls[2..].fill(0);
        s.nodes.self_ticks[2..].fill(0);
        s.nodes.calls[0] = 1;
        s.latencies = Default::default();
        s.latencies.push(1, &latency);
        s.capture.since_reset_ns = (fast + slow) * 1_000_000_000;
        s
    }

    #[test]
    fn percentiles_are_those_of_the_window_and_not_since_the_start() {
        // Before the window there are a thousand fast calls. In the window there are five calls, of which two are slow.
        let (before, after) = (calls(1_000, 0), calls(1_003, 2));
        assert!(!judged("p99(fib) > 50ms", &after).is_true, "since the start");
        let window = between(&after, &before);
        let found = first("p99(fib) > 50ms", &window);
        assert!(found.is_true && found.calls == 5, "{found:?}");
        // A bucket is up to 12.5 % wide, and a percentile is the middle of its bucket.
        assert!((56e6..=64e6).contains(&found.value.unwrap()), "{found:?}");
        assert!(!judged("p50(fib) > 50ms", &window).is_true);
        assert!(judged("max(fib) > 50ms", &window).is_true);
        // This time, the slow calls come before the window.
        let window = between(&calls(1_005, 2), &calls(3, 2));
        assert!(!judged("max(fib) > 50ms", &window).is_true);
        assert!(judged("max(fib) < 2ms", &window).is_true);
    }

    #[test]
    fn counts_rates_means_and_shares() {
        let window = between(&calls(1_008, 2), &calls(1_000, 0));
        let value = |condition| first(condition, &window).value.unwrap();
        assert_eq!(value("calls(fib) > 1"), 10.0);
        // The window is ten seconds long.
        assert_eq!(value("calls(fib) > 1/s"), 1.0);
        assert!((value("avg(fib) > 1ms") - 12.8e6).abs() < 1e3);
        let share = value("share(fib) > 1%");
        assert!((0.0..=100.0).contains(&share) && share > 99.0, "{share}");
        let due = Err(Absence::NotMeasured(Measure::Waiting.check(&window).unwrap_err()));
        assert_eq!(first("waiting(fib) > 1%", &window).value, due);
        let waiting = first("waiting(*) > 1%", &fixture::waiting());
        assert!(waiting.is_true, "{waiting:?}");
    }

    #[test]
    fn a_window_without_calls_is_true_of_nothing_but_few_calls() {
        let window = between(&calls(10, 2), &calls(10, 2));
        for condition in [
            "p99(fib) > 0ns",
            "p99(fib) < 1s",
            "max(fib) < 1s",
            "avg(fib) < 1s",
            "share(fib) < 100%",
            "calls(fib) > 0",
        ] {
            assert!(!judged(condition, &window).is_true, "{condition}");
        }
        for condition in ["calls(fib) < 1", "calls(fib) <= 0", "inflight(fib) < 1"] {
            assert!(judged(condition, &window).is_true, "{condition}");
        }
        // A function that does not exist is reported as unknown; it does not satisfy "called less than once".
        let unmet = first("calls(fob) < 1", &window);
        assert_eq!((unmet.value, unmet.is_true), (Err(Absence::Unmet), false));
        assert_eq!(unmet.function, "fob");
    }

    #[test]
    fn of_several_functions_the_one_that_comes_closest_is_told() {
        let mut s = fixture::two_threads();
        s.capture.since_reset_ns = 1_000_000_000;
        let conditions = s.sites.iter().map(|site| format!("calls({}) > 0", site.path()));
        let all: Vec<f64> = conditions.map(|of| first(&of, &s).value.unwrap()).collect();
        let most = all.iter().copied().fold(0.0, f64::max);
        let least = all.iter().copied().fold(f64::MAX, f64::min);
        assert!(most > least);
        assert_eq!(first("calls(*) > 1000000", &s).value, Ok(most));
        assert_eq!(first("calls(*) < 1000000", &s).value, Ok(least));
    }

    #[test]
    fn calls_in_flight_are_open_threads_or_futures() {
        let mut s = fixture::recursion();
        s.threads[0].open = (0..4).map(|row| fixture::open(row, 1)).collect();
        // Nested recursive calls in one thread count as one call.
        assert_eq!(first("inflight(fib) > 0", &s).value, Ok(1.0));
        let serving = fixture::serving();
        let in_flight = first("inflight(query) > 19", &serving);
        assert_eq!((in_flight.value, in_flight.is_true), (Ok(20.0), true));
    }

    #[test]
    fn what_a_mode_does_not_measure_is_said() {
        let mut s = calls(10, 2);
        s.latencies = Default::default();
        let is_absent = |condition: &str, s: &Snapshot, why| {
            assert_eq!(first(condition, s).value, Err(Absence::NotMeasured(why)));
        };
        is_absent("p99(fib) > 1ms", &s, NO_LATENCIES);
        assert!(first("calls(fib) > 1", &s).value.is_ok());
        s.capture.mode = Mode::Sampled;
        is_absent("max(fib) > 1ms", &s, NO_LATENCIES);
        s.capture.mode = Mode::Off;
        is_absent("calls(fib) < 1", &s, NOT_COUNTING);
        let counting = fixture::programs::order_sim_counting();
        let counter = counting.counts[0].node;
        let site = &counting.sites[SiteId(counting.nodes.site[counter.index()]).index()];
        let condition = format!("avg({}) > 1ns", site.name);
        is_absent(&condition, &counting, NO_TIMES);
    }

    #[test]
    fn and_wants_all_and_or_wants_any() {
        let s = calls(10, 2);
        for (condition, is_true) in [
            ("calls(fib) > 5 and max(fib) > 50ms", true),
            ("calls(fib) > 5 and max(fib) > 5s", false),
            ("calls(fib) > 50 and max(fib) > 50ms or p50(fib) < 2ms", true),
            ("calls(fib) > 50 or max(fib) > 5s", false),
        ] {
            let condition: Condition = condition.parse().unwrap();
            let verdict = judge(&condition, &s);
            assert_eq!(verdict.is_true, is_true, "{condition}");
            let decisive = verdict.decisive(&condition).count();
            let wanted = match (is_true, condition.any_of.len()) {
                (true, 2) => 1,
                _ => 2,
            };
            assert_eq!(decisive, wanted, "{condition}");
        }
    }
}
