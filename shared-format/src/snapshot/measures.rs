//! Quantities of rows other than calls and time, as sparse columns, one for each quantity.

use std::collections::BTreeMap;

/// A quantity that is counted by row, other than calls and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Quantity {
    /// Allocations, and reallocations to another size.
    Allocations,
    /// Bytes requested in these allocations.
    AllocatedBytes,
    /// Freed blocks, and reallocations to another size. They are charged to the row that frees.
    Frees,
    /// Bytes of the freed blocks.
    FreedBytes,
    /// Ticks in which the thread was off its CPU and could not have run. They are a part of the self ticks.
    Waiting,
    /// Ticks in which the thread could have run and had no CPU. They are a part of the self ticks.
    Ready,
    /// Ticks off the CPU in gaps that are too short to be examined; a gap lies between two events. Only
    /// threads have this quantity.
    UnplacedWaiting,
    /// Ticks that other threads waited, in sum, for locks that this row held and released. They are not part of the
    /// self ticks, and may exceed them.
    MadeOthersWait,
    /// Bytes that the row has allocated and that have not been freed yet, estimated from samples. It is a level at the
    /// moment of the snapshot.
    LiveBytes,
    /// Variance of the estimate of live bytes, in bytes squared. Variances add up; see [`live_error`].
    LiveVariance,
    /// Polls of futures.
    Polls,
    /// Calls of futures that became ready.
    FutureEnds,
    /// Calls of futures that were dropped before they were ready.
    FutureCancels,
    /// Time of the ended calls, each from its first poll to its end, in ticks.
    FutureTime,
    /// Calls of futures that have begun in the row and have not ended there. It is a level, not a count since a reset.
    InFlight,
    /// Calls of futures that have ended in the row and began in another row, for example of another thread. It is a
    /// level. The calls in flight of several rows are the sum of [`InFlight`](Self::InFlight) less the sum of this
    /// quantity.
    EndedElsewhere,
    /// Time for which woken tasks waited until they were polled, in ticks.
    ScheduledTime,
    /// Polls of woken tasks.
    ScheduledPolls,
    /// Ticks of functions or calls that are not counted, known from samples of the code. They are a part of the self
    /// ticks. No program counts them: `tickscope-analysis` makes rows from samples, and kept snapshots contain these
    /// rows with their names.
    Sampled,
    /// Calls of futures that are over but whose end was not seen, so that they have no time.
    FutureVanished,
}

/// Bytes that a program allocates on average for each block that is sampled for [`Quantity::LiveBytes`].
pub const LIVE_SAMPLE_BYTES: u64 = 512 * 1024;

/// Returns the largest error of [`Quantity::LiveBytes`] in bytes, in at least 19 of 20 cases. `variance` is the sum of
/// the variances. The result is `2 R + 2 sqrt(variance + R^2)`, where R is [`LIVE_SAMPLE_BYTES`], because blocks may
/// exist even without a sample.
pub fn live_error(variance: u64) -> u64 {
    let mean = LIVE_SAMPLE_BYTES as f64;
    (2.0 * mean + 2.0 * (variance as f64 + mean * mean).sqrt()).round() as u64
}

impl Quantity {
    /// Returns the code of the quantity in records, which never changes.
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// Returns the quantity with this code, or `None` if this version does not know it.
    pub fn of_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|quantity| quantity.code() == code)
    }

    /// Returns whether the values are ticks of the program's clock. Reports show them in nanoseconds.
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

    /// Returns whether the values are levels at the moment of the snapshot, and not counts since a reset. Levels are
    /// never subtracted, and a sum of several snapshots takes them from the last one.
    pub const fn is_level(self) -> bool {
        matches!(
            self,
            Self::LiveBytes | Self::LiveVariance | Self::InFlight | Self::EndedElsewhere
        )
    }

    /// Returns whether the program's allocator counts the values. An allocator counts all of these quantities or none.
    pub const fn is_of_allocator(self) -> bool {
        matches!(
            self,
            Self::Allocations | Self::AllocatedBytes | Self::Frees | Self::FreedBytes
        )
    }

    /// Returns whether rows have this quantity, and not only threads.
    pub const fn is_of_rows(self) -> bool {
        !matches!(self, Self::UnplacedWaiting)
    }

    /// Returns whether the quantity belongs to futures. These quantities are only meaningful together.
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

