//! Measurements of each row besides calls and time: sparse columns, one per quantity.

use std::collections::BTreeMap;

/// A quantity that is measured for each row besides calls and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Quantity {
    /// Allocations, including reallocations that change the size.
    Allocations,
    /// Bytes that these allocations requested.
    AllocatedBytes,
    /// Freed blocks, including reallocations that change the size. They are charged to the row that freed the block.
    Frees,
    /// Bytes of the freed blocks.
    FreedBytes,
    /// Ticks in which the thread was off the CPU and was not ready to run. Part of the self ticks.
    Waiting,
    /// Ticks in which the thread was ready to run but had no CPU. Part of the self ticks.
    Ready,
    /// Ticks off the CPU that cannot be attributed to a row, because the gaps between the events were too short to be
    /// examined. Only threads have this quantity.
    UnplacedWaiting,
    /// Ticks that other threads spent waiting for locks until this row released them, added up over these threads. Not
    /// part of the self ticks, and may exceed them.
    MadeOthersWait,
    /// Bytes that the row has allocated and that have not been freed yet, estimated from samples. This is a level at
    /// the time of the snapshot, and not a count since a reset.
    LiveBytes,
    /// Variance of the estimate of live bytes, in bytes squared. Variances can be added up; see [`live_error`].
    LiveVariance,
    /// Polls of futures.
    Polls,
    /// Calls whose future ran to completion.
    FutureEnds,
    /// Calls whose future was dropped before completion.
    FutureCancels,
    /// Total duration of the calls that completed or were dropped, each from its first poll to its end, in ticks.
    FutureTime,
    /// Calls of futures that began in this row and have not ended in it. This is a level, and not a count since a
    /// reset.
    InFlight,
    /// Calls of futures that ended in this row but began in another one, for example in a row of another thread. This
    /// is a level. The number of calls in flight in several rows is the sum of their [`InFlight`](Self::InFlight) minus
    /// the sum of this quantity.
    EndedElsewhere,
    /// Total time from the wakeup of each task to its next poll, in ticks.
    ScheduledTime,
    /// Polls of woken tasks.
    ScheduledPolls,
    /// Ticks of functions or calls that were not counted, as estimated from samples of the program counter. Part of the
    /// self ticks. Programs do not record this quantity: `tickscope-analysis` adds rows for such functions to a
    /// snapshot. If the snapshot is saved after that, these rows are saved with it, including their names.
    Sampled,
    /// Calls of futures that are over, but whose end was not observed, so their duration is unknown.
    FutureVanished,
}

/// Number of bytes that a program allocates, on average, per block that is sampled for [`Quantity::LiveBytes`].
pub const LIVE_SAMPLE_BYTES: u64 = 512 * 1024;

/// Returns a bound for the error of [`Quantity::LiveBytes`], in bytes. The error stays within this bound in at least 19
/// of 20 cases. `variance` is the sum of the variances. The result is `2 R + 2 sqrt(variance + R^2)`, where R is
/// [`LIVE_SAMPLE_BYTES`]. It is not 0 even without samples, because there may be live blocks that were not sampled.
pub fn live_error(variance: u64) -> u64 {
    let mean = LIVE_SAMPLE_BYTES as f64;
    (2.0 * mean + 2.0 * (variance as f64 + mean * mean).sqrt()).round() as u64
}

impl Quantity {
    /// Returns the quantity's code in records, which never changes.
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// Returns the quantity with this code, or `None` if this version does not know the code.
    pub fn of_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|quantity| quantity.code() == code)
    }

    /// Returns whether the values are ticks of the program's clock, which reports convert to nanoseconds.
    pub const fn is_time(self) -> bool {
        matches!(
            self,
            Self::Waiting
                | Self::Ready
                | Self::UnplacedWaiting
                | Self::MadeOthersWait
                | Self::FutureTime
                | Self::ScheduledTime
                | Self::Sampled
        )
    }

    /// Returns whether the values are ticks off the CPU, which are known if [`Snapshot::waits`](super::Snapshot::waits)
    /// is set.
    pub const fn is_off_cpu(self) -> bool {
        matches!(self, Self::Waiting | Self::Ready | Self::UnplacedWaiting)
    }

    /// Returns whether the values are levels at the time of the snapshot, and not counts since a reset. Levels are
    /// never subtracted, and a sum of several snapshots has the levels of the last one.
    pub const fn is_level(self) -> bool {
        matches!(
            self,
            Self::LiveBytes | Self::LiveVariance | Self::InFlight | Self::EndedElsewhere
        )
    }

    /// Returns whether the values are counted by the program's allocator, which counts either all of these quantities
    /// or none of them.
    pub const fn is_of_allocator(self) -> bool {
        matches!(
            self,
            Self::Allocations | Self::AllocatedBytes | Self::Frees | Self::FreedBytes
        )
    }

    /// Returns whether rows have this quantity. If not, only threads have it.
    pub const fn is_of_rows(self) -> bool {
        !matches!(self, Self::UnplacedWaiting)
    }

    /// Returns whether the quantity is about futures. These quantities only make sense together.
    pub const fn is_of_futures(self) -> bool {
        matches!(
            self,
            Self::Polls
                | Self::FutureEnds
                | Self::FutureCancels
                | Self::FutureTime
                | Self::InFlight
                | Self::EndedElsewhere
                | Self::ScheduledTime
                | Self::ScheduledPolls
                | Self::FutureVanished
        )
    }
}

