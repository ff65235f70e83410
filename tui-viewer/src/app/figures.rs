//! Where the figures of a row stand, and what they are.

use tickscope_analysis::call_tree::{AsyncCalls, OffCpu, SampledTime};
use tickscope_format::snapshot::Tally;

/// Where a row's figures stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// A row of the call tree.
    Tree(u32),
    /// A row of the hotspots.
    Hot(u32),
    /// A line of a function's callers and callees.
    Call(u32),
    /// A row of the threads.
    Thread(u32),
    /// A row of the sites.
    Site(u32),
    /// A row of the tasks.
    Task(u32),
    /// A path of a watched function.
    Slow(u32),
    /// The time outside any scope.
    Outside,
}

/// The figures of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Itself and all below.
    pub(crate) total_ns: u64,
    /// Itself.
    pub(crate) self_ns: u64,
    /// Of the total time, that off the CPU.
    pub(crate) off: OffCpu,
    /// Of its own time, that off the CPU.
    pub(crate) own_off: OffCpu,
    /// Calls begun.
    pub(crate) calls: u64,
    /// Of a future, the calls that are over.
    pub(crate) asynchronous: AsyncCalls,
    /// Of its own time, that of calls that are not counted.
    pub(crate) sampled: SampledTime,
    /// What a counter, a value or a gauge shows; it has no time.
    pub(crate) tally: Option<Tally>,
    /// Threads that are in it now.
    pub(crate) open: u32,
    /// How many of those waited at the newest look at them.
    pub(crate) waiting: u32,
    /// Clock errors.
    pub(crate) errors: u64,
}

impl What {
    /// Its place in its table.
    pub(crate) fn row(self) -> Option<u32> {
        match self {
            Self::Tree(row)
            | Self::Hot(row)
            | Self::Call(row)
            | Self::Thread(row)
            | Self::Site(row)
            | Self::Task(row)
            | Self::Slow(row) => Some(row),
            Self::Outside => None,
        }
    }
}

impl Figures {
    /// Total time of a call, of a future its time by the wall clock; none without calls, and none of a counter.
    pub(crate) fn avg_ns(self) -> Option<u64> {
        let (calls, ns) = self.counted();
        ns.checked_div(calls).filter(|_| self.tally.is_none())
    }

    /// The calls that are counted, of a future those that are over, and their time in nanoseconds.
    pub(crate) fn counted(self) -> (u64, u64) {
        let counted_ns = self.sampled.counted_ns(self.total_ns);
        self.asynchronous.or(self.calls, counted_ns)
    }

    /// The ticks that the average is of, and by how many calls they are divided; `total_ticks` are those of the row.
    pub(crate) fn avg_ticks(self, total_ticks: u64) -> (u64, u64) {
        match self.asynchronous.is_future {
            true => (self.asynchronous.ticks, self.asynchronous.ended),
            false => (total_ticks.saturating_sub(self.sampled.ticks), self.calls),
        }
    }
}

/// A part of a whole, 0 to 1; 0 of nothing.
pub(crate) fn share(part_ns: u64, whole_ns: u64) -> f64 {
    if whole_ns == 0 {
        0.0
    } else {
        (part_ns as f64 / whole_ns as f64).min(1.0)
    }
}
