//! A row of a comparison: its values before and after.

use crate::functions::FunctionId;

/// What was counted and measured of a row in one run, or the medians of several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Values {
    /// Calls.
    pub calls: f64,
    /// Nanoseconds in itself, or what it has itself of another measure.
    pub self_ns: f64,
    /// The same of itself and all below; of a function in its outermost calls.
    pub total_ns: f64,
    /// The standard errors of self and total time, in the same unit; 0 where they are exact.
    pub errors_ns: [f64; 2],
    /// What it has added up, where it is a counter.
    pub sum: f64,
    /// Nanoseconds that 99 of 100 calls did not exceed; none where no latency of a call is known.
    pub p99_ns: Option<f64>,
    /// Nanoseconds of the longest call that is known.
    pub max_ns: Option<f64>,
}

/// One of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Calls.
    Calls,
    /// Time in itself and all below.
    Total,
    /// Time in itself.
    SelfTime,
    /// What a counter has added up.
    Sum,
    /// The time that 99 of 100 calls did not exceed.
    P99,
    /// The time of the longest call.
    Max,
}

/// On which side a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// On both, or on neither.
    Both,
    /// In no run before.
    New,
    /// In no run after.
    Gone,
}

impl Quantity {
    /// What latencies of single calls say.
    pub const LATENCIES: [Self; 2] = [Self::P99, Self::Max];

    /// Whether it is one of those.
    pub fn is_latency(self) -> bool {
        Self::LATENCIES.contains(&self)
    }
}

/// A row of both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Medians of the runs before.
    pub before: Values,
    /// Medians of the runs after.
    pub after: Values,
    /// On which side it is.
    pub presence: Presence,
    /// Whether it is a counter, a value or a gauge wherever it is: it has a sum and no time.
    pub is_counter: bool,
    /// Whether it is a gauge in one of the runs: it has no sum either.
    pub is_gauge: bool,
    /// Whether its calls are exact: the same in all runs of a side, on both, and all of them counted.
    pub calls_exact: bool,
    /// Whether it was off in a run, before and after: not all of its calls were counted there.
    pub off: [bool; 2],
    /// Whether a self time of it is an estimate.
    pub self_estimated: bool,
    /// Whether a total time of it is an estimate.
    pub total_estimated: bool,
    /// Whether one of these, self or total time, is a rough estimate.
    pub is_rough: [bool; 2],
    /// Whether a side has so few timed calls that percentiles of them are rough.
    pub is_p99_rough: bool,
    /// Whether only some calls of a side were timed: their longest one may have been longer than is known.
    pub is_max_least: bool,
    /// Whether of a side's longest call only a bound is known that it did not exceed.
    pub is_max_most: bool,
    /// Whether its calls are per run though the others are per call of a scope.
    pub calls_per_run: bool,
    /// Whether its times are per run though the others are per call of a scope.
    pub times_per_run: bool,
    /// Whether it calls the scope that numbers are per call of, which runs do not call equally often: its time has that
    /// outside of the scope as well, and does not compare.
    pub around_scope: bool,
}

/// A row of the merged call tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathRow {
    /// The row above; parents come before children.
    pub parent: Option<u32>,
    /// 0 at the top.
    pub depth: u32,
    /// Its function.
    pub function: FunctionId,
    /// Its numbers.
    pub change: Change,
}

impl Values {
    /// One of them.
    pub fn get(&self, what: Quantity) -> f64 {
        match what {
            Quantity::Calls => self.calls,
            Quantity::Total => self.total_ns,
            Quantity::SelfTime => self.self_ns,
            Quantity::Sum => self.sum,
            Quantity::P99 | Quantity::Max => self.latency(what).unwrap_or_default(),
        }
    }

    /// P99 or the longest call, where latencies are known.
    pub fn latency(&self, what: Quantity) -> Option<f64> {
        match what {
            Quantity::P99 => self.p99_ns,
            Quantity::Max => self.max_ns,
            Quantity::Calls | Quantity::Total | Quantity::SelfTime | Quantity::Sum => None,
        }
    }

