//! The histograms of a tree's nodes against their baselines, by node index: resets subtract them like any counter.

use std::borrow::Cow;

use tickscope_format::latency::Histogram;

/// Histograms, baselines, and the baselines before the last reset. A missing one is empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histograms {
    current: Vec<Histogram>,
    base: Vec<Histogram>,
    undo: Vec<Histogram>,
}

fn place(column: &mut Vec<Histogram>, index: usize) -> &mut Histogram {
    if column.len() <= index {
        column.resize_with(index + 1, Histogram::default);
    }
    &mut column[index]
}

fn absorb(column: &mut Vec<Histogram>, index: usize, other: &[Histogram], from: usize) {
    if let Some(other) = other.get(from).filter(|other| !other.is_empty()) {
        place(column, index).add(other);
    }
}

// === impl Histograms ===

impl Histograms {
    /// The histogram of a node as read last, to be read anew.
    pub(crate) fn current_mut(&mut self, index: usize) -> &mut Histogram {
        place(&mut self.current, index)
    }

    /// What a node shows since the reset.
    pub(crate) fn shown(&self, index: usize) -> Cow<'_, Histogram> {
        let Some(current) = self.current.get(index) else {
            return Cow::default();
        };
        let mut shown = Cow::Borrowed(current);
        if let Some(base) = self.base.get(index).filter(|base| !base.is_empty()) {
            shown.to_mut().subtract(base);
        }
        shown
    }

    pub(crate) fn reset(&mut self) {
        self.undo = std::mem::replace(&mut self.base, self.current.clone());
    }

    pub(crate) fn undo(&mut self) {
        self.base = std::mem::take(&mut self.undo);
    }

    /// Adds a node of another, all its columns, to one of this.
    pub(crate) fn absorb(&mut self, index: usize, other: &Self, from: usize) {
        absorb(&mut self.current, index, &other.current, from);
        absorb(&mut self.base, index, &other.base, from);
        absorb(&mut self.undo, index, &other.undo, from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(bucket: u16, count: u64) -> Histogram {
        Histogram {
            buckets: vec![(bucket, count)],
            max_ticks: 0,
        }
    }

    #[test]
    fn resets_subtract_undo_restores_and_folding_keeps_both() {
        let mut histograms = Histograms::default();
        *histograms.current_mut(2) = histogram(40, 5);
        histograms.reset();
        assert!(histograms.shown(2).is_empty());
        *histograms.current_mut(2) = histogram(40, 8);
        assert_eq!(*histograms.shown(2), histogram(40, 3));
        let mut folded = Histograms::default();
        folded.absorb(1, &histograms, 2);
        folded.absorb(1, &histograms, 2);
        assert_eq!(*folded.shown(1), histogram(40, 6));
        folded.undo();
        assert_eq!(*folded.shown(1), histogram(40, 16));
    }
}
