//! An amount that grows, and its baselines: the arithmetic of resets that all counted amounts share.
//!
//! No amount is below its baseline. A reset takes the present amount as baseline, so nothing is shown and nothing is lost. An
//! undo of the last reset restores the previous baseline.

/// The present amount, and the amounts at the last reset and at the reset before it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Epochs<T> {
    pub(crate) current: T,
    pub(crate) base: T,
    pub(crate) undo: T,
}

impl<T: Clone + Default> Epochs<T> {
    pub(crate) fn reset(&mut self) {
        self.undo = std::mem::replace(&mut self.base, self.current.clone());
    }

    /// Returns to the epoch before the last reset.
    pub(crate) fn undo(&mut self) {
        self.base = std::mem::take(&mut self.undo);
    }

    /// Adds the three values of another amount to the values of this amount, by `add`.
    pub(crate) fn absorb(&mut self, other: &Self, mut add: impl FnMut(&mut T, &T)) {
        add(&mut self.current, &other.current);
        add(&mut self.base, &other.base);
        add(&mut self.undo, &other.undo);
    }
}
