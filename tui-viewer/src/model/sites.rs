//! Switching places in the source off and on.

use crate::model::Model;
use crate::model::message::Effect;

// === impl Model ===

impl Model {
    /// Switches the selected place off, or on again.
    pub(super) fn toggle_site(&mut self, _effects: &mut Vec<Effect>) {
        self.tell("not here yet");
    }
}
