//! The cost of measuring, and which mean durations are too short to be reliable given that cost.

use super::{Cost, Functions, Quantity, ScopeCost, Snapshot, Timing, Values};

/// If [`Snapshot::drains_ns`] is at least this many nanoseconds, clock reads are considered to wait for loads. A load
/// from memory takes about 80 ns. If clock reads do not wait for loads, `drains_ns` is only a few nanoseconds.
const DRAINS_NS: f64 = 20.0;

/// Maximum ratio between the upper and the lower bound of [`Snapshot::own_cost`].
const OWN_RANGE: f64 = 1.5;

impl Snapshot {
    /// Returns whether clock reads wait for loads. If they do, a scope in code that waits for memory costs more than
    /// [`own_cost`](Self::own_cost).
    pub fn clock_drains(&self) -> bool {
        self.drains_ns.is_some_and(|ns| ns >= DRAINS_NS)
    }

    /// Returns whether measuring may cost more than [`scope_cost`](Self::scope_cost), because clock reads wait for
    /// loads and the cost is known only from calibration.
    pub fn may_cost_more(&self) -> bool {
        self.clock_drains() && self.scope_cost_seen().is_none()
    }

    /// Returns the cost of measuring a call of an instrumented function. Returns `None` if the program has no such
    /// functions, or if the cost is not known yet.
    fn function_cost(&self) -> Option<ScopeCost> {
        self.functions.as_ref()?.call_cost()
    }

    /// Returns whether [`cost_share`](Self::cost_share) is the cost of a program that was built with `cargo tickscope`.
    /// That cost includes the publisher and the instrumented build.
    pub fn has_function_cost(&self) -> bool {
        self.function_cost().is_some()
    }

    /// Returns the cost of a scope. In a program built with `cargo tickscope`, this is the cost of measuring a function
    /// call. In other programs, it is the cost estimated from samples or, if there is no such estimate, the calibrated
    /// cost. Calibration does not capture how clock reads slow down code that waits for memory.
    pub fn scope_cost(&self) -> ScopeCost {
        self.function_cost()
            .or_else(|| self.scope_cost_seen())
            .unwrap_or_else(|| self.own_cost())
    }

    /// Returns the cost of a scope as estimated from samples. Samples do not see the instructions that a scope adds to
    /// the program's own code; only the upper bound allows for these. Returns `None` in modes that take no samples, and
    /// if there are too few samples.
    pub fn scope_cost_seen(&self) -> Option<ScopeCost> {
        let since_reset_ns = self.capture.since_reset_ns;
        self.seen_cost?
            .scope_cost(self.measuring.samples, since_reset_ns, self.scope_calls())
    }

    /// Returns the calibrated cost of a scope by itself, that is, of its instructions and clock reads. How clock reads
    /// slow down code that waits for memory is not included. The upper bound is at most one and a half times the lower
    /// bound. In a program that often waits for memory, a scope may seem to cost less, because the CPU executes it
    /// during the wait.
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

    /// Returns the self ticks of all rows, minus the ticks in which threads waited or had no CPU, if these are known.
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

    /// Returns a lower and an upper bound of the share of the working time in scopes that is spent on measuring, from 0
    /// to 1. Both are 0 if the snapshot contains anything but time.
    ///
    /// In a program built with `cargo tickscope`, the result is instead the added CPU time relative to the plain build,
    /// which may exceed 1. It then includes the publisher's CPU time, and the upper bound also includes the cost of the
    /// instrumented build.
    pub fn cost_share(&self) -> (f64, f64) {
        let working = self.nanos(self.working_ticks()) as f64;
        if working <= 0.0 || self.values != Values::Time {
            return (0.0, 0.0);
        }
        let calls = self.scope_calls() as f64;
        if let Some(cost) = self.function_cost() {
            // Samples in the collector's code are known as such once there are sampled rows.
            let sampled = self.measures.of(Quantity::Sampled);
            let sampled = sampled.and_then(|_| self.lines.measuring_share());
            let (low, high) = Functions::cost_share(cost, calls, working, sampled);
            let cpu_ns: u64 = self.threads.iter().filter_map(|thread| thread.cpu_ns).sum();
            // The publisher's CPU time is only known since the start. How much of it was used since the reset is
            // estimated, as if it had been used evenly over time.
            let since_reset = self.capture.since_reset_ns as f64 / self.process.uptime_ns.max(1) as f64;
            let publisher_ns = self.capture.cost.publisher_cpu_ns as f64 * since_reset.min(1.0);
            let publisher = publisher_ns / working.max(cpu_ns as f64);
            return (low + publisher, high + publisher);
        }
        let share = |ns: f64| (calls * ns / working).clamp(0.0, 1.0);
        let cost = self.scope_cost();
        (share(cost.low_ns), share(cost.high_ns))
    }

    /// Returns the mean duration, in nanoseconds, below which the times of calls are doubtful: three times the upper
    /// bound of a scope's cost.
    pub fn doubtful_below_ns(&self) -> f64 {
        3.0 * self.scope_cost().high_ns
    }

    /// Returns whether `calls` calls, which took `total_ns` in total, have a mean duration below
    /// [`doubtful_below_ns`](Self::doubtful_below_ns). In mode `off`, no mean is doubtful. In sampled mode, a total of
    /// 0 is not doubtful, because it says nothing about the mean.
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
