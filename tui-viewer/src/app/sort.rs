//! The order of rows: by one column, and steady where its values are equal.

use std::cell::OnceCell;
use std::cmp::Ordering;

use tickscope_format::Snapshot;
use tickscope_format::snapshot::Values;

use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::keyhash::KeyMap;
use crate::app::row::{Row, RowId};
use crate::app::tails::Tail;

/// The value that rows are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortKey {
    /// Total time.
    Total,
    /// Self time.
    SelfTime,
    /// Waiting time as a part of the total time.
    Wait,
    /// Time ready without a CPU, as a part of the total time.
    Ready,
    /// Number of calls.
    Calls,
    /// Total time of a call.
    Avg,
    /// Time that this percentage of calls did not exceed.
    Quantile(u8),
    /// The longest call.
    Max,
    /// The name.
    Name,
    /// Share of a CPU in the last interval.
    Busy,
    /// Time on a CPU.
    Cpu,
    /// Time outside any scope.
    Outside,
    /// State of a thread, or whether a site is switched off.
    State,
    /// Kernel id of a thread.
    Tid,
    /// Calls of a future that are in flight.
    InFlight,
    /// Time since the oldest call in flight began.
    Oldest,
    /// Time between polls of a call.
    Await,
    /// Polls of a call.
    Polls,
    /// Calls that were dropped before they were ready.
    Cancelled,
    /// Time in a slow call above the time in a typical call.
    Difference,
    /// Time in a typical call.
    Typical,
    /// Time in a slow call.
    Slow,
}

/// A key and a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sort {
    /// Value that rows are compared by.
    pub(crate) key: SortKey,
    /// Whether the order is against the key's own direction: smallest number first, last name first.
    pub(crate) reversed: bool,
}

/// The order of the rows before, and whether it must stay.
#[derive(Debug, Default)]
pub(crate) struct Before<'a> {
    rows: &'a [Row],
    /// Places of rows, made when first asked for, because an order without equal values does not need them.
    ranks: OnceCell<KeyMap<RowId, u32>>,
    /// Whether rows that were there keep their order at any values; new rows follow.
    pub(crate) hold: bool,
    /// Whether threads that do the same work change places only where a thread is clearly ahead.
    pub(crate) calm: bool,
}

impl SortKey {
    /// Whether rows of differences are compared by the change of this value. A value without a difference on the
    /// screen is compared by its current amount.
    pub(crate) fn is_compared(self) -> bool {
        !matches!(self, Self::Name | Self::Busy | Self::State | Self::Tid)
    }

    /// Whether the value is a sum, so that a call of a row has a mean part of it.
    fn adds_up(self) -> bool {
        matches!(
            self,
            Self::Total | Self::SelfTime | Self::Wait | Self::Ready | Self::Calls | Self::Cpu | Self::Outside
        )
    }
}

impl Sort {
    /// Returns an order in the key's own direction.
    pub(crate) fn by(key: SortKey) -> Self {
        Self { key, reversed: false }
    }

    /// Whether the column rises from top to bottom.
    pub(crate) fn rises(self) -> bool {
        (self.key == SortKey::Name) != self.reversed
    }

    /// Whether functions are compared by their self time on a CPU.
    pub(crate) fn is_of_work(self, snapshot: &Snapshot) -> bool {
        // Another measure names itself.
        self.key == SortKey::SelfTime && snapshot.values == Values::Time && snapshot.waits
    }

    /// Returns the weight of a row: the smallest comes first. Names have no weight; `arrange` compares them. A
    /// difference counts by its size.
    fn weight(self, data: &Data, what: What) -> u64 {
        let largest_first = match &data.then {
            // Paths of watched functions show current numbers, also beside numbers of another time.
            Some(_) if self.key.is_compared() && !self.is_now(what) => {
                let then = data
                    .counterpart(what)
                    .map_or(0, |(then, there)| self.per_call(then, there));
                self.per_call(data, what).abs_diff(then)
            }
            Some(_) | None => self.measure(data, what),
        };
        if self.reversed {
            largest_first
        } else {
            !largest_first
        }
    }

    /// Whether the rows show current numbers, also beside numbers of another time: the rows of the view Slow do.
    fn is_now(self, what: What) -> bool {
        matches!(what, What::Slow(_)) || self.key == SortKey::Difference
    }

    /// Returns the value per call where numbers are per call, because each side has its own calls.
    fn per_call(self, data: &Data, what: What) -> u64 {
        let measure = self.measure(data, what);
        match data.per_calls.filter(|_| self.key.adds_up()) {
            None => measure,
            Some(0) => 0,
            Some(calls) => {
                // The weight is finer than whole nanoseconds, else all short calls would be equal.
                let fine = u128::from(measure) * 1_000 / u128::from(calls);
                u64::try_from(fine).unwrap_or(u64::MAX)
            }
        }
    }

