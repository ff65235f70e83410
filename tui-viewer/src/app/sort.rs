//! The order of rows, by the values of one column. Rows with equal values keep their order.

use std::cell::OnceCell;
use std::cmp::Ordering;

use tickscope_format::Snapshot;
use tickscope_format::snapshot::Values;

use crate::app::data::Data;
use crate::app::keyhash::KeyMap;
use crate::app::row::{Row, RowId, What};

/// The value by which rows are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    /// Name that identifies the order. Two orders with the same name are equal.
    name: &'static str,
    /// Value of a row; the largest value comes first. If `None`, names are compared.
    value: Option<fn(&Data, What) -> u64>,
    /// Whether a comparison of two moments sorts rows by how much the value changed. If not, the screen does not show the
    /// change, and rows are sorted by the current value.
    pub(crate) is_compared: bool,
    /// Whether the value is a sum over calls, so that it can be divided by the number of calls.
    adds_up: bool,
    /// Whether the value changes all the time.
    is_amount: bool,
}

impl PartialEq for Order {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Order {
    /// Order of names.
    pub(crate) const NAME: Self = Self {
        value: None,
        ..Self::of("name", |_, _| 0).fixed()
    };
    /// Total time.
    pub(crate) const TOTAL: Self = Self::of("total", |data, what| data.figures(what).total_ns).adding_up();
    /// Self time. In the hotspots, waits are left out if they are known.
    pub(crate) const SELF: Self =
        Self::of("self", |data, what| what.table().sorted_self_ns(data, what.row)).adding_up();
    /// Number of calls.
    pub(crate) const CALLS: Self = Self::of("calls", |data, what| data.figures(what).calls).adding_up();
    /// Median latency of the finished calls.
    pub(crate) const P50: Self = Self::of("p50", |data, what| quantile(data, what, 0.5));
    /// Latency that 99 % of the finished calls did not exceed.
    pub(crate) const P99: Self = Self::of("p99", |data, what| quantile(data, what, 0.99));

    /// Returns an order by a value, the largest first.
    pub(crate) const fn of(name: &'static str, value: fn(&Data, What) -> u64) -> Self {
        Self {
            name,
            value: Some(value),
            is_compared: true,
            adds_up: false,
            is_amount: true,
        }
    }

    /// Marks the value as a sum over calls.
    pub(crate) const fn adding_up(mut self) -> Self {
        self.adds_up = true;
        self
    }

    /// Marks the value as one that is never compared with its value at another moment.
    pub(crate) const fn of_now(mut self) -> Self {
        self.is_compared = false;
        self
    }

    /// Marks the value as one that seldom changes.
    pub(crate) const fn fixed(mut self) -> Self {
        self.is_amount = false;
        self.of_now()
    }
}

/// Returns the sort value of a number that may be unknown. Rows with an unknown number come last.
pub(crate) fn or_last(number: Option<u64>) -> u64 {
    number.map_or(0, |number| number.saturating_add(1))
}

/// Returns the latency that the fraction `part` of the calls did not exceed; 0 for a counter, because its values cannot be
/// compared with times.
fn quantile(data: &Data, what: What, part: f64) -> u64 {
    match data.figures(what).tally {
        Some(_) => 0,
        None => or_last(data.latency(what).quantile(part)),
    }
}

/// Whether functions are sorted by their self time without waits. This is possible only if the values of the snapshot are
/// times and the waits are known.
pub(crate) fn leaves_out_waits(snapshot: &Snapshot) -> bool {
    snapshot.values == Values::Time && snapshot.waits
}

/// An order and a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sort {
    /// Value by which rows are compared.
    pub(crate) key: Order,
    /// Whether the order is reversed, so that the smallest number or the last name comes first.
    pub(crate) reversed: bool,
}

