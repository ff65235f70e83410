//! A row of a comparison: its values before and after.

use crate::functions::FunctionId;

/// Counts and times of a row in one run, or the medians of several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Values {
    /// Calls.
    pub calls: f64,
    /// Self time in nanoseconds, or the self value of another measure.
    pub self_ns: f64,
    /// Total in the same unit; for a function, the total of its outermost calls.
    pub total_ns: f64,
    /// The standard errors of self and total time, in the same unit; 0 where they are exact.
    pub errors_ns: [f64; 2],
    /// Sum of a counter.
    pub sum: f64,
    /// Nanoseconds that 99 of 100 calls did not exceed; `None` without latencies of calls.
    pub p99_ns: Option<f64>,
    /// Nanoseconds of the longest known call.
    pub max_ns: Option<f64>,
}

/// One of the values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Calls.
    Calls,
    /// Total time.
    Total,
    /// Self time.
    SelfTime,
    /// Sum of a counter.
    Sum,
    /// The time that 99 of 100 calls did not exceed.
    P99,
    /// The time of the longest call.
    Max,
}

/// Sides that have a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// On both, or on neither.
    #[default]
    Both,
    /// Only in runs after.
    New,
    /// Only in runs before.
    Gone,
}

impl Quantity {
    /// Quantities that come from latencies of single calls.
    pub const LATENCIES: [Self; 2] = [Self::P99, Self::Max];

    /// Returns whether the quantity is a latency.
    pub fn is_latency(self) -> bool {
        Self::LATENCIES.contains(&self)
    }
}

/// A row of both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// Medians of the runs before.
    pub before: Values,
    /// Medians of the runs after.
    pub after: Values,
    /// Sides that have the row.
    pub presence: Presence,
    /// Whether the row is a counter, a value or a gauge wherever it occurs, so that it has no time.
    pub is_counter: bool,
    /// Whether the row is a gauge in one of the runs, so that it has no sum either.
    pub is_gauge: bool,
    /// Whether its calls are exact: all of them were counted, and all runs of both sides agree on their number.
    pub calls_exact: bool,
    /// Whether the row was off in a run before, and in a run after, so that some of its calls were not counted.
    pub off: [bool; 2],
    /// Whether one of its self times is an estimate.
    pub self_estimated: bool,
    /// Whether one of its total times is an estimate.
    pub total_estimated: bool,
    /// Whether its self time, and its total time, is a rough estimate.
    pub is_rough: [bool; 2],
    /// Whether a side has so few timed calls that its percentiles are rough.
    pub is_p99_rough: bool,
    /// Whether only some calls of a side were timed, so that its longest call may have been longer than `max_ns`.
    pub is_max_least: bool,
    /// Whether `max_ns` of a side is only an upper bound of its longest call.
    pub is_max_most: bool,
    /// Whether its calls are per run though other rows' calls are per call of a scope.
    pub calls_per_run: bool,
    /// Whether its times are per run though other rows' times are per call of a scope.
    pub times_per_run: bool,
    /// Whether the row calls the scope by whose calls numbers are divided, while runs differ in their calls of that scope. Its
    /// time then includes time outside the scope, and cannot be compared.
    pub around_scope: bool,
}

/// A row of the merged call tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathRow {
    /// The row above; parents come before children.
    pub parent: Option<u32>,
    /// Depth of the row, 0 at the top.
    pub depth: u32,
    /// Function of the row.
    pub function: FunctionId,
    /// Values of the row before and after.
    pub change: Change,
}

impl Values {
    /// Returns one of the values.
    pub fn get(&self, what: Quantity) -> f64 {
        match what {
            Quantity::Calls => self.calls,
            Quantity::Total => self.total_ns,
            Quantity::SelfTime => self.self_ns,
            Quantity::Sum => self.sum,
            Quantity::P99 | Quantity::Max => self.latency(what).unwrap_or_default(),
        }
    }

    /// Returns p99 or the longest call, where latencies are known.
    pub fn latency(&self, what: Quantity) -> Option<f64> {
        match what {
            Quantity::P99 => self.p99_ns,
            Quantity::Max => self.max_ns,
            Quantity::Calls | Quantity::Total | Quantity::SelfTime | Quantity::Sum => None,
        }
    }

    /// Returns whether anything was counted or measured.
    pub fn is_something(&self) -> bool {
        *self != Self::default()
    }
}

impl Change {
    /// Returns the value after minus the value before.
    pub fn of(&self, what: Quantity) -> f64 {
        self.after.get(what) - self.before.get(what)
    }

    /// Returns the change of a time beyond chance: its absolute value minus twice its standard error, at least 0.
    pub fn beyond_error(&self, what: Quantity) -> f64 {
        let error = |values: &Values| match what {
            Quantity::SelfTime => values.errors_ns[0],
            Quantity::Total => values.errors_ns[1],
            Quantity::Calls | Quantity::Sum | Quantity::P99 | Quantity::Max => 0.0,
        };
        let error = error(&self.before).hypot(error(&self.after));
        (self.of(what).abs() - 2.0 * error).max(0.0)
    }

    /// Returns whether latencies of calls are known on both sides.
    pub fn has_latencies(&self) -> bool {
        self.before.p99_ns.is_some() && self.after.p99_ns.is_some()
    }

    /// Returns the quantities of the row's three columns: a counter has a sum in place of a total time.
    pub fn columns(&self) -> [Quantity; 3] {
        let total = match self.is_counter {
            true => Quantity::Sum,
            false => Quantity::Total,
        };
        [Quantity::Calls, total, Quantity::SelfTime]
    }

    /// Returns whether all of its calls were counted.
    pub fn is_counted(&self) -> bool {
        self.off == [false; 2]
    }

    /// Returns whether the row is worth showing: its calls or its sum have changed, it is new or gone, or a time has
    /// changed by at least `least_ns` and not by noise. Calls that were not all counted cannot be compared.
    pub(crate) fn is_worth(&self, least_ns: f64, is_noise: impl Fn(Quantity) -> bool) -> bool {
        let of_time = |what: Quantity| {
            let change = self.of(what).abs();
            self.beyond_error(what) > 0.0 && change >= least_ns && !is_noise(what)
        };
        // A row of samples has no calls, so its presence on one side alone is no change.
        let is_called = self.before.calls + self.after.calls > 0.0;
        let has_other_calls = self.presence != Presence::Both && is_called || self.of(Quantity::Calls) != 0.0;
        has_other_calls && self.is_counted()
            || self.of(Quantity::Sum) != 0.0
            || of_time(Quantity::Total)
            || of_time(Quantity::SelfTime)
    }
}

/// Returns the median, which is the mean of the two middle values of an even number; 0 without values.
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
            calls_exact: true,
            self_estimated: true,
            is_rough: [true, false],
            ..Change::default()
        };
        // The errors 3 and 4 add up to 5.
        let larger = change(side(100.0, 3.0), side(125.0, 4.0));
        assert_eq!(larger.beyond_error(Quantity::SelfTime), 15.0);
        let chance = change(side(100.0, 3.0), side(91.0, 4.0));
        assert_eq!(chance.beyond_error(Quantity::SelfTime), 0.0);
        let is_worth = |change: &Change| change.is_worth(0.0, |_| false);
        assert!(is_worth(&larger) && !is_worth(&chance));
        // A function that samples found on one side alone has no calls, so its calls have not changed.
        let met_once = Change {
            presence: Presence::New,
            ..change(Values::default(), side(9.0, 5.0))
        };
        assert!(!is_worth(&met_once));
    }
}