/// Lists the quantities in the order of their codes, each with its member of JSON reports.
macro_rules! members {
    ($($quantity:ident: $name:literal,)*) => {
        impl Quantity {
            /// All variants, in the order of their codes.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$quantity),*];

            /// Returns the member of JSON reports that has a row's own value.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$quantity => $name,)*
                }
            }

            /// Returns the member of JSON reports that has a row's value with callees.
            pub const fn total_name(self) -> &'static str {
                match self {
                    $(Self::$quantity => concat!("total_", $name),)*
                }
            }

            /// Returns the member of JSON reports that has a thread's value outside any scope.
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

/// Values of one quantity, each with its index, in rising order. Missing indices have the value 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Column {
    /// Values of rows themselves, by the index of the row.
    pub rows: Vec<(u32, u64)>,
    /// Values outside any scope, by the index of the thread.
    pub outside: Vec<(u32, u64)>,
}

/// Quantities of rows other than calls and time, with a column for each quantity that is not 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    columns: BTreeMap<Quantity, Column>,
}

impl Column {
    /// Returns the value of a row.
    pub fn of_row(&self, row: u32) -> u64 {
        of(&self.rows, row)
    }

    /// Returns the value of a thread outside any scope.
    pub fn of_outside(&self, thread: u32) -> u64 {
        of(&self.outside, thread)
    }

    /// Returns the values of all rows; `rows` is their number.
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

    /// Returns the column of a quantity, or `None` if it was not counted.
    pub fn of(&self, quantity: Quantity) -> Option<&Column> {
        self.columns.get(&quantity)
    }

    /// Returns the value of a quantity in a row; 0 if it is not known.
    pub fn of_row(&self, quantity: Quantity, row: u32) -> u64 {
        self.of(quantity).map_or(0, |column| column.of_row(row))
    }

    /// Returns the value of a quantity in a thread outside any scope; 0 if it is not known.
    pub fn of_outside(&self, quantity: Quantity, thread: u32) -> u64 {
        self.of(quantity).map_or(0, |column| column.of_outside(thread))
    }

    /// Returns the values of a quantity in all rows; `rows` is their number.
    pub fn dense(&self, quantity: Quantity, rows: usize) -> Vec<u64> {
        self.of(quantity)
            .map_or_else(|| vec![0; rows], |column| column.dense(rows))
    }

    /// Returns all columns, in the order of the quantities.
    pub fn iter(&self) -> impl Iterator<Item = (Quantity, &Column)> {
        self.columns.iter().map(|(&quantity, column)| (quantity, column))
    }

    /// Sets the column of a quantity. If `column` is empty, removes the present column.
    pub fn set(&mut self, quantity: Quantity, column: Column) {
        if column.is_empty() {
            self.columns.remove(&quantity);
        } else {
            self.columns.insert(quantity, column);
        }
    }

    /// Removes the column of a quantity, and returns it. The column is empty if the quantity was not counted.
    pub fn take(&mut self, quantity: Quantity) -> Column {
        self.columns.remove(&quantity).unwrap_or_default()
    }

    /// Removes the values outside any scope.
    pub fn clear_outside(&mut self) {
        self.columns.retain(|_, column| {
            column.outside.clear();
            !column.is_empty()
        });
    }

    /// Returns the ticks that each row was off the CPU, waiting or ready. `rows` is the number of rows.
    pub fn off_cpu_by_row(&self, rows: usize) -> Vec<u64> {
        let [mut off, ready] = [Quantity::Waiting, Quantity::Ready].map(|off| self.dense(off, rows));
        for (off, ready) in off.iter_mut().zip(ready) {
            *off = off.saturating_add(ready);
        }
        off
    }

    /// Lowers each row's time off the CPU to at most its self ticks, because the difference of two captures may be larger.
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

    /// Lowers values, the last ones first, so that each column adds up to at most `most`.
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

    /// Appends the value of a row. Rows must be added in rising order.
    pub fn push_row(&mut self, quantity: Quantity, row: u32, value: u64) {
        if value > 0 {
            self.columns.entry(quantity).or_default().rows.push((row, value));
        }
    }

    /// Appends the value of a thread outside any scope. Threads must be added in rising order.
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
