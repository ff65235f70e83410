//! The command line: the verbs of the program's own commands.

use crate::model::Model;

// === impl Model ===

impl Model {
    /// Begins a command.
    pub(super) fn command_begin(&mut self) {
        self.tell("not here yet");
    }

    /// Asks in which form a report is to be written, and where.
    pub(super) fn report_as(&mut self) {
        self.tell("not here yet");
    }
}
