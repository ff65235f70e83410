//! The smallest and the largest number of each value and gauge since the reset, by node index.
//!
//! The trees keep these extremes separately for each *stretch* of time (see `record/numbers.rs`). The stretch in which
//! a reset reads the threads may belong to the epoch before or after the reset, so its numbers give only bounds for the
//! extremes of an epoch. For a value, the histogram narrows these bounds down to the edges of its buckets. An extreme
//! is exact if it equals a number that certainly belongs to the epoch.

use std::collections::BTreeMap;

use tickscope_format::latency::{Packed, value_edges};
use tickscope_format::snapshot::{Extremes, Level, both};

use crate::enabled::record::numbers::{STRETCHES, Seen, level_of, of_level};

/// Readings of a value or a gauge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) node: u32,
    /// Number of executions, read before the histogram.
    pub(crate) calls: u64,
    /// The extremes in the newest stretches; `None` if there was no memory for them.
    pub(crate) stretches: Option<[Seen; STRETCHES]>,
    /// The level of a gauge and the tick at which it was set.
    pub(crate) level: Option<(i64, u64)>,
}

/// The smallest and the largest number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    min: u64,
    max: u64,
}

/// Range of the numbers of an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Range {
    /// Bounds of the numbers that certainly belong to the epoch.
    sure: Option<Bounds>,
    /// Bounds of the numbers that may or may not belong to the epoch.
    maybe: Option<Bounds>,
}

/// The ranges of a node.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// Range of the numbers between the last reset and the last reading.
    now: Range,
    /// Range of other numbers that belong to the epoch: from an undone reset, from ended threads, and the level at the
    /// reset.
    carried: Range,
    /// Range that an undo would restore.
    undo: Range,
    /// Number of executions at the last reading.
    calls: u64,
    /// Number of executions that the last reset has certainly counted.
    closed: u64,
    level: Option<(i64, u64)>,
}

/// The ranges of all values and gauges of a tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(BTreeMap<u32, Node>);

impl Bounds {
    const ALL: Self = Self {
        min: 0,
        max: u64::MAX,
    };

