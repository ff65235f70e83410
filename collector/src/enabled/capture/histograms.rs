//! The histograms of a tree's nodes and their baselines, by node index. Resets subtract them as they subtract counters.

use tickscope_format::latency::{Histogram, Latencies, Packed};

use crate::enabled::capture::epochs::Epochs;

/// The histograms of all nodes, their baselines, and the baselines that were in use before the last reset. A missing
/// histogram is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histograms {
    by_node: Epochs<Vec<Packed>>,
    /// Cached, because most histograms change rarely: the histogram since the reset, for each node with a baseline.
    since: Vec<Packed>,
    /// By node: the number of its current histogram. A node gets a new number whenever its histogram starts over.
    made: Vec<u64>,
}

fn place(column: &mut Vec<Packed>, index: usize) -> &mut Packed {
    if column.len() <= index {
        column.resize_with(index + 1, Packed::default);
    }
    &mut column[index]
}

/// Returns the histogram of a node if it is not empty.
fn filled(column: &[Packed], index: usize) -> Option<&Packed> {
    column.get(index).filter(|packed| !packed.is_empty())
}

fn absorb(column: &mut Vec<Packed>, index: usize, other: &[Packed], from: usize) {
    if let Some(other) = filled(other, from) {
        let place = place(column, index);
        let mut both = place.unpacked();
        both.add(&other.unpacked());
        place.set(&both);
    }
}

impl Histograms {
    /// Stores the current histogram of a node. `made` is the number of this histogram, or 0 if the node has none. A
    /// histogram with a new number started empty, so the baselines do not apply to it.
    pub(crate) fn set(&mut self, index: usize, histogram: &Histogram, made: u64) {
        if self.made.len() <= index {
            self.made.resize(index + 1, 0);
        }
        if std::mem::replace(&mut self.made[index], made) != made {
            for column in [&mut self.by_node.base, &mut self.by_node.undo] {
                if let Some(baseline) = column.get_mut(index) {
                    *baseline = Packed::default();
                }
            }
        }
        if histogram.is_empty() && index >= self.by_node.current.len() {
            return;
        }
        match filled(&self.by_node.base, index).map(Packed::unpacked) {
            None => place(&mut self.by_node.current, index).set(histogram),
            Some(base) => {
                // While the thread moves a call from its buffer to its bucket, the call may be found in neither place.
                // So the histogram may be missing calls that the baseline includes.
                let mut present = histogram.clone();
                present.raise_to(&base);
                place(&mut self.by_node.current, index).set(&present);
                present.subtract(&base);
                place(&mut self.since, index).set(&present);
            }
        }
    }

    /// Returns how many calls of a node had ended when the node was last read.
    pub(crate) fn ended(&self, index: usize) -> u64 {
        filled(&self.by_node.current, index).map_or(0, |packed| packed.unpacked().count())
    }

    fn renew(&mut self, index: usize) {
        if let Some(base) = filled(&self.by_node.base, index) {
            let mut since = self
                .by_node
                .current
                .get(index)
                .map(Packed::unpacked)
                .unwrap_or_default();
            since.subtract(&base.unpacked());
            place(&mut self.since, index).set(&since);
        }
    }

    /// Returns the histogram of a node since the reset.
    pub(crate) fn shown(&self, index: usize) -> Option<&Packed> {
        let column = match filled(&self.by_node.base, index) {
            Some(_) => &self.since,
            None => &self.by_node.current,
        };
        filled(column, index)
    }

    /// Appends the histogram of a node since the reset to the histograms of a snapshot.
    pub(crate) fn append(&self, index: usize, latencies: &mut Latencies, row: u32) {
        if let Some(shown) = self.shown(index) {
            latencies.push_packed(row, shown);
        }
    }

    pub(crate) fn reset(&mut self) {
        self.by_node.reset();
        self.since.clear();
    }

    pub(crate) fn undo(&mut self) {
        self.by_node.undo();
        for index in 0..self.by_node.base.len() {
            self.renew(index);
        }
    }

    /// Adds all columns of node `from` of `other` to node `index` of these histograms.
    pub(crate) fn absorb(&mut self, index: usize, other: &Self, from: usize) {
        self.by_node
            .absorb(&other.by_node, |column, other| absorb(column, index, other, from));
        self.renew(index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(buckets: &[(u16, u64)], max_ticks: u64) -> Histogram {
        Histogram {
            buckets: buckets.to_vec(),
            max_ticks,
        }
    }

    fn shown(histograms: &Histograms, index: usize) -> Histogram {
        histograms.shown(index).map(Packed::unpacked).unwrap_or_default()
    }

    /// The thread was descheduled while it moved a call to its bucket, and a reset read the histogram in the meantime.
    #[test]
    fn a_call_that_a_reset_does_not_see_again_is_not_counted_twice() {
        let mut histograms = Histograms::default();
        histograms.set(0, &of(&[(40, 10), (44, 1)], 0), 1);
        histograms.reset();
        histograms.set(0, &of(&[(38, 1), (40, 9), (60, 2)], 0), 1);
        assert_eq!(shown(&histograms, 0), of(&[(38, 1), (60, 2)], 0));
        histograms.reset();
        histograms.set(0, &of(&[(38, 1), (40, 11), (44, 1), (60, 2)], 0), 1);
        assert_eq!(shown(&histograms, 0), of(&[(40, 1)], 0));
    }

    /// The same with the longest call, which the second reset does not see.
    #[test]
    fn the_longest_call_of_an_older_epoch_is_none_of_a_new_one() {
        let mut histograms = Histograms::default();
        for (max_ticks, count) in [(900, 5), (500, 6)] {
            histograms.set(0, &of(&[(40, count)], max_ticks), 1);
            histograms.reset();
        }
        histograms.set(0, &of(&[(40, 7)], 900), 1);
        assert_eq!(shown(&histograms, 0), of(&[(40, 1)], 0));
    }

    #[test]
    fn latencies_were_missing_after_histograms_had_been_off_and_on() {
        let mut histograms = Histograms::default();
        histograms.set(0, &of(&[(40, 5)], 0), 1);
        histograms.reset();
        histograms.set(0, &of(&[(40, 9)], 0), 1);
        histograms.reset();
        for count in [2, 20] {
            histograms.set(0, &of(&[(40, count)], 0), 2);
            assert_eq!(shown(&histograms, 0), of(&[(40, count)], 0));
        }
        histograms.undo();
        assert_eq!(shown(&histograms, 0), of(&[(40, 20)], 0));
    }
}
