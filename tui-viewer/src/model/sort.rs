//! The order of rows: by one column, and steady where it has nothing to say.

use std::cmp::Ordering;

use crate::model::data::{Data, What};
use crate::model::keyhash::KeyMap;
use crate::model::row::{Row, RowId};
use crate::model::view::View;

/// What rows are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortKey {
    /// Total time.
    Total,
    /// Self time.
    SelfTime,
    /// Number of calls.
    Calls,
    /// Total time of a call.
    Avg,
    /// What half of the calls did not exceed.
    P50,
    /// What 99 of 100 calls did not exceed.
    P99,
    /// The longest call.
    Max,
    /// The name.
    Name,
    /// Its share of a CPU in the last interval.
    Busy,
    /// Time on a CPU.
    Cpu,
    /// Time outside any scope.
    Outside,
    /// What it does, or whether it is switched off.
    State,
    /// The kernel's id.
    Tid,
}

/// A key and a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sort {
    /// What rows are compared by.
    pub(crate) key: SortKey,
    /// Against the key's own direction: smallest number first, last name first.
    pub(crate) reversed: bool,
}

/// Where each row stood before, and whether it must stay there.
#[derive(Debug, Default)]
pub(crate) struct Before {
    ranks: KeyMap<RowId, u32>,
    /// Rows that were there keep their order, whatever their values; new ones follow.
    pub(crate) hold: bool,
}

// === impl Sort ===

impl Sort {
    /// The order a view starts with.
    pub(crate) fn of(view: View) -> Self {
        let key = match view {
            View::Tree | View::Function | View::Flame => SortKey::Total,
            View::Threads => SortKey::Busy,
            View::Hot => SortKey::SelfTime,
            View::Sites => SortKey::Calls,
        };
        Self { key, reversed: false }
    }

    /// Whether the column rises from top to bottom.
    pub(crate) fn rises(self) -> bool {
        (self.key == SortKey::Name) != self.reversed
    }

    /// What a row is compared by: the smallest comes first. Names are compared where they stand.
    fn weight(self, data: &Data, what: What) -> u64 {
        let figures = data.figures(what);
        let largest_first = match self.key {
            SortKey::Total => figures.total_ns,
            SortKey::SelfTime => figures.self_ns,
            SortKey::Calls => figures.calls,
            // A row without calls has no average and stands below all that have one.
            SortKey::Avg => figures.avg_ns().map_or(0, |ns| ns.saturating_add(1)),
            SortKey::P50 => data
                .latency(what)
                .quantile(0.50)
                .map_or(0, |ticks| ticks.saturating_add(1)),
            SortKey::P99 => data
                .latency(what)
                .quantile(0.99)
                .map_or(0, |ticks| ticks.saturating_add(1)),
            SortKey::Max => data
                .latency(what)
                .max()
                .map_or(0, |(ticks, _)| ticks.saturating_add(1)),
            SortKey::Busy | SortKey::Cpu | SortKey::Outside | SortKey::State | SortKey::Tid => {
                self.weight_of_its_kind(data, what)
            }
            SortKey::Name => 0,
        };
        if self.reversed {
            largest_first
        } else {
            !largest_first
        }
    }

    /// What only threads and sites are compared by: the largest comes first.
    fn weight_of_its_kind(self, data: &Data, what: What) -> u64 {
        if let What::Site(row) = what {
            return u64::MAX - data.sites()[row as usize].state as u64;
        }
        let What::Thread(row) = what else { return 0 };
        let (row, thread) = (
            &data.threads()[row as usize],
            &data.snapshot.threads[row as usize],
        );
        match self.key {
            // In whole percents, so that threads that are busy alike do not change places all the time.
            SortKey::Busy => row.busy.map_or(0, |busy| (busy * 100.0).round() as u64 + 1),
            SortKey::Cpu => thread.cpu_ns.map_or(0, |ns| ns.saturating_add(1)),
            SortKey::Outside => row.outside_ns,
            SortKey::State => u64::MAX - row.activity as u64,
            SortKey::Tid => u64::from(u32::MAX - thread.tid),
            SortKey::Total | SortKey::SelfTime | SortKey::Calls | SortKey::Avg | SortKey::Name => 0,
            SortKey::P50 | SortKey::P99 | SortKey::Max => 0,
        }
    }

    /// Puts siblings in order.
    pub(crate) fn arrange(self, data: &Data, before: &Before, items: &mut [What]) {
        if items.len() < 2 {
            return;
        }
        let rank = |what: What| before.ranks.get(&data.id(what)).copied().unwrap_or(u32::MAX);
        let by_name = |a: What, b: What| match (self.key == SortKey::Name, self.reversed) {
            (false, _) => Ordering::Equal,
            (true, false) => data.label(a).cmp(data.label(b)),
            (true, true) => data.label(b).cmp(data.label(a)),
        };
        // Looked up once for each row, not for each comparison.
        let mut keyed: Vec<(u32, u64, What)> = items
            .iter()
            .map(|&what| (rank(what), self.weight(data, what), what))
            .collect();
        keyed.sort_by(|a, b| {
            let by_value = || a.1.cmp(&b.1).then_with(|| by_name(a.2, b.2));
            if before.hold {
                a.0.cmp(&b.0).then_with(by_value)
            } else {
                by_value().then(a.0.cmp(&b.0))
            }
        });
        for (item, (.., what)) in items.iter_mut().zip(keyed) {
            *item = what;
        }
    }
}

// === impl Before ===

impl Before {
    /// The order of a list as it is.
    pub(crate) fn of(rows: &[Row], hold: bool) -> Self {
        let ranks = rows
            .iter()
            .enumerate()
            .map(|(rank, row)| (row.id, rank as u32))
            .collect();
        Self { ranks, hold }
    }
}