/// Lists the quantities in the order of their codes, each with its key in JSON reports.
macro_rules! members {
    ($($quantity:ident: $name:literal,)*) => {
        impl Quantity {
            /// All variants, in the order of their codes.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$quantity),*];

            /// Returns the key that JSON reports use for a row's own value.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$quantity => $name,)*
                }
            }

            /// Returns the key that JSON reports use for a row's value including callees.
            pub const fn total_name(self) -> &'static str {
                match self {
                    $(Self::$quantity => concat!("total_", $name),)*
                }
            }

            /// Returns the key that JSON reports use for a thread's value outside any scope.
            pub const fn outside_name(self) -> &'static str {
                if !self.is_of_rows() {
                    return self.name();
                }
                match self {
                    $(Self::$quantity => concat!("outside_", $name),)*
                }
            }
        }
    };
}

members! {
    Allocations: "allocations",
    AllocatedBytes: "allocated_bytes",
    Frees: "frees",
    FreedBytes: "freed_bytes",
    Waiting: "waiting_ns",
    Ready: "ready_ns",
    UnplacedWaiting: "unplaced_waiting_ns",
    MadeOthersWait: "made_others_wait_ns",
    LiveBytes: "live_bytes",
    LiveVariance: "live_bytes_error",
    Polls: "polls",
    FutureEnds: "future_ends",
    FutureCancels: "future_cancels",
    FutureTime: "future_time_ns",
    InFlight: "in_flight",
    EndedElsewhere: "ended_elsewhere",
    ScheduledTime: "scheduled_ns",
    ScheduledPolls: "scheduled_polls",
    Sampled: "sampled_ns",
    FutureVanished: "future_vanished",
}

/// The values of one quantity. Both lists contain pairs of index and value, in ascending order of the indices. A
/// missing index has the value 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Values of the rows themselves, without callees, by row index.
    pub rows: Vec<(u32, u64)>,
    /// Values outside any scope, by thread index.
    pub outside: Vec<(u32, u64)>,
}

/// Measurements of each row besides calls and time. There is a column for each quantity that is not 0 everywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    columns: BTreeMap<Quantity, Column>,
}

impl Column {
    /// Returns the value of a row.
    pub fn of_row(&self, row: u32) -> u64 {
        of(&self.rows, row)
    }

    /// Returns a thread's value outside any scope.
    pub fn of_outside(&self, thread: u32) -> u64 {
        of(&self.outside, thread)
    }

    /// Returns the values of all rows. `rows` is the number of rows.
    pub fn dense(&self, rows: usize) -> Vec<u64> {
        let mut dense = vec![0; rows];
        for &(row, value) in &self.rows {
            if let Some(place) = dense.get_mut(row as usize) {
                *place = value;
            }
        }
        dense
    }

    fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.outside.is_empty()
    }
}

impl Measures {
    /// Returns whether no quantity was counted.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Returns the column of a quantity, or `None` if the quantity was not counted.
    pub fn of(&self, quantity: Quantity) -> Option<&Column> {
        self.columns.get(&quantity)
    }

    /// Returns the value of a quantity in a row; 0 if it is unknown.
    pub fn of_row(&self, quantity: Quantity, row: u32) -> u64 {
        self.of(quantity).map_or(0, |column| column.of_row(row))
    }

    /// Returns a thread's value of a quantity outside any scope; 0 if it is unknown.
    pub fn of_outside(&self, quantity: Quantity, thread: u32) -> u64 {
        self.of(quantity).map_or(0, |column| column.of_outside(thread))
    }

