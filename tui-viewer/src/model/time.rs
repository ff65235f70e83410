//! Which moment is shown, and which stretch of time.

use crate::action::Action;
use crate::model::Model;

// === impl Model ===

impl Model {
    /// The next stretch of time.
    pub(super) fn next_window(&mut self) {
        self.tell("not here yet");
    }

    /// To another moment.
    pub(super) fn travel_in_time(&mut self, _action: Action) {
        self.tell("not here yet");
    }

    /// Remembers this moment.
    pub(super) fn mark_moment(&mut self) {
        self.tell("not here yet");
    }

    /// Shows differences to the mark, or no more.
    pub(super) fn compare(&mut self) {
        self.tell("not here yet");
    }
}