/// The previous order of the rows, and how far to keep it.
#[derive(Debug, Default)]
pub(crate) struct Before<'a> {
    rows: &'a [Row],
    /// Positions of the rows in the previous order. Computed on first use, because they are often not needed.
    ranks: OnceCell<KeyMap<RowId, u32>>,
    /// Whether the rows of the previous list keep their order, even if their values change. New rows come after them.
    pub(crate) hold: bool,
    /// Whether threads that share work keep their places until one of them is clearly ahead.
    pub(crate) calm: bool,
}

impl Sort {
    /// Returns a sort in the natural direction of its key.
    pub(crate) fn by(key: Order) -> Self {
        Self { key, reversed: false }
    }

    /// Whether the values in the column rise from top to bottom.
    pub(crate) fn rises(self) -> bool {
        self.key.value.is_none() != self.reversed
    }

    /// Whether functions are compared by their self time without waits.
    pub(crate) fn is_of_work(self, snapshot: &Snapshot) -> bool {
        self.key == Order::SELF && leaves_out_waits(snapshot)
    }

    /// Returns the weight of a row. Rows with the smallest weight come first. In a comparison, only the size of a change
    /// counts, not its sign. If rows are sorted by name, all weights are 0, and `arrange` compares the names.
    fn weight(self, data: &Data, what: What) -> u64 {
        let Some(value) = self.key.value else { return 0 };
        let largest_first = match &data.then {
            Some(_) if self.key.is_compared => {
                let then = data.counterpart(what);
                let then = then.map_or(0, |(then, there)| self.per_call(then, value(then, there)));
                self.per_call(data, value(data, what)).abs_diff(then)
            }
            Some(_) | None => value(data, what),
        };
        match self.reversed {
            true => largest_first,
            false => !largest_first,
        }
    }

    /// Divides a value by the number of calls, if numbers are shown per call. In a comparison, each side has its own number
    /// of calls.
    fn per_call(self, data: &Data, value: u64) -> u64 {
        match data.per_calls.filter(|_| self.key.adds_up) {
            None => value,
            Some(0) => 0,
            Some(calls) => {
                // The result is finer than whole nanoseconds, because otherwise all short calls would compare as equal.
                let fine = u128::from(value) * 1_000 / u128::from(calls);
                u64::try_from(fine).unwrap_or(u64::MAX)
            }
        }
    }

    /// Lets a row move up from its previous position only if it is ahead by more than a twentieth. Otherwise, threads that
    /// share work would constantly overtake each other on screen.
    fn calm(self, rank: &impl Fn(What) -> u32, keyed: &mut [(u32, u64, What)]) {
        keyed.sort_by_cached_key(|&(.., what)| rank(what));
        let clearly_less = |a: u64, b: u64| b - b / 20 > a;
        let is_ahead = |a: u64, b: u64| match self.reversed {
            true => clearly_less(a, b),
            // Weights are inverted if the largest value comes first.
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
        let by_name = |a: What, b: What| match (self.key.value.is_none(), self.reversed) {
            // Changes are often equal, and some go back and forth, so rows with equal changes are sorted by name.
            (false, _) if data.then.is_some() && self.key.is_compared => data.label(a).cmp(data.label(b)),
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
        if before.calm && !before.hold && self.key.is_amount && keyed[0].2.table().overtakes() {
            self.calm(&rank, &mut keyed);
        }
        for (item, (.., what)) in items.iter_mut().zip(keyed) {
            *item = what;
        }
    }
}

impl<'a> Before<'a> {
    /// Uses the current order of a list as the previous order.
    pub(crate) fn of(rows: &'a [Row], hold: bool, calm: bool) -> Self {
        Self {
            rows,
            hold,
            calm,
            ..Self::default()
        }
    }

    /// Returns the previous position of a row. New rows come after all others.
    fn rank(&self, id: RowId) -> u32 {
        let ranks = self.ranks.get_or_init(|| {
            let ranks = self.rows.iter().enumerate();
            ranks.map(|(rank, row)| (row.id, rank as u32)).collect()
        });
        ranks.get(&id).copied().unwrap_or(u32::MAX)
    }
}