    /// Returns the values of a quantity in all rows. `rows` is the number of rows.
    pub fn dense(&self, quantity: Quantity, rows: usize) -> Vec<u64> {
        self.of(quantity)
            .map_or_else(|| vec![0; rows], |column| column.dense(rows))
    }

    /// Returns all columns, in the order of the quantities.
    pub fn iter(&self) -> impl Iterator<Item = (Quantity, &Column)> {
        self.columns.iter().map(|(&quantity, column)| (quantity, column))
    }

    /// Sets the column of a quantity. If `column` is empty, any existing column is removed.
    pub fn set(&mut self, quantity: Quantity, column: Column) {
        if column.is_empty() {
            self.columns.remove(&quantity);
        } else {
            self.columns.insert(quantity, column);
        }
    }

    /// Removes the column of a quantity and returns it. If the quantity was not counted, the returned column is empty.
    pub fn take(&mut self, quantity: Quantity) -> Column {
        self.columns.remove(&quantity).unwrap_or_default()
    }

    /// Removes all values outside any scope.
    pub fn clear_outside(&mut self) {
        self.columns.retain(|_, column| {
            column.outside.clear();
            !column.is_empty()
        });
    }

    /// Returns how many ticks each row spent off the CPU, either waiting or ready. `rows` is the number of rows.
    pub fn off_cpu_by_row(&self, rows: usize) -> Vec<u64> {
        let [mut off, ready] = [Quantity::Waiting, Quantity::Ready].map(|off| self.dense(off, rows));
        for (off, ready) in off.iter_mut().zip(ready) {
            *off = off.saturating_add(ready);
        }
        off
    }

    /// Limits each row's time off the CPU to its self ticks. It can be larger if it is the difference of two captures.
    pub fn hold_off_cpu(&mut self, self_ticks: &[u64]) {
        let own = |row: u32| self_ticks.get(row as usize).copied().unwrap_or(0);
        let [mut waiting, mut ready] = [Quantity::Waiting, Quantity::Ready].map(|off| self.take(off));
        for (row, ticks) in &mut waiting.rows {
            *ticks = (*ticks).min(own(*row));
        }
        for (row, ticks) in &mut ready.rows {
            *ticks = (*ticks).min(own(*row) - waiting.of_row(*row));
        }
        for (quantity, mut column) in [(Quantity::Waiting, waiting), (Quantity::Ready, ready)] {
            column.rows.retain(|&(_, ticks)| ticks > 0);
            self.set(quantity, column);
        }
    }

    /// Reduces values, starting with the last ones, until the sum of each column is at most `most`.
    pub fn hold(&mut self, most: u64) {
        for column in self.columns.values_mut() {
            let mut left = most;
            for (_, value) in column.rows.iter_mut().chain(&mut column.outside) {
                *value = (*value).min(left);
                left -= *value;
            }
            column.rows.retain(|&(_, value)| value > 0);
            column.outside.retain(|&(_, value)| value > 0);
        }
    }

    /// Appends the value of a row. Rows must be added in ascending order.
    pub fn push_row(&mut self, quantity: Quantity, row: u32, value: u64) {
        if value > 0 {
            self.columns.entry(quantity).or_default().rows.push((row, value));
        }
    }

    /// Appends a thread's value outside any scope. Threads must be added in ascending order.
    pub fn push_outside(&mut self, quantity: Quantity, thread: u32, value: u64) {
        if value > 0 {
            let column = self.columns.entry(quantity).or_default();
            column.outside.push((thread, value));
        }
    }
}

fn of(values: &[(u32, u64)], index: u32) -> u64 {
    let at = values.binary_search_by_key(&index, |&(index, _)| index);
    at.map_or(0, |at| values[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_records_and_names_differ() {
        assert!(Quantity::ALL.map(Quantity::code).into_iter().eq(0..20));
        for quantity in Quantity::ALL {
            assert_eq!(Quantity::of_code(quantity.code()), Some(quantity));
            let same = Quantity::ALL
                .iter()
                .filter(|other| other.name() == quantity.name());
            assert_eq!(same.count(), 1);
        }
        assert_eq!(Quantity::of_code(1_000), None);
    }

    #[test]
    fn the_error_of_live_bytes_grows_with_the_root_of_the_samples() {
        assert_eq!(live_error(0), 4 * LIVE_SAMPLE_BYTES);
        let of_one = LIVE_SAMPLE_BYTES * LIVE_SAMPLE_BYTES;
        assert_eq!(live_error(99 * of_one), 22 * LIVE_SAMPLE_BYTES);
    }
}