    fn measure(self, data: &Data, what: What) -> u64 {
        let figures = data.figures(what);
        match self.key {
            SortKey::Total => figures.total_ns,
            // Waits are left out, so that joins and parks are not the hottest functions.
            SortKey::SelfTime if matches!(what, What::Hot(_)) && self.is_of_work(&data.snapshot) => {
                let off = figures.self_off;
                figures
                    .self_ns
                    .saturating_sub(off.waiting_ns.saturating_add(off.ready_ns))
            }
            SortKey::SelfTime => figures.self_ns,
            SortKey::Wait => figures.total_off.waiting_ns,
            SortKey::Ready => figures.total_off.ready_ns,
            SortKey::Calls if matches!(what, What::Slow(_)) => self.weight_of_its_kind(data, what),
            SortKey::Calls => figures.calls,
            SortKey::Avg if matches!(what, What::Task(_)) => self.weight_of_its_kind(data, what),
            // A row without calls has no average and stands below all rows with an average.
            SortKey::Avg => figures.avg_ns().map_or(0, |ns| ns.saturating_add(1)),
            // Numbers of values do not compare with times.
            SortKey::Quantile(_) | SortKey::Max if figures.tally.is_some() => 0,
            SortKey::Quantile(percent) => data
                .latency(what)
                .quantile(f64::from(percent) / 100.0)
                .map_or(0, |ticks| ticks.saturating_add(1)),
            SortKey::Max => data
                .latency(what)
                .max()
                .map_or(0, |(ticks, _)| ticks.saturating_add(1)),
            SortKey::Busy
            | SortKey::Cpu
            | SortKey::Outside
            | SortKey::State
            | SortKey::Tid
            | SortKey::InFlight
            | SortKey::Oldest
            | SortKey::Await
            | SortKey::Polls
            | SortKey::Cancelled
            | SortKey::Difference
            | SortKey::Typical
            | SortKey::Slow => self.weight_of_its_kind(data, what),
            SortKey::Name => 0,
        }
    }

    /// Returns the value of keys that only one kind of row has: the largest comes first.
    fn weight_of_its_kind(self, data: &Data, what: What) -> u64 {
        if let What::Task(row) = what {
            let row = &data.tasks().rows[row as usize];
            return match self.key {
                SortKey::InFlight => row.in_flight,
                SortKey::Oldest => row.oldest_ns,
                SortKey::Await => row.mean_await_ns().map_or(0, |ns| ns.saturating_add(1)),
                SortKey::Polls => row.polls.saturating_mul(1_000) / row.started.max(1),
                SortKey::Cancelled => row.cancelled,
                SortKey::Avg => row.mean_busy_ns().map_or(0, |ns| ns.saturating_add(1)),
                SortKey::Total | SortKey::SelfTime | SortKey::Wait | SortKey::Ready | SortKey::Calls => 0,
                SortKey::Quantile(_) | SortKey::Max | SortKey::Name | SortKey::Busy | SortKey::Cpu => 0,
                SortKey::Outside | SortKey::State | SortKey::Tid => 0,
                SortKey::Difference | SortKey::Typical | SortKey::Slow => 0,
            };
        }
        if let What::Slow(row) = what {
            return self.weight_of_path(data, row);
        }
        // Only the view Slow compares functions by a value that is not in their figures.
        if let What::Hot(_) = what {
            return data.tail(what).map_or(0, Tail::weight);
        }
        if let What::Site(row) = what {
            return u64::MAX - data.sites()[row as usize].state as u64;
        }
        let What::Thread(row) = what else { return 0 };
        let (row, thread) = (
            &data.threads()[row as usize],
            &data.snapshot.threads[row as usize],
        );
        match self.key {
            // The value is in whole percents, so that equally busy threads do not change places all the time.
            SortKey::Busy => row.busy.map_or(0, |busy| (busy * 100.0).round() as u64 + 1),
            SortKey::Cpu => thread.cpu_ns.map_or(0, |ns| ns.saturating_add(1)),
            SortKey::Outside => row.outside_ns,
            SortKey::State => u64::MAX - row.run_state as u64,
            SortKey::Tid => u64::from(u32::MAX - thread.tid),
            SortKey::Total | SortKey::SelfTime | SortKey::Calls | SortKey::Avg | SortKey::Name => 0,
            SortKey::Quantile(_) | SortKey::Max | SortKey::Wait | SortKey::Ready => 0,
            SortKey::InFlight | SortKey::Oldest | SortKey::Await | SortKey::Polls | SortKey::Cancelled => 0,
            SortKey::Difference | SortKey::Typical | SortKey::Slow => 0,
        }
    }

