//! The figures of a row, and the structs of which they consist.

use std::ops::AddAssign;

use tickscope_format::snapshot::Tally;

/// Returns the tally of a row that is made of two parts, or `None` if either part is a scope.
pub(crate) fn both_tallies(one: Option<Tally>, other: Option<Tally>) -> Option<Tally> {
    one.zip(other).map(|(one, other)| one.and(other))
}

/// Time off the CPU, as part of a self or total time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OffCpu {
    /// Nanoseconds in which a thread could not run.
    pub waiting_ns: u64,
    /// Nanoseconds in which a thread could run but had no CPU.
    pub ready_ns: u64,
}

impl OffCpu {
    /// Returns the sum of waiting and ready time, in nanoseconds.
    pub fn ns(self) -> u64 {
        self.waiting_ns.saturating_add(self.ready_ns)
    }
}

impl AddAssign for OffCpu {
    fn add_assign(&mut self, other: Self) {
        self.waiting_ns = self.waiting_ns.saturating_add(other.waiting_ns);
        self.ready_ns = self.ready_ns.saturating_add(other.ready_ns);
    }
}

/// Finished calls of futures, with their wall time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AsyncCalls {
    /// Number of ended calls, including cancelled ones.
    pub ended: u64,
    /// Ticks from first poll to end, summed over the ended calls.
    pub ticks: u64,
    /// Nanoseconds from first poll to end, summed over the ended calls.
    pub ns: u64,
    /// Whether the row belongs to a future, even if no call has ended yet.
    pub is_future: bool,
}

impl AsyncCalls {
    /// Returns a number of calls and their nanoseconds, whose quotient is the mean: ended calls and their wall time for the row
    /// of a future, else `calls` and `total_ns`.
    pub fn or(self, calls: u64, total_ns: u64) -> (u64, u64) {
        match self.is_future {
            true => (self.ended, self.ns),
            false => (calls, total_ns),
        }
    }
}

impl AddAssign for AsyncCalls {
    fn add_assign(&mut self, other: Self) {
        self.ended = self.ended.saturating_add(other.ended);
        self.ticks = self.ticks.saturating_add(other.ticks);
        self.ns = self.ns.saturating_add(other.ns);
        self.is_future = self.is_future || other.is_future;
    }
}

/// Part of a row's time that only samples show, because the calls are not counted. A row that merges several functions has the
/// sum of their parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampledTime {
    /// Sampled time in ticks.
    pub ticks: u64,
    /// Sampled time in nanoseconds.
    pub ns: u64,
}

impl SampledTime {
    /// Returns the part of `total_ns` that belongs to counted calls.
    pub fn counted_ns(self, total_ns: u64) -> u64 {
        total_ns.saturating_sub(self.ns)
    }

    /// Returns whether samples alone show the time of a row with this sampled time and this number of calls.
    pub fn is_all(self, calls: u64) -> bool {
        calls == 0 && self.ticks > 0
    }
}

impl AddAssign for SampledTime {
    fn add_assign(&mut self, other: Self) {
        self.ticks = self.ticks.saturating_add(other.ticks);
        self.ns = self.ns.saturating_add(other.ns);
    }
}

/// Counts and times of one row, in every table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Calls begun since the reset, including recursive calls.
    pub calls: u64,
    /// What the row counts if it is a counter, value or gauge and has no time; `None` if any part of the row is a scope.
    pub tally: Option<Tally>,
    /// Self time in ticks.
    pub self_ticks: u64,
    /// Total time in ticks. Recursive calls are not counted twice.
    pub total_ticks: u64,
    /// Self time in nanoseconds.
    pub self_ns: u64,
    /// Total time in nanoseconds. Recursive calls are not counted twice.
    pub total_ns: u64,
    /// Part of the self time that is off the CPU.
    pub self_off: OffCpu,
    /// Part of the total time that is off the CPU.
    pub total_off: OffCpu,
    /// Ended calls and their wall time, if the row belongs to a future.
    pub asynchronous: AsyncCalls,
    /// Part of the self time that was spent in uncounted calls.
    pub sampled: SampledTime,
    /// Number of threads in which the row is open.
    pub open: u32,
    /// How many of the `open` threads waited in their newest sample.
    pub waiting: u32,
    /// Number of clock errors.
    pub errors: u64,
}

impl Figures {
    /// Returns the figures of a row before any part is added. The parts decide whether it becomes a counter or a scope.
    pub(crate) fn nothing() -> Self {
        Self {
            tally: Some(Tally::Nothing),
            ..Self::default()
        }
    }

    /// Adds the calls of a part of the row.
    pub(crate) fn add_calls(&mut self, part: &Self) {
        self.calls = self.calls.saturating_add(part.calls);
        self.tally = both_tallies(self.tally, part.tally);
        self.asynchronous += part.asynchronous;
        self.sampled += part.sampled;
        self.errors = self.errors.saturating_add(part.errors);
    }

    /// Adds the self time of a part of the row.
    pub(crate) fn add_self(&mut self, part: &Self) {
        self.self_ticks = self.self_ticks.saturating_add(part.self_ticks);
        self.self_ns = self.self_ns.saturating_add(part.self_ns);
        self.self_off += part.self_off;
    }

    /// Adds the total time of a part of the row.
    pub(crate) fn add_total(&mut self, part: &Self) {
        self.total_ticks = self.total_ticks.saturating_add(part.total_ticks);
        self.total_ns = self.total_ns.saturating_add(part.total_ns);
        self.total_off += part.total_off;
    }

    /// Adds the threads in which a part of the row is open.
    pub(crate) fn add_open(&mut self, part: &Self) {
        self.open = self.open.saturating_add(part.open);
        self.waiting = self.waiting.saturating_add(part.waiting);
    }

    /// Returns the figures with the self time as the total.
    pub fn with_self_as_total(self) -> Self {
        Self {
            total_ticks: self.self_ticks,
            total_ns: self.self_ns,
            total_off: self.self_off,
            ..self
        }
    }

    /// Returns the mean total time of a call in nanoseconds, for a future by the wall clock; `None` for a counter or without
    /// calls.
    pub fn avg_ns(self) -> Option<u64> {
        let (calls, ns) = self.counted();
        ns.checked_div(calls).filter(|_| self.tally.is_none())
    }

    /// Returns the number of counted calls and their nanoseconds. For a future, only ended calls are counted.
    pub fn counted(self) -> (u64, u64) {
        let counted_ns = self.sampled.counted_ns(self.total_ns);
        self.asynchronous.or(self.calls, counted_ns)
    }

    /// Returns the ticks and the number of calls whose quotient is the mean. `total_ticks` includes the row's sampled time.
    pub fn avg_ticks(self, total_ticks: u64) -> (u64, u64) {
        match self.asynchronous.is_future {
            true => (self.asynchronous.ticks, self.asynchronous.ended),
            false => (total_ticks.saturating_sub(self.sampled.ticks), self.calls),
        }
    }
}
