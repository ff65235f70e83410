//! The smallest and the largest number of each value and gauge since the reset, by node index.
//!
//! The trees note numbers by stretches (`record/numbers.rs`). Those of a reset's own stretch may belong to either of the
//! epochs around it, so they only bound what is known for sure; the histogram of a value narrows these bounds down to the
//! edges of its buckets. Where nothing lies between what is sure and the bound, the number is exact.

use std::collections::BTreeMap;

use tickscope_format::latency::{Packed, value_edges};
use tickscope_format::snapshot::{Extremes, Level, both};

use crate::enabled::record::numbers::{STRETCHES, Seen, level_of, of_level};

/// What was read of a value or a gauge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) node: u32,
    /// The executions before its histogram was read.
    pub(crate) calls: u64,
    /// `None` if its thread was in the middle of beginning one.
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

/// What is known of the numbers of an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Range {
    /// Those that are in it.
    sure: Option<Bounds>,
    /// Those that may be in it as well.
    maybe: Option<Bounds>,
}

/// The ranges of a node.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// Since the last reset, as of the last reading.
    now: Range,
    /// What belongs to the epoch as well: an undone reset, ended threads, the level at the reset.
    carried: Range,
    /// What an undo would bring back.
    undo: Range,
    /// The executions at the last reading, and those that the last reset has certainly counted.
    calls: u64,
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

    /// Returns the range of the stretches that belong to the epoch. `stretch` is the one at the reading; `closed` are the
    /// executions that the reset before has certainly counted.
    fn of_epoch(read: &Read, stretches: &[Seen], stretch: u64, closed: u64) -> Self {
        // Odd is the stretch of the reset that closes this epoch.
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
            // No reset has counted anything yet.
            let belongs = seen.stretch == between || (closed == 0 && seen.stretch <= between);
            let may_belong = seen.stretch + 1 == between || seen.stretch == between + 1;
            if belongs {
                range.sure = both(range.sure, Some(bounds), Bounds::and);
            } else if may_belong {
                range.maybe = both(range.maybe, Some(bounds), Bounds::and);
            }
        }
        // An execution has found its stretch before the reset, and was not counted by it.
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

    /// Returns the extremes. All numbers are in `within`.
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

    /// What begins a new epoch with a level in force: a level holds until it is set again.
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
    /// Takes what was read in a stretch.
    pub(crate) fn show(&mut self, read: &Read, stretch: u64) {
        let node = self.0.entry(read.node).or_default();
        node.calls = read.calls;
        node.level = read.level.or(node.level);
        node.now = match &read.stretches {
            Some(stretches) => Range::of_epoch(read, stretches, stretch, node.closed),
            // The next reading knows more. Only the histogram of a value bounds what was not seen.
            None if read.level.is_some() => node.now,
            None => Range {
                maybe: Some(Bounds::ALL),
                ..node.now
            },
        };
    }

    /// Returns the numbers of a value since the reset. `histogram` is that of its row.
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

    /// Returns the level of a gauge, with all levels since the reset.
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

    /// Returns whether a node is a gauge that was set: it has a level to show, whatever was reset.
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

    /// Adds the ranges of a node in others, whose thread has ended, to a node in these.
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
