//! What part of the tree is shown, and which way round.

use crate::model::Model;
use crate::model::view::View;

// === impl Model ===

impl Model {
    /// Opens the selected row: a function with its callers, or a thread alone.
    pub(super) fn enter_row(&mut self) {
        match self.view {
            View::Threads => self.enter_thread(),
            View::Flame => self.zoom_in(),
            View::Tree | View::Hot | View::Function | View::Sites => self.tell("not here yet"),
        }
    }

    /// Only this function, wherever it is called, or everything again.
    pub(super) fn focus_function(&mut self) {
        self.tell("not here yet");
    }

    /// Only what is below this row, or everything again.
    pub(super) fn focus_subtree(&mut self) {
        self.tell("not here yet");
    }

    /// From the bottom up, or from the top down.
    pub(super) fn invert(&mut self) {
        self.tell("not here yet");
    }

    /// Recursion in one row, or call by call.
    pub(super) fn fold_recursion(&mut self) {
        self.tell("not here yet");
    }

    /// To the next place of the same function.
    pub(super) fn other_place(&mut self) {
        self.tell("not here yet");
    }
}