    fn and(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

impl Range {
    fn and(self, other: Self) -> Self {
        Self {
            sure: both(self.sure, other.sure, Bounds::and),
            maybe: both(self.maybe, other.maybe, Bounds::and),
        }
    }

    fn sure(bounds: Bounds) -> Self {
        Self {
            sure: Some(bounds),
            maybe: None,
        }
    }

    /// Returns the range of those stretches that belong to the epoch. `stretch` is the number of the stretch in which the node
    /// was read. `closed` is the number of executions that the previous reset has certainly counted.
    fn of_epoch(read: &Read, stretches: &[Seen], stretch: u64, closed: u64) -> Self {
        // The stretch of an epoch has an even number. The stretch of the reset that closes the epoch has the next
        // number.
        let between = stretch & !1;
        let mut range = Self::default();
        let mut first = read.calls;
        let mut all = None;
        for seen in stretches.iter().filter(|seen| seen.stretch > 0) {
            let bounds = Bounds {
                min: seen.min,
                max: seen.max,
            };
            all = both(all, Some(bounds), Bounds::and);
            if seen.stretch + 1 >= between {
                first = first.min(seen.first);
            }
            // If `closed` is 0, no reset has counted anything yet.
            let belongs = seen.stretch == between || (closed == 0 && seen.stretch <= between);
            let may_belong = seen.stretch + 1 == between || seen.stretch == between + 1;
            if belongs {
                range.sure = both(range.sure, Some(bounds), Bounds::and);
            } else if may_belong {
                range.maybe = both(range.maybe, Some(bounds), Bounds::and);
            }
        }
        // Some execution chose its stretch before the previous reset, but was counted after that reset.
        if closed > 0 && first > closed {
            let bounds = if read.level.is_some() {
                all
            } else {
                Some(Bounds::ALL)
            };
            range.maybe = both(range.maybe, bounds, Bounds::and);
        }
        range
    }

    /// Returns the extremes of the range. All its numbers are known to lie within `within`.
    fn extremes(self, within: Bounds) -> Option<Extremes<u64>> {
        let bounds = both(self.sure, self.maybe, Bounds::and)?;
        let (min, max) = (bounds.min.max(within.min), bounds.max.min(within.max));
        Some(Extremes {
            min,
            max: max.max(min),
            min_exact: self.sure.is_some_and(|sure| sure.min == min),
            max_exact: self.sure.is_some_and(|sure| sure.max == max),
        })
    }
}

impl Node {
    fn shown(&self) -> Range {
        self.now.and(self.carried)
    }

    /// Returns the range with which a new epoch begins: a gauge keeps its level until it is set again.
    fn held(&self) -> Range {
        self.level.map_or_else(Range::default, |(level, _)| {
            let number = of_level(level);
            Range::sure(Bounds {
                min: number,
                max: number,
            })
        })
    }
}

impl Ranges {
    /// Adds a reading that was made while `stretch` was the current stretch.
    pub(crate) fn show(&mut self, read: &Read, stretch: u64) {
        let node = self.0.entry(read.node).or_default();
        node.calls = read.calls;
        node.level = read.level.or(node.level);
        node.now = match &read.stretches {
            Some(stretches) => Range::of_epoch(read, stretches, stretch, node.closed),
            None if read.level.is_some() => node.now,
            // Without stretches, only the histogram bounds the numbers.
            None => Range {
                maybe: Some(Bounds::ALL),
                ..node.now
            },
        };
    }

    /// Returns the smallest and largest number of a value since the reset. `histogram` is the histogram of its row.
    pub(crate) fn value(&self, index: usize, histogram: Option<&Packed>) -> Option<Extremes<u64>> {
        let within = histogram.map(Packed::unpacked).and_then(|histogram| {
            let edges = |(bucket, _): &(u16, u64)| value_edges((*bucket).into());
            let (first, last) = histogram.buckets.first().zip(histogram.buckets.last())?;
            Some(Bounds {
                min: edges(first).0,
                max: edges(last).1,
            })
        })?;
        self.0.get(&(index as u32))?.shown().extremes(within)
    }

    /// Returns the current level of a gauge, and the range of its levels since the reset.
    pub(crate) fn level(&self, index: usize) -> Option<Level> {
        let node = self.0.get(&(index as u32))?;
        let (last, set_tick) = node.level?;
        let range = node.shown().extremes(Bounds::ALL)?;
        Some(Level {
            last,
            set_tick,
            range: Extremes {
                min: level_of(range.min),
                max: level_of(range.max),
                min_exact: range.min_exact,
                max_exact: range.max_exact,
            },
        })
    }

    /// Returns whether a node is a gauge that was set. Such a node has a level to show, even after a reset.
    pub(crate) fn has_level(&self, index: usize) -> bool {
        self.0
            .get(&(index as u32))
            .is_some_and(|node| node.level.is_some())
    }

    pub(crate) fn reset(&mut self) {
        for node in self.0.values_mut() {
            node.undo = node.shown();
            node.closed = node.calls;
            node.now = Range::default();
            node.carried = node.held();
        }
    }

    pub(crate) fn undo(&mut self) {
        for node in self.0.values_mut() {
            node.carried = node.carried.and(std::mem::take(&mut node.undo));
        }
    }

    /// Adds the ranges of node `from` of an ended thread to the node `index` of these ranges.
    pub(crate) fn absorb(&mut self, index: usize, other: &Self, from: usize) {
        let Some(other) = other.0.get(&(from as u32)) else {
            return;
        };
        let node = self.0.entry(index as u32).or_default();
        node.carried = node.carried.and(other.shown());
        node.undo = node.undo.and(other.undo);
        let newer = |one: (i64, u64), other: (i64, u64)| if other.1 >= one.1 { other } else { one };
        node.level = both(node.level, other.level, newer);
    }
}

#[cfg(test)]
mod tests {
    use tickscope_format::latency::{Histogram, value_bucket};

    use super::*;

    fn seen(stretch: u64, first: u64, min: u64, max: u64) -> Seen {
        Seen {
            stretch,
            first,
            min,
            max,
        }
    }

    /// A reading of node 1, with its newest stretches first.
    fn read(calls: u64, newest: &[Seen]) -> Read {
        let mut stretches = [Seen::default(); STRETCHES];
        stretches[..newest.len()].copy_from_slice(newest);
        Read {
            node: 1,
            calls,
            stretches: Some(stretches),
            level: None,
        }
    }

    fn packed(numbers: &[u64]) -> Packed {
        let mut histogram = Histogram::default();
        for &number in numbers {
            histogram.add(&Histogram {
                buckets: vec![(value_bucket(number) as u16, 1)],
                max_ticks: 0,
            });
        }
        let mut packed = Packed::default();
        packed.set(&histogram);
        packed
    }

    /// Returns the smallest and the largest number, and whether each is exact.
    fn shown(ranges: &Ranges, numbers: &[u64]) -> Option<(u64, bool, u64, bool)> {
        let range = ranges.value(1, Some(&packed(numbers)))?;
        Some((range.min, range.min_exact, range.max, range.max_exact))
    }

    #[test]
    fn numbers_of_a_resets_own_stretch_only_bound_both_epochs() {
        let mut ranges = Ranges::default();
        ranges.show(&read(2, &[seen(2, 0, 100, 200)]), 2);
        assert_eq!(shown(&ranges, &[100, 200]), Some((100, true, 200, true)));
        // The number 5 000 was recorded while the reset was reading the threads, so the reset may or may not have seen
        // it. 207 is the upper edge of the bucket that contains 200.
        ranges.show(&read(2, &[seen(3, 2, 5_000, 5_000), seen(2, 0, 100, 200)]), 3);
        assert_eq!(shown(&ranges, &[100, 200]), Some((100, true, 207, false)));
        ranges.reset();
        let newest = [seen(4, 3, 7, 7), seen(3, 2, 5_000, 5_000), seen(2, 0, 100, 200)];
        ranges.show(&read(4, &newest), 4);
        // The new epoch may have counted 5 000, so this is the maximum, but it is not exact.
        assert_eq!(shown(&ranges, &[7, 5_000]), Some((7, true, 5_000, false)));
        ranges.undo();
        let all = shown(&ranges, &[7, 100, 200, 5_000]);
        assert_eq!(all, Some((7, true, 5_000, false)));
    }

    #[test]
    fn an_epoch_has_no_numbers_of_the_one_before() {
        let mut ranges = Ranges::default();
        ranges.show(&read(2, &[seen(2, 0, 1, 90)]), 3);
        ranges.reset();
        assert_eq!(shown(&ranges, &[]), None);
        ranges.show(&read(3, &[seen(4, 2, 40, 40), seen(2, 0, 1, 90)]), 4);
        assert_eq!(shown(&ranges, &[40]), Some((40, true, 40, true)));
        let without_memory = Read {
            stretches: None,
            ..read(4, &[])
        };
        ranges.show(&without_memory, 4);
        assert_eq!(shown(&ranges, &[40, 2_000]), Some((40, true, 2_047, false)));
    }
}
