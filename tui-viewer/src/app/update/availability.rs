//! Which actions mean something now, and which keys elsewhere.

use crate::app::state::App;
use crate::app::view::{Below, View};
use crate::app::window::Window;
use crate::keys::action::{Action, Binding, Context};
use crate::keys::decoder::Code;
use crate::keys::keymap::KEYS;

/// Where else a key has a meaning: `Tree, Hot`; none where it has none in any view.
pub(in crate::app) fn elsewhere(key: Code) -> Option<String> {
    let has = |line: &&Binding| line.keys.iter().any(|(code, _)| *code == key);
    let contexts: Vec<Context> = KEYS
        .iter()
        .filter(has)
        .flat_map(|line| line.contexts)
        .copied()
        .collect();
    let views: Vec<&str> = View::ALL
        .into_iter()
        .filter(|view| contexts.contains(&view.context()))
        .map(View::title)
        .collect();
    (!views.is_empty()).then(|| views.join(", "))
}

impl App {
    /// Whether an action leads anywhere now: the footer offers no other.
    pub(crate) fn offers(&self, action: Action) -> bool {
        let of_the_program = matches!(
            action,
            Action::Reset | Action::Modes | Action::Slower | Action::Faster | Action::Freeze
        );
        self.is_available(action)
            && (action != Action::Live || self.playback.stands_still())
            && (action != Action::Compare || self.playback.mark.is_some() || self.reaches_back())
            // Calls are in a column anyway.
            && (action != Action::Measure || self.shown().is_some_and(|shown| !shown.measures.is_empty()))
            && (action != Action::Undo || (self.requests.undoable && self.program.status.answers()))
            && (!of_the_program
                || self.program.status.answers()
                || (action == Action::Freeze && self.program.status.moves())
                || (action == Action::Freeze && self.playback.stands_still()))
    }

    /// Whether an action means something now: `update` does no other.
    pub(crate) fn is_available(&self, action: Action) -> bool {
        let searching = self.views.search.as_ref().is_some_and(|search| search.is_set());
        let rows = !self.list().rows.is_empty();
        match action {
            Action::Search if self.help().is_some() => true,
            Action::NextMatch | Action::PreviousMatch if self.help().is_some() => {
                self.help().is_some_and(|help| help.search.is_some())
            }
            Action::NextMatch | Action::PreviousMatch => searching,
            // A graph has neither an order to choose nor rows to leave out.
            Action::MatchesOnly => searching && self.views.current != View::Flame,
            Action::SortLeft | Action::SortRight | Action::Reverse => {
                !matches!(self.views.current, View::Flame | View::Timeline)
            }
            Action::FlameColour => {
                let has_frames = self.views.current == View::Flame || self.below() == Below::Flame;
                has_frames && self.screen.theme.fills() && self.query.against.is_none()
            }
            Action::Second => self.shown().is_some(),
            Action::Centre => rows && self.views.current != View::Flame,
            // Where the program cannot be asked, these actions say why.
            Action::Undo | Action::Reset | Action::Modes | Action::Slower | Action::Faster => {
                self.shown().is_some() && self.requests.pending.is_none()
            }
            Action::Report | Action::Keep | Action::Freeze | Action::Scope => self.shown().is_some(),
            Action::Open | Action::Shut | Action::Fold | Action::OpenAll | Action::CloseAll => {
                rows && (self.views.current != View::Sites || self.has_functions())
            }
            Action::HotPath | Action::ToTree | Action::Copy | Action::Search => rows,
            Action::Choose => self.derived.data.is_some() || !self.program.found.is_empty(),
            Action::Enter
            | Action::FocusFunction
            | Action::FocusSubtree
            | Action::OtherPlace
            | Action::PerCall
            | Action::ToggleSite
            | Action::Watch
            | Action::Source
            | Action::ToggleCallees
            | Action::Edit => rows,
            Action::SlotEarlier
            | Action::SlotLater
            | Action::RangeEarlier
            | Action::RangeLater
            | Action::Lanes => self.shown().is_some(),
            Action::ToCallers | Action::ToCallees => self.list().second.is_some(),
            Action::Unwatch => self.watched().is_some(),
            Action::SourceDown | Action::SourceUp => self.shows_source(),
            Action::Groups | Action::Invert | Action::FoldRecursion | Action::Units | Action::Window => {
                self.shown().is_some()
            }
            Action::Earlier
            | Action::Later
            | Action::FarEarlier
            | Action::FarLater
            | Action::Oldest
            | Action::Newest
            | Action::Live
            | Action::Mark
            | Action::Measure
            | Action::Compare => self.shown().is_some(),
            Action::Show(_)
            | Action::NextWatch
            | Action::NextCall
            | Action::PreviousCall
            | Action::ExportCall
            | Action::Closer
            | Action::Further
            | Action::PartEarlier
            | Action::PartLater
            | Action::WholeCall
            | Action::NextView
            | Action::PreviousView
            | Action::Help
            | Action::Back
            | Action::Close
            | Action::Quit
            | Action::Repaint
            | Action::Suspend
            | Action::Up
            | Action::Down
            | Action::PageUp
            | Action::PageDown
            | Action::HalfUp
            | Action::HalfDown
            | Action::First
            | Action::Last
            | Action::PreviousSibling
            | Action::NextSibling
            | Action::Percent
            | Action::Yes
            | Action::Theme
            | Action::Mouse => true,
        }
    }

    /// Whether sites stand below modules.
    fn has_functions(&self) -> bool {
        self.shown().is_some_and(|shown| shown.functions.is_some())
    }

    /// Whether there may be a time to compare with just before: the footer does not look closely.
    fn reaches_back(&self) -> bool {
        self.shown()
            .is_some_and(|shown| self.playback.reaches_back(shown, Window::Ten))
    }
}
