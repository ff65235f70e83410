//! What numbers are per, and what they are in.

use crate::model::Model;

// === impl Model ===

impl Model {
    /// Every number per call of the selected row, or as it is.
    pub(super) fn per_call(&mut self) {
        self.tell("not here yet");
    }

    /// Nanoseconds, or ticks of the clock.
    pub(super) fn change_units(&mut self) {
        self.tell("not here yet");
    }
}
