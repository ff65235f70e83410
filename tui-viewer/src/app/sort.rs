//! The order of rows, by the values of one column. Rows with equal values keep their order.

use std::cell::OnceCell;
use std::cmp::Ordering;

use tickscope_format::Snapshot;
use tickscope_format::snapshot::Values;

use crate::app::data::Data;
use crate::app::keyhash::KeyMap;
use crate::app::row::{Row, RowId, What};

/// The value that rows are compared by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    /// Name of the order. Columns sort alike if the names of their orders are equal.
    name: &'static str,
    /// Value of a row; the largest value comes first. If `None`, names are compared.
    value: Option<fn(&Data, What) -> u64>,
    /// Whether, in a comparison, rows are sorted by the change of the value. If not, the screen shows no change of the
    /// value, and rows are sorted by its current amount.
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
    /// Self time; in the hotspots without waits.
    pub(crate) const SELF: Self =
        Self::of("self", |data, what| what.table().sorted_self_ns(data, what.row)).adding_up();
    /// Number of calls.
    pub(crate) const CALLS: Self = Self::of("calls", |data, what| data.figures(what).calls).adding_up();
    /// Latency that half, or 99 %, of the finished calls did not exceed.
    pub(crate) const P50: Self = Self::of("p50", |data, what| quantile(data, what, 0.5));
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

    /// Marks the value as current: it is not compared with the value at another moment.
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

/// Returns the sort value of a number that may be unknown. Rows without the number come after all others.
pub(crate) fn or_last(number: Option<u64>) -> u64 {
    number.map_or(0, |number| number.saturating_add(1))
}

/// Returns the latency that this part of the calls did not exceed; 0 for a counter, whose values do not compare with times.
fn quantile(data: &Data, what: What, part: f64) -> u64 {
    match data.figures(what).tally {
        Some(_) => 0,
        None => or_last(data.latency(what).quantile(part)),
    }
}

/// Whether functions are sorted by their self time without waits: only if the measure is time and waits are known.
pub(crate) fn leaves_out_waits(snapshot: &Snapshot) -> bool {
    snapshot.values == Values::Time && snapshot.waits
}

/// An order and a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sort {
    /// Value that rows are compared by.
    pub(crate) key: Order,
    /// Whether the order is the reverse of the key's own: smallest number first, last name first.
    pub(crate) reversed: bool,
}

/// The previous order of the rows, and whether it must stay.
#[derive(Debug, Default)]
pub(crate) struct Before<'a> {
    rows: &'a [Row],
    /// Positions of rows in the previous order, made on first use, because only equal values need them.
    ranks: OnceCell<KeyMap<RowId, u32>>,
    /// Whether rows of the previous list keep their order whatever their values are; new rows follow.
    pub(crate) hold: bool,
    /// Whether threads that share work change places only if a thread is clearly ahead.
    pub(crate) calm: bool,
}

impl Sort {
    /// Returns an order in the key's own direction.
    pub(crate) fn by(key: Order) -> Self {
        Self { key, reversed: false }
    }

    /// Whether the values in the column rise from top to bottom.
    pub(crate) fn rises(self) -> bool {
        self.key.value.is_none() != self.reversed
    }

    /// Whether functions are compared by their self time on a CPU.
    pub(crate) fn is_of_work(self, snapshot: &Snapshot) -> bool {
        self.key == Order::SELF && leaves_out_waits(snapshot)
    }

    /// Returns the weight of a row; rows with the smallest weight come first. A difference weighs by its size. Names
    /// weigh 0, and `arrange` compares them.
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

    /// Returns the value per call if numbers are per call. Each side of a comparison has its own number of calls.
    fn per_call(self, data: &Data, value: u64) -> u64 {
        match data.per_calls.filter(|_| self.key.adds_up) {
            None => value,
            Some(0) => 0,
            Some(calls) => {
                // The weight is finer than whole nanoseconds, else all short calls would be equal.
                let fine = u128::from(value) * 1_000 / u128::from(calls);
                u64::try_from(fine).unwrap_or(u64::MAX)
            }
        }
    }

    /// Moves a row up from its former position only if it is ahead by more than a twentieth, because workers with shared
    /// work overtake each other all the time.
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
        let by_name = |a: What, b: What| match (self.key.value.is_none(), self.reversed) {
            // Changes are often equal, and some alternate, so rows with equal changes are sorted by name.
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
    /// Takes the order of a list as it is.
    pub(crate) fn of(rows: &'a [Row], hold: bool, calm: bool) -> Self {
        Self {
            rows,
            hold,
            calm,
            ..Self::default()
        }
    }

    /// Returns the former position of a row; new rows come after all others.
    fn rank(&self, id: RowId) -> u32 {
        let ranks = self.ranks.get_or_init(|| {
            let ranks = self.rows.iter().enumerate();
            ranks.map(|(rank, row)| (row.id, rank as u32)).collect()
        });
        ranks.get(&id).copied().unwrap_or(u32::MAX)
    }
}
