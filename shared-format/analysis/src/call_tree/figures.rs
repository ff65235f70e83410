//! The figures of a row, and the structs that they are made of.

use std::ops::AddAssign;

use tickscope_format::snapshot::Tally;

/// Combines the tallies of two parts of a row. Returns `None` if either part is a scope.
pub(crate) fn both_tallies(one: Option<Tally>, other: Option<Tally>) -> Option<Tally> {
    one.zip(other).map(|(one, other)| one.and(other))
}

/// The part of a self or total time that was spent off the CPU.
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
    /// Returns the number of calls and the nanoseconds from which the mean is computed. If the row belongs to a future, these
    /// are the ended calls and their wall time, otherwise `calls` and `total_ns`.
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

/// The part of a row's time that is known only from samples, because its calls are not counted. Uncounted calls inside counted
/// ones of the row are left out. For a row that merges several functions, this is the sum over these functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SampledTime {
    /// Whether the row has any, even if the tree's measure does not include it.
    pub is_there: bool,
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

    /// Returns whether all of a row's time comes from samples. `calls` is the row's number of counted calls.
    pub fn is_all(self, calls: u64) -> bool {
        calls == 0 && self.is_there
    }
}

impl AddAssign for SampledTime {
    fn add_assign(&mut self, other: Self) {
        self.is_there = self.is_there || other.is_there;
        self.ticks = self.ticks.saturating_add(other.ticks);
        self.ns = self.ns.saturating_add(other.ns);
    }
}

/// Counts and times of one row, in every table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Calls begun since the reset, including recursive calls.
    pub calls: u64,
    /// Tally of a counter, value or gauge, which has no time; `None` if any part of the row is a scope.
    pub tally: Option<Tally>,
    /// Self time in ticks.
    pub self_ticks: u64,
    /// Total time in ticks. Recursive calls are not counted twice.
    pub total_ticks: u64,
    /// Self time in nanoseconds.
    pub self_ns: u64,
    /// Total time in nanoseconds. Recursive calls are not counted twice.
    pub total_ns: u64,
    /// The part of the self time that was spent off the CPU.
    pub self_off: OffCpu,
    /// The part of the total time that was spent off the CPU.
    pub total_off: OffCpu,
    /// Ended calls and their wall time, if the row belongs to a future.
    pub asynchronous: AsyncCalls,
    /// Part of the total time that was spent in uncounted calls.
    pub sampled: SampledTime,
    /// Number of threads that have a call of this row open.
    pub open: u32,
    /// How many of the `open` threads were waiting in their newest sample.
    pub waiting: u32,
    /// Number of clock errors.
    pub errors: u64,
}

impl Figures {
    /// Returns the figures of a row before any of its parts has been added. The parts decide whether the row becomes a counter
    /// or a scope.
    pub(crate) fn nothing() -> Self {
        Self {
            tally: Some(Tally::Nothing),
            ..Self::default()
        }
    }

    /// Adds the calls of `part` to the row. `is_outer` tells whether they are outermost calls, as opposed to calls nested inside
    /// others of the row.
    pub(crate) fn add_calls(&mut self, part: &Self, is_outer: bool) {
        self.calls = self.calls.saturating_add(part.calls);
        self.tally = both_tallies(self.tally, part.tally);
        self.asynchronous += part.asynchronous;
        if is_outer {
            self.sampled += part.sampled;
        }
        self.errors = self.errors.saturating_add(part.errors);
    }

    /// Adds the self time of `part` to the row.
    pub(crate) fn add_self(&mut self, part: &Self) {
        self.self_ticks = self.self_ticks.saturating_add(part.self_ticks);
        self.self_ns = self.self_ns.saturating_add(part.self_ns);
        self.self_off += part.self_off;
    }

    /// Adds the total time of `part` to the row.
    pub(crate) fn add_total(&mut self, part: &Self) {
        self.total_ticks = self.total_ticks.saturating_add(part.total_ticks);
        self.total_ns = self.total_ns.saturating_add(part.total_ns);
        self.total_off += part.total_off;
    }

    /// Adds the threads that have `part` open to the row.
    pub(crate) fn add_open(&mut self, part: &Self) {
        self.open = self.open.saturating_add(part.open);
        self.waiting = self.waiting.saturating_add(part.waiting);
    }

    /// Returns the figures with the total set to the self time.
    pub fn with_self_as_total(self) -> Self {
        Self {
            total_ticks: self.self_ticks,
            total_ns: self.self_ns,
            total_off: self.self_off,
            ..self
        }
    }

    /// Returns the mean total time of a call in nanoseconds; for a future, its mean wall time. Returns `None` for a counter, or
    /// if there are no calls.
    pub fn avg_ns(self) -> Option<u64> {
        let (calls, ns) = self.counted();
        ns.checked_div(calls).filter(|_| self.tally.is_none())
    }

    /// Returns the number of counted calls and their total time in nanoseconds. For a future, these are the ended calls and
    /// their wall time.
    pub fn counted(self) -> (u64, u64) {
        let counted_ns = self.sampled.counted_ns(self.total_ns);
        self.asynchronous.or(self.calls, counted_ns)
    }

    /// Returns the ticks and the number of calls from which the mean is computed. `total_ticks` must include the row's sampled
    /// time.
    pub fn avg_ticks(self, total_ticks: u64) -> (u64, u64) {
        match self.asynchronous.is_future {
            true => (self.asynchronous.ticks, self.asynchronous.ended),
            false => (total_ticks.saturating_sub(self.sampled.ticks), self.calls),
        }
    }
}