    /// Returns the value by which paths of watched functions are compared.
    fn weight_of_path(self, data: &Data, row: u32) -> u64 {
        let means = &data.slow().rows[row as usize].means;
        let value = match self.key {
            SortKey::Typical => means.typical.map(|typical| typical.ns),
            SortKey::Slow => means.slow.map(|slow| slow.ns),
            SortKey::Calls => means.slow.map(|slow| slow.calls * 1e3),
            // Without slow calls the longest typical time comes first.
            SortKey::Difference
            | SortKey::Total
            | SortKey::SelfTime
            | SortKey::Wait
            | SortKey::Ready
            | SortKey::Avg
            | SortKey::Quantile(_)
            | SortKey::Max
            | SortKey::Name
            | SortKey::Busy
            | SortKey::Cpu
            | SortKey::Outside
            | SortKey::State
            | SortKey::Tid
            | SortKey::InFlight
            | SortKey::Oldest
            | SortKey::Await
            | SortKey::Polls
            | SortKey::Cancelled => means.difference_ns().or(means.typical.map(|typical| typical.ns)),
        };
        // Differences may be below zero.
        const ZERO: f64 = (1u64 << 62) as f64;
        (value.unwrap_or(0.0) * 16.0 + ZERO).max(0.0) as u64
    }

    /// Moves a row up from its former place only where it is ahead by more than a twentieth. Workers with shared work overtake
    /// each other all the time.
    fn calm(self, rank: &impl Fn(What) -> u32, keyed: &mut [(u32, u64, What)]) {
        keyed.sort_by_cached_key(|&(.., what)| rank(what));
        let clearly_less = |a: u64, b: u64| b - b / 20 > a;
        let is_ahead = |a: u64, b: u64| match self.reversed {
            true => clearly_less(a, b),
            // Weights of keys with the largest value first are inverted.
            false => clearly_less(!b, !a),
        };
        for end in 1..keyed.len() {
            for at in (1..=end).rev() {
                if !is_ahead(keyed[at].1, keyed[at - 1].1) {
                    break;
                }
                keyed.swap(at, at - 1);
            }
        }
    }

    /// Puts siblings in order.
    pub(crate) fn arrange(self, data: &Data, before: &Before<'_>, items: &mut [What]) {
        if items.len() < 2 {
            return;
        }
        let rank = |what: What| before.rank(data.id(what));
        let by_name = |a: What, b: What| match (self.key == SortKey::Name, self.reversed) {
            // Changes are often equal, and now and then in turn, so equal rows are in the order of names.
            (false, _) if data.then.is_some() && self.key.is_compared() => data.label(a).cmp(data.label(b)),
            (false, _) => Ordering::Equal,
            (true, false) => data.label(a).cmp(data.label(b)),
            (true, true) => data.label(b).cmp(data.label(a)),
        };
        // The weight is looked up once for each row, not for each comparison.
        let mut keyed: Vec<(u32, u64, What)> = items
            .iter()
            .map(|&what| {
                let held = if before.hold { rank(what) } else { 0 };
                (held, self.weight(data, what), what)
            })
            .collect();
        let order = |a: &(u32, u64, What), b: &(u32, u64, What)| {
            let by_value = a.0.cmp(&b.0).then(a.1.cmp(&b.1));
            by_value.then_with(|| by_name(a.2, b.2))
        };
        keyed.sort_by(order);
        for equal in keyed.chunk_by_mut(|a, b| order(a, b) == Ordering::Equal) {
            if equal.len() > 1 {
                equal.sort_by_cached_key(|&(.., what)| rank(what));
            }
        }
        let counts = !matches!(self.key, SortKey::Name | SortKey::State | SortKey::Tid);
        if before.calm && !before.hold && counts && matches!(keyed[0].2, What::Thread(_)) {
            self.calm(&rank, &mut keyed);
        }
        for (item, (.., what)) in items.iter_mut().zip(keyed) {
            *item = what;
        }
    }
}

impl<'a> Before<'a> {
    /// Takes the order of a list as it is.
    pub(crate) fn of(rows: &'a [Row], hold: bool) -> Self {
        Self {
            rows,
            ranks: OnceCell::new(),
            hold,
            calm: false,
        }
    }

    /// Returns the former place of a row; new rows stand behind all others.
    fn rank(&self, id: RowId) -> u32 {
        let ranks = self.ranks.get_or_init(|| {
            let ranks = self.rows.iter().enumerate();
            ranks.map(|(rank, row)| (row.id, rank as u32)).collect()
        });
        ranks.get(&id).copied().unwrap_or(u32::MAX)
    }
}
