//! The order of rows: by one column, and steady where it has nothing to say.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::model::data::{Data, What};
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
    /// The name.
    Name,
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
    ranks: HashMap<RowId, u32>,
    /// Rows that were there keep their order, whatever their values; new ones follow.
    pub(crate) hold: bool,
}

// === impl Sort ===

impl Sort {
    /// The order a view starts with.
    pub(crate) fn of(view: View) -> Self {
        let key = match view {
            View::Tree => SortKey::Total,
            View::Hot => SortKey::SelfTime,
        };
        Self { key, reversed: false }
    }

    /// Whether the column rises from top to bottom.
    pub(crate) fn rises(self) -> bool {
        (self.key == SortKey::Name) != self.reversed
    }

    fn compare(self, data: &Data, a: What, b: What) -> Ordering {
        let (x, y) = (data.figures(a), data.figures(b));
        let order = match self.key {
            SortKey::Total => y.total_ns.cmp(&x.total_ns),
            SortKey::SelfTime => y.self_ns.cmp(&x.self_ns),
            SortKey::Calls => y.calls.cmp(&x.calls),
            SortKey::Avg => y.avg_ns().cmp(&x.avg_ns()),
            SortKey::Name => data.label(a).cmp(data.label(b)),
        };
        if self.reversed { order.reverse() } else { order }
    }

    /// Puts siblings in order.
    pub(crate) fn arrange(self, data: &Data, before: &Before, items: &mut [What]) {
        let rank = |what: What| before.ranks.get(&data.id(what)).copied().unwrap_or(u32::MAX);
        if before.hold {
            items.sort_by(|&a, &b| rank(a).cmp(&rank(b)).then_with(|| self.compare(data, a, b)));
        } else {
            items.sort_by(|&a, &b| self.compare(data, a, b).then_with(|| rank(a).cmp(&rank(b))));
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
