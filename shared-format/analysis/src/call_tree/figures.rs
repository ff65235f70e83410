//! The figures of a row, and their parts.

use std::ops::AddAssign;

use tickscope_format::snapshot::Tally;

/// Returns the tally of two parts of a row together, or `None` if either part is a scope.
pub(crate) fn both_tallies(one: Option<Tally>, other: Option<Tally>) -> Option<Tally> {
    one.zip(other).map(|(one, other)| one.and(other))
}

/// Time off the CPU, a part of other times.
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

/// Calls of futures that have ended, by the wall clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AsyncCalls {
    /// Ended calls, including cancelled ones.
    pub ended: u64,
    /// Ticks from their first polls to their ends.
    pub ticks: u64,
    /// Nanoseconds from their first polls to their ends.
    pub ns: u64,
    /// Whether the row belongs to a future, even if no call has ended yet.
    pub is_future: bool,
}

impl AsyncCalls {
    /// Returns the number of calls and the nanoseconds whose quotient is a row's mean: ended calls and their wall time
    /// for a future, else `calls` and `total_ns`.
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

/// Part of a row's time that is known from samples alone, because the calls are not counted. A row that several functions share
/// holds the sum of their parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampledTime {
    /// Sampled time in ticks.
    pub ticks: u64,
    /// Sampled time in nanoseconds.
    pub ns: u64,
}

impl SampledTime {
    /// Returns the nanoseconds of a row's total time that counted calls took.
    pub fn counted_ns(self, total_ns: u64) -> u64 {
        total_ns.saturating_sub(self.ns)
    }

    /// Returns whether a row with this part and these calls has no counted call, so that samples alone show its time.
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

/// Figures that the rows of all tables have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Calls begun since the reset, recursive ones too.
    pub calls: u64,
    /// Tally of a counter, a value or a gauge, which has no time; `None` if any part of the row is a scope.
    pub tally: Option<Tally>,
    /// Self time in ticks.
    pub self_ticks: u64,
    /// Total time in ticks; recursion counts once.
    pub total_ticks: u64,
    /// Self time in nanoseconds.
    pub self_ns: u64,
    /// Total time in nanoseconds; recursion counts once.
    pub total_ns: u64,
    /// Part of the self time that is off the CPU.
    pub self_off: OffCpu,
    /// Part of the total time that is off the CPU.
    pub total_off: OffCpu,
    /// Ended calls, if the row belongs to a future.
    pub asynchronous: AsyncCalls,
    /// Time of calls that are not counted, a part of the self time.
    pub sampled: SampledTime,
    /// Number of threads in which the row is open.
    pub open: u32,
    /// Number of these threads that waited in their newest sample.
    pub waiting: u32,
    /// Number of clock errors.
    pub errors: u64,
}

impl Figures {
    /// Returns the figures of a row to which no part was added yet. Such a row may become a counter.
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

    /// Returns the mean total time of a call, for a future by the wall clock; `None` without calls, and for a counter.
    pub fn avg_ns(self) -> Option<u64> {
        let (calls, ns) = self.counted();
        ns.checked_div(calls).filter(|_| self.tally.is_none())
    }

    /// Returns the number of counted calls and their nanoseconds. For a future, only ended calls are counted.
    pub fn counted(self) -> (u64, u64) {
        let counted_ns = self.sampled.counted_ns(self.total_ns);
        self.asynchronous.or(self.calls, counted_ns)
    }

    /// Returns the ticks and the number of calls whose quotient is the mean. `total_ticks` is the total time of the row.
    pub fn avg_ticks(self, total_ticks: u64) -> (u64, u64) {
        match self.asynchronous.is_future {
            true => (self.asynchronous.ticks, self.asynchronous.ended),
            false => (total_ticks.saturating_sub(self.sampled.ticks), self.calls),
        }
    }
}
