//! The source of what is selected.

use crate::model::Model;
use crate::model::message::Effect;

// === impl Model ===

impl Model {
    /// Opens the selected row's file at its line.
    pub(super) fn edit_source(&mut self, _effects: &mut Vec<Effect>) {
        self.tell("not here yet");
    }
}
