//! An amount that grows, with its baselines. All counted amounts share this arithmetic of resets.
//!
//! An amount is never below its baseline. A reset makes the current amount the new baseline, so the amount shown drops to zero
//! but nothing is lost. Undoing the last reset restores the previous baseline.

/// The current amount, and the amounts at the last reset and at the reset before that.
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

    /// Combines each of the three values with the same value of another amount, with `add`.
    pub(crate) fn absorb(&mut self, other: &Self, mut add: impl FnMut(&mut T, &T)) {
        add(&mut self.current, &other.current);
        add(&mut self.base, &other.base);
        add(&mut self.undo, &other.undo);
    }
}
