//! One row of a comparison: its values before and after.

use crate::functions::FunctionId;

/// Counts and times of a row in one run, or the medians of several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Values {
    /// Number of calls.
    pub calls: f64,
    /// Self time in nanoseconds, or the self value of another measure in that measure's unit.
    pub self_ns: f64,
    /// Total, in the same unit as `self_ns`. For a function, this is the total of its outermost calls.
    pub total_ns: f64,
    /// Standard errors of `self_ns` and `total_ns`, in the same unit; 0 if the value is exact.
    pub errors_ns: [f64; 2],
    /// Sum of the numbers that a counter or value received.
    pub sum: f64,
    /// 99th percentile of the call latencies in nanoseconds; `None` if no latencies are known.
    pub p99_ns: Option<f64>,
    /// Latency of the longest call in nanoseconds, as far as it is known; `None` if no latencies are known.
    pub max_ns: Option<f64>,
}

/// Selects one number of [`Values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// [`Values::calls`].
    Calls,
    /// [`Values::total_ns`].
    Total,
    /// [`Values::self_ns`].
    SelfTime,
    /// [`Values::sum`].
    Sum,
    /// [`Values::p99_ns`].
    P99,
    /// [`Values::max_ns`].
    Max,
}

/// Whether a row exists before the change, after it, or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// On both sides, or on neither.
    #[default]
    Both,
    /// Only in the runs after the change.
    New,
    /// Only in the runs before the change.
    Gone,
}

impl Quantity {
    /// Quantities that are computed from the latencies of individual calls.
    pub const LATENCIES: [Self; 2] = [Self::P99, Self::Max];

    /// Returns whether the quantity is a latency.
    pub fn is_latency(self) -> bool {
        Self::LATENCIES.contains(&self)
    }
}

/// A row with its values on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// Medians of the runs before the change.
    pub before: Values,
    /// Medians of the runs after the change.
    pub after: Values,
    /// Which side has the row.
    pub presence: Presence,
    /// Whether the row is a counter, a value or a gauge in all runs that have it, and so has no time.
    pub is_counter: bool,
    /// Whether the row is a gauge in one of the runs, and so has no sum either.
    pub is_gauge: bool,
    /// Whether the number of calls is exact: all calls were counted, and the runs of each side agree on the number.
    pub calls_exact: bool,
    /// By side: whether the function was off during a part of some run, so that some of its calls were not counted.
    pub off: [bool; 2],
    /// Whether the self time of any run is an estimate.
    pub self_estimated: bool,
    /// Whether the total time of any run is an estimate.
    pub total_estimated: bool,
    /// Whether the self time, and whether the total time, is a rough estimate in any run.
    pub is_rough: [bool; 2],
    /// Whether some run timed so few calls that its percentiles are rough.
    pub is_p99_rough: bool,
    /// Whether some run did not time all calls. The longest call may then be longer than `max_ns`.
    pub is_max_least: bool,
    /// Whether only an upper bound of the longest call is known in some run. The longest call may then be shorter than `max_ns`.
    pub is_max_most: bool,
    /// Whether `calls` is per run, although the calls of other rows are per call of a scope.
    pub calls_per_run: bool,
    /// Whether the times are per run, although the times of other rows are per call of a scope.
    pub times_per_run: bool,
    /// Whether numbers are per call of a scope that is below this row, and the runs differ in how often they call it. The row's
    /// time then includes time outside that scope, and cannot be compared.
    pub around_scope: bool,
}

/// A row of the merged call tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathRow {
    /// Index of the parent row, which comes earlier in the list.
    pub parent: Option<u32>,
    /// Depth of the row, 0 at the top.
    pub depth: u32,
    /// Function at the end of the path.
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

    /// Returns the 99th percentile or the longest call, in nanoseconds. Returns `None` for other quantities, or if no latencies
    /// are known.
    pub fn latency(&self, what: Quantity) -> Option<f64> {
        match what {
            Quantity::P99 => self.p99_ns,
            Quantity::Max => self.max_ns,
            Quantity::Calls | Quantity::Total | Quantity::SelfTime | Quantity::Sum => None,
        }
    }

    /// Returns whether any value differs from a row without calls.
    pub fn is_something(&self) -> bool {
        *self != Self::default()
    }
}

impl Change {
    /// Returns how much a value has changed: `after` minus `before`.
    pub fn of(&self, what: Quantity) -> f64 {
        self.after.get(what) - self.before.get(what)
    }

    /// Returns how much a time has changed beyond its statistical error: the absolute change minus twice its standard error, but
    /// at least 0.
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

    /// Returns the quantities in the columns for calls, total and self, in this order. A counter shows its sum in place of the
    /// total.
    pub fn columns(&self) -> [Quantity; 3] {
        let total = match self.is_counter {
            true => Quantity::Sum,
            false => Quantity::Total,
        };
        [Quantity::Calls, total, Quantity::SelfTime]
    }

    /// Returns whether all calls of the row were counted, in all runs.
    pub fn is_counted(&self) -> bool {
        self.off == [false; 2]
    }

    /// Returns whether the row is worth showing: its sum has changed, or a time has changed by at least `least_ns` and not just
    /// by noise. If all calls were counted, the row is also worth showing if it is new or gone, or if its number of calls has
    /// changed.
    pub(crate) fn is_worth(&self, least_ns: f64, is_noise: impl Fn(Quantity) -> bool) -> bool {
        let of_time = |what: Quantity| {
            let change = self.of(what).abs();
            self.beyond_error(what) > 0.0 && change >= least_ns && !is_noise(what)
        };
        // A row that is known only from samples has no calls. If one side does not have it, this may be chance, so it does not
        // count as a change.
        let is_called = self.before.calls + self.after.calls > 0.0;
        let has_other_calls = self.presence != Presence::Both && is_called || self.of(Quantity::Calls) != 0.0;
        has_other_calls && self.is_counted()
            || self.of(Quantity::Sum) != 0.0
            || of_time(Quantity::Total)
            || of_time(Quantity::SelfTime)
    }
}

/// Returns the median, which is the mean of the two middle values if there is an even number of them. Returns 0 if there are no
/// values.
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
        // By Pythagoras, errors of 3 and 4 combine to an error of 5.
        let larger = change(side(100.0, 3.0), side(125.0, 4.0));
        assert_eq!(larger.beyond_error(Quantity::SelfTime), 15.0);
        let chance = change(side(100.0, 3.0), side(91.0, 4.0));
        assert_eq!(chance.beyond_error(Quantity::SelfTime), 0.0);
        let is_worth = |change: &Change| change.is_worth(0.0, |_| false);
        assert!(is_worth(&larger) && !is_worth(&chance));
        // This function was sampled on one side only. It has no calls, so its number of calls has not changed.
        let met_once = Change {
            presence: Presence::New,
            ..change(Values::default(), side(9.0, 5.0))
        };
        assert!(!is_worth(&met_once));
    }
}
