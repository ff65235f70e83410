//! The list of ways to measure. A look at it changes nothing: another mode counts from zero.

use tickscope_format::snapshot::Mode;

use crate::app::message::Effect;
use crate::app::overlay::Overlay;
use crate::app::state::App;
use crate::source::events::Request;

// === impl App ===

impl App {
    /// The list comes up with the mode in force selected.
    pub(in crate::app) fn list_modes(&mut self) {
        if !self.program.status.answers() {
            self.complain(format!(
                "no mode to change: the program is {}",
                self.program.status.word().to_lowercase()
            ));
        } else if let Some(mode) = self.program.mode() {
            let index = Mode::ALL.iter().position(|&other| other == mode);
            self.overlay = Some(Overlay::Modes {
                index: index.unwrap_or(0),
            });
        }
    }

    /// Takes a line of the list; the mode in force stays as it is, with all it has counted.
    pub(in crate::app) fn choose_mode(&mut self, index: usize, effects: &mut Vec<Effect>) {
        let chosen = Mode::ALL.get(index).copied();
        let Some(mode) = chosen.filter(|_| chosen != self.program.mode()) else {
            return;
        };
        self.ask_for("mode", effects, |app, effects| {
            app.send_or_ask(Request::Mode(mode), effects);
        });
    }
}
