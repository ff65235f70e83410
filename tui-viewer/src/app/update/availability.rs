//! The actions that the footer offers, and the views in which a key has a meaning.

use crate::app::state::App;
use crate::app::window::Window;
use crate::keys::action::Action;
use crate::keys::decoder::Code;
use crate::keys::keymap::KEYS;
use crate::keys::view::View;

/// Returns the views in which a key has a meaning: `Tree, Hot`; `None` if no view gives it one.
pub(crate) fn elsewhere(key: Code) -> Option<String> {
    let has = |view: &View| {
        let mut lines = KEYS.iter().filter(|line| line.views.contains(view));
        lines.any(|line| line.keys().iter().any(|(code, _)| *code == key))
    };
    let views: Vec<&str> = View::ALL
        .into_iter()
        .filter(has)
        .map(|view| view.words().title)
        .collect();
    (!views.is_empty()).then(|| views.join(", "))
}

impl App {
    /// Whether an action has an effect now; the footer offers no other.
    pub(crate) fn offers(&self, action: Action) -> bool {
        let of_the_program = matches!(
            action,
            Action::Reset | Action::Modes | Action::Slower | Action::Faster | Action::Freeze
        );
        self.is_available(action)
            && (action != Action::Live || self.playback.stands_still())
            && (action != Action::Compare || self.playback.mark.is_some() || self.reaches_back())
            // Without other measures only calls can be chosen, and calls are in a column in any measure.
            && (action != Action::Measure || self.shown().is_some_and(|shown| !shown.measures.is_empty()))
            && (action != Action::Undo || (self.requests.undoable && self.program.status.answers()))
            && (!of_the_program
                || self.program.status.answers()
                || (action == Action::Freeze && self.program.status.moves())
                || (action == Action::Freeze && self.playback.stands_still()))
    }

    /// Whether the past may reach back to the ten seconds before the last ten, to compare with. An estimate
    /// is enough for the footer.
    fn reaches_back(&self) -> bool {
        self.shown()
            .is_some_and(|shown| self.playback.past.reaches_back(shown, Window::Ten))
    }
}