    /// Whether anything was counted or measured.
    pub fn is_something(&self) -> bool {
        *self != Self::default()
    }
}

impl Change {
    /// After less before.
    pub fn of(&self, what: Quantity) -> f64 {
        self.after.get(what) - self.before.get(what)
    }

    /// By how much more than chance it has changed: the change of a time, whatever its sign, less twice its standard error.
    pub fn beyond_error(&self, what: Quantity) -> f64 {
        let error = |values: &Values| match what {
            Quantity::SelfTime => values.errors_ns[0],
            Quantity::Total => values.errors_ns[1],
            Quantity::Calls | Quantity::Sum | Quantity::P99 | Quantity::Max => 0.0,
        };
        let error = error(&self.before).hypot(error(&self.after));
        (self.of(what).abs() - 2.0 * error).max(0.0)
    }

    /// Whether latencies of calls are known on both sides.
    pub fn has_latencies(&self) -> bool {
        self.before.p99_ns.is_some() && self.after.p99_ns.is_some()
    }

    /// What its three numbers are: a counter has a sum and no time in itself.
    pub fn columns(&self) -> [Quantity; 3] {
        let total = if self.is_counter {
            Quantity::Sum
        } else {
            Quantity::Total
        };
        [Quantity::Calls, total, Quantity::SelfTime]
    }

    /// Whether all of its calls were counted.
    pub fn is_counted(&self) -> bool {
        self.off == [false; 2]
    }

    /// Whether a reader wants to see it: its calls or its sum have changed, it is new or gone, or a time of it has
    /// changed by at least so many nanoseconds, and that is not noise. Calls that were not all counted do not compare.
    pub(crate) fn is_worth(&self, least_ns: f64, is_noise: impl Fn(Quantity) -> bool) -> bool {
        let of_time = |what: Quantity| {
            let change = self.of(what).abs();
            self.beyond_error(what) > 0.0 && change >= least_ns && !is_noise(what)
        };
        // What was sampled alone has no calls: that samples met it on one side is no change by itself.
        let is_called = self.before.calls + self.after.calls > 0.0;
        let has_other_calls = self.presence != Presence::Both && is_called || self.of(Quantity::Calls) != 0.0;
        has_other_calls && self.is_counted()
            || self.of(Quantity::Sum) != 0.0
            || of_time(Quantity::Total)
            || of_time(Quantity::SelfTime)
    }
}

/// The middle of some values, the mean of the two in the middle of an even number; 0 of none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_changed_by_what_its_errors_leave_of_the_change() {
        let side = |self_ns: f64, error: f64| Values {
            self_ns,
            errors_ns: [error, 0.0],
            ..Values::default()
        };
        let change = |before: Values, after: Values| Change {
            before,
            after,
            presence: Presence::Both,
            is_counter: false,
            is_gauge: false,
            calls_exact: true,
            off: [false; 2],
            self_estimated: true,
            total_estimated: false,
            is_rough: [true, false],
            is_p99_rough: false,
            is_max_least: false,
            is_max_most: false,
            calls_per_run: false,
            times_per_run: false,
            around_scope: false,
        };
        // The errors are 3 and 4: 5 together.
        let larger = change(side(100.0, 3.0), side(125.0, 4.0));
        assert_eq!(larger.beyond_error(Quantity::SelfTime), 15.0);
        let chance = change(side(100.0, 3.0), side(91.0, 4.0));
        assert_eq!(chance.beyond_error(Quantity::SelfTime), 0.0);
        let is_worth = |change: &Change| change.is_worth(0.0, |_| false);
        assert!(is_worth(&larger) && !is_worth(&chance));
        // A function that samples met on one side alone has no other calls.
        let met_once = Change {
            presence: Presence::New,
            ..change(Values::default(), side(9.0, 5.0))
        };
        assert!(!is_worth(&met_once));
    }
}
