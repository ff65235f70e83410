//! The list of ways to measure. A look at it changes nothing: another mode counts from zero.

use tickscope_format::snapshot::Mode;

use crate::app::message::Effect;
use crate::app::popup::Popup;
use crate::app::state::Model;
use crate::source::events::Request;

// === impl Model ===

impl Model {
    /// The list comes up with the mode in force selected.
    pub(in crate::app) fn list_modes(&mut self) {
        if !self.status.answers() {
            self.complain(format!(
                "no mode to change: the program is {}",
                self.status.word().to_lowercase()
            ));
        } else if let Some(mode) = self.mode_in_force() {
            let index = Mode::ALL.iter().position(|&other| other == mode);
            self.popup = Some(Popup::Modes {
                index: index.unwrap_or(0),
            });
        }
    }

    /// How the program measures now, whatever moment is on screen.
    pub(crate) fn mode_in_force(&self) -> Option<Mode> {
        self.newest.as_ref().map(|newest| newest.capture.mode)
    }

    /// Takes a line of the list; the mode in force stays as it is, with all it has counted.
    pub(in crate::app) fn choose_mode(&mut self, index: usize, effects: &mut Vec<Effect>) {
        let chosen = Mode::ALL.get(index).copied();
        let Some(mode) = chosen.filter(|_| chosen != self.mode_in_force()) else {
            return;
        };
        self.ask_for("mode", effects, |model, effects| {
            model.send_or_ask(Request::Mode(mode), effects);
        });
    }
}
