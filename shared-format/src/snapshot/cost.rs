//! The cost of measuring, and which mean times are too short to be reliable beside it.

use super::{Cost, Functions, Quantity, ScopeCost, Snapshot, Timing, Values};

/// Reads of the clock wait for loads if [`Snapshot::drains_ns`] is at least this time, in nanoseconds. A load from memory takes
/// some 80 ns. If reads of the clock do not wait for loads, the measured time is a few nanoseconds.
const DRAINS_NS: f64 = 20.0;

/// Largest ratio of the upper to the lower bound of a scope's own cost.
const OWN_RANGE: f64 = 1.5;

impl Snapshot {
    /// Returns whether reads of the clock wait for loads. In code that waits for memory, measuring then costs more than
    /// a scope's cost.
    pub fn clock_drains(&self) -> bool {
        self.drains_ns.is_some_and(|ns| ns >= DRAINS_NS)
    }

    /// Returns whether measuring may cost more than [`scope_cost`](Self::scope_cost), because the clock waits for loads and the
    /// cost is known from calibration only.
    pub fn may_cost_more(&self) -> bool {
        self.clock_drains() && self.scope_cost_seen().is_none()
    }

    /// Returns the cost of a call of a function that the compiler has prepared, if the program has such functions.
    fn function_cost(&self) -> Option<ScopeCost> {
        self.functions.as_ref()?.call_cost()
    }

    /// Returns whether [`cost_share`](Self::cost_share) is the cost of a program of `cargo tickscope`. Such a cost includes the
    /// publisher and the build.
    pub fn has_function_cost(&self) -> bool {
        self.function_cost().is_some()
    }

    /// Returns the cost of a scope. In a program of `cargo tickscope` this is the cost of a function's call; in other
    /// programs the cost that samples have seen, or else the calibrated cost. The calibration leaves out the clock's
    /// effect on code that waits for memory.
    pub fn scope_cost(&self) -> ScopeCost {
        self.function_cost()
            .or_else(|| self.scope_cost_seen())
            .unwrap_or_else(|| self.own_cost())
    }

    /// Returns the cost of a scope as seen by samples, without the scope's instructions in the program itself. Returns
    /// `None` in modes that take no samples, and with too few samples.
    pub fn scope_cost_seen(&self) -> Option<ScopeCost> {
        let since_reset_ns = self.capture.since_reset_ns;
        self.seen_cost?
            .scope_cost(self.measuring.samples, since_reset_ns, self.scope_calls())
    }

    /// Returns the cost of a scope by itself, as calibrated: instructions and clock reads, without the clock's effect
    /// on code that waits for memory. The upper bound is at most one and a half times the lower one. In a program that
    /// waits, a scope may seem to cost less, because it runs during the wait.
    pub fn own_cost(&self) -> ScopeCost {
        let Cost {
            lower_ns, upper_ns, ..
        } = self.capture.cost;
        let low_ns = lower_ns.max(upper_ns / OWN_RANGE);
        ScopeCost {
            low_ns,
            middle_ns: (low_ns + upper_ns) / 2.0,
            high_ns: upper_ns,
        }
    }

    /// Returns the ticks of all rows, without the ticks in which threads waited or had no CPU, if these are known.
    pub fn working_ticks(&self) -> u64 {
        let off = [Quantity::Waiting, Quantity::Ready].into_iter().map(|quantity| {
            let column = self.measures.of(quantity);
            column.map_or(0, |column| {
                let values = column.rows.iter().map(|row| row.1);
                values.fold(0, u64::saturating_add)
            })
        });
        off.fold(self.measured_ticks(), u64::saturating_sub)
    }

    /// Returns the share of the working time in scopes that measuring takes, 0 to 1, as its lower and its upper bound.
    /// Both are 0 for values other than time. In a program of `cargo tickscope` this is the added CPU time compared
    /// with the plain build, which may be above 1. It then includes the publisher's CPU time and, in the upper bound,
    /// the cost of the build.
    pub fn cost_share(&self) -> (f64, f64) {
        let working = self.nanos(self.working_ticks()) as f64;
        if working <= 0.0 || self.values != Values::Time {
            return (0.0, 0.0);
        }
        let calls = self.scope_calls() as f64;
        if let Some(cost) = self.function_cost() {
            let (low, high) = Functions::cost_share(cost, calls, working);
            let cpu_ns: u64 = self.threads.iter().filter_map(|thread| thread.cpu_ns).sum();
            // The publisher's CPU time counts from the start. Its part since the reset is estimated as if it were
            // spread evenly.
            let since_reset = self.capture.since_reset_ns as f64 / self.process.uptime_ns.max(1) as f64;
            let publisher_ns = self.capture.cost.publisher_cpu_ns as f64 * since_reset.min(1.0);
            let publisher = publisher_ns / working.max(cpu_ns as f64);
            return (low + publisher, high + publisher);
        }
        let share = |ns: f64| (calls * ns / working).clamp(0.0, 1.0);
        let cost = self.scope_cost();
        (share(cost.low_ns), share(cost.high_ns))
    }

    /// Returns the mean duration in nanoseconds below which calls are doubtful: three times the upper bound of a
    /// scope's cost.
    pub fn doubtful_below_ns(&self) -> f64 {
        3.0 * self.scope_cost().high_ns
    }

    /// Returns whether the mean of `calls` calls that took `total_ns` together is below
    /// [`doubtful_below_ns`](Self::doubtful_below_ns). In mode off no mean is doubtful; in sampled mode a time of 0
    /// says nothing about the mean.
    pub fn is_doubtful(&self, total_ns: u64, calls: u64) -> bool {
        let unknown = match self.capture.mode.traits().timing {
            Timing::Never => true,
            Timing::Samples => total_ns == 0,
            Timing::EveryCall | Timing::SomeCalls => false,
        };
        calls > 0
            && !unknown
            && self.values == Values::Time
            && (total_ns as f64) < self.doubtful_below_ns() * calls as f64
    }
}
