//! What each action does, and when it is available. The entries in a view's own table take precedence over those here.

use crate::app::message::Effect;
use crate::app::state::{App, Overlay};
use crate::app::window::Window;
use crate::keys::action::Action;
use crate::keys::decoder::Code;
use crate::keys::keymap::KEYS;
use crate::keys::view::View;

/// How an action is carried out.
#[derive(Clone, Copy, Debug)]
enum Run {
    Plainly(fn(&mut App)),
    Each(fn(&mut App, Action)),
}

/// Actions, the condition under which they are available, and their effect.
#[derive(Debug)]
pub(crate) struct Act {
    actions: &'static [Action],
    when: fn(&App) -> bool,
    /// Effect of the actions; `None` if it is the same as in other views.
    run: Option<Run>,
}

/// Returns actions that a view allows only if `when` holds. They do the same as in other views.
pub(crate) const fn only(actions: &'static [Action], when: fn(&App) -> bool) -> Act {
    let run = None;
    Act { actions, when, run }
}

/// Returns actions that all have the effect `run`, and are available if `when` holds.
pub(crate) const fn act(actions: &'static [Action], when: fn(&App) -> bool, run: fn(&mut App)) -> Act {
    let run = Some(Run::Plainly(run));
    Act { actions, when, run }
}

/// Returns actions whose effect depends on the action.
pub(crate) const fn each(
    actions: &'static [Action],
    when: fn(&App) -> bool,
    run: fn(&mut App, Action),
) -> Act {
    let run = Some(Run::Each(run));
    Act { actions, when, run }
}

/// Actions that move in a list.
pub(crate) const MOVES: &[Action] = &[
    Action::Up,
    Action::Down,
    Action::PageUp,
    Action::PageDown,
    Action::HalfUp,
    Action::HalfDown,
    Action::First,
    Action::Last,
];

/// Actions that change the order of rows.
pub(crate) const ORDERS: &[Action] = &[Action::SortLeft, Action::SortRight, Action::Reverse];

/// Actions that change how much time is on the screen.
pub(crate) const ZOOMS: &[Action] = &[Action::Closer, Action::Further, Action::WholeCall];

pub(crate) fn always(_: &App) -> bool {
    true
}

pub(crate) fn never(_: &App) -> bool {
    false
}

/// Whether the list has rows.
pub(crate) fn has_rows(app: &App) -> bool {
    !app.list().rows.is_empty()
}

/// Whether a snapshot is on the screen.
pub(crate) fn shows(app: &App) -> bool {
    app.shown().is_some()
}

/// Whether the user may try to send a request. If the program cannot answer, the action says why.
fn may_ask(app: &App) -> bool {
    shows(app) && app.requests.pending.is_none()
}

fn may_search(app: &App) -> bool {
    app.help().is_some() || has_rows(app)
}

/// Whether there are matches to go to.
fn searches(app: &App) -> bool {
    match app.help() {
        Some(help) => help.search.is_some(),
        None => app.searched().is_some(),
    }
}

fn may_choose(app: &App) -> bool {
    app.derived.data.is_some() || !app.program.found.is_empty()
}

/// Actions that are the same in most views, and actions of overlays.
const COMMON: &[Act] = &[
    act(&[Action::NextView], always, |app| {
        app.show(app.views.current.beside(1))
    }),
    act(&[Action::PreviousView], always, |app| {
        app.show(app.views.current.beside(-1))
    }),
    act(&[Action::Help], always, App::turn_help),
    act(&[Action::Back], always, App::back),
    act(&[Action::Close], always, |app| match app.has_popup() {
        true => app.overlay = None,
        false => app.effects.push(Effect::Quit),
    }),
    act(&[Action::Quit], always, |app| app.effects.push(Effect::Quit)),
    act(&[Action::Repaint], always, |app| {
        app.effects.push(Effect::Repaint)
    }),
    act(&[Action::Suspend], always, |app| {
        app.effects.push(Effect::Suspend)
    }),
    each(MOVES, always, App::step),
    act(&[Action::Open], has_rows, App::go_in),
    act(&[Action::Shut], has_rows, App::go_out),
    act(&[Action::Fold], has_rows, App::fold),
    act(&[Action::OpenAll], has_rows, |app| app.fold_all(true)),
    act(&[Action::CloseAll], has_rows, |app| app.fold_all(false)),
    act(&[Action::PreviousSibling], always, |app| app.step_sibling(-1)),
    act(&[Action::NextSibling], always, |app| app.step_sibling(1)),
    act(&[Action::Centre], has_rows, |app| {
        let page = app.page();
        app.list_mut().centre(page);
    }),
    act(&[Action::Enter], has_rows, App::enter_row),
    act(&[Action::Choose], may_choose, App::choose),
    act(&[Action::FocusFunction], has_rows, App::focus_function),
    act(&[Action::FocusSubtree], has_rows, App::focus_subtree),
    act(&[Action::Groups], shows, App::group),
    act(&[Action::ToTree], has_rows, App::show_in_tree),
    each(&[Action::Search], may_search, App::search),
    each(&[Action::NextMatch, Action::PreviousMatch], searches, App::search),
    act(&[Action::MatchesOnly], searches, App::search_only),
    act(&[Action::SortLeft], always, |app| app.sort_by(-1)),
    act(&[Action::SortRight], always, |app| app.sort_by(1)),
    act(&[Action::Reverse], always, |app| {
        let sort = &mut app.list_mut().sort;
        sort.reversed = !sort.reversed;
    }),
    act(&[Action::Percent], always, |app| {
        app.views.current.kind().next_percent_of(app)
    }),
    act(&[Action::PerCall], has_rows, App::per_call),
    act(&[Action::Units], shows, App::change_units),
    act(&[Action::Measure], shows, App::next_measure),
    act(&[Action::Window], shows, App::next_window),
    each(
        &[
            Action::Earlier,
            Action::Later,
            Action::FarEarlier,
            Action::FarLater,
            Action::Oldest,
            Action::Newest,
            Action::Live,
        ],
        shows,
        App::travel_in_time,
    ),
    act(&[Action::Mark], shows, App::mark_moment),
    act(&[Action::Compare], shows, App::compare),
    act(&[Action::ToggleCallees], has_rows, App::toggle_callees),
    act(&[Action::Watch], has_rows, App::watch_row),
    act(&[Action::Source], has_rows, App::turn_source),
    act(&[Action::Scope], shows, App::choose_threads),
    act(&[Action::Freeze], shows, App::freeze),
    act(&[Action::Reset], may_ask, App::request_reset),
    act(&[Action::Undo], may_ask, App::undo),
    act(&[Action::Modes], may_ask, App::list_modes),
    act(&[Action::Yes], always, |app| {
        if let Some(Overlay::Confirm(request)) = app.overlay.take() {
            app.send(request);
        }
    }),
    act(&[Action::Report], shows, App::report),
    act(&[Action::Keep], shows, App::keep),
    act(&[Action::Copy], has_rows, App::copy),
    act(&[Action::Edit], has_rows, App::edit_source),
    act(&[Action::Slower], may_ask, |app| app.change_rate(false)),
    act(&[Action::Faster], may_ask, |app| app.change_rate(true)),
    act(&[Action::Theme], always, |app| {
        app.screen.theme = app.screen.theme.next();
        app.tell(format!("theme: {}", app.screen.theme.name()));
    }),
    act(&[Action::Mouse], always, |app| {
        app.screen.mouse = !app.screen.mouse;
        app.tell(match app.screen.mouse {
            true => "mouse on: click and wheel; with Shift most terminals still select text",
            false => "mouse off",
        });
        app.effects.push(Effect::Mouse(app.screen.mouse));
    }),
];

fn find(acts: &'static [Act], action: Action) -> Option<&'static Act> {
    acts.iter().find(|act| act.actions.contains(&action))
}

impl App {
    /// Returns the view's own entry for an action; `None` while an overlay or the list of programs has the keyboard.
    fn own_act(&self, action: Action) -> Option<&'static Act> {
        let has_keys = !self.has_popup() && self.derived.data.is_some();
        has_keys.then(|| find(self.views.current.about().acts, action))?
    }

    /// Whether an action means anything now. `update` performs only such actions.
    pub(crate) fn is_available(&self, action: Action) -> bool {
        let act = self.own_act(action).or_else(|| find(COMMON, action));
        act.map_or(matches!(action, Action::Show(_)), |act| (act.when)(self))
    }

    pub(super) fn perform(&mut self, action: Action) {
        if let Action::Show(view) = action {
            return self.show(view);
        }
        let own = self.own_act(action).and_then(|act| act.run);
        match own.or_else(|| find(COMMON, action)?.run) {
            Some(Run::Plainly(run)) => run(self),
            Some(Run::Each(run)) => run(self, action),
            None => {}
        }
    }
}

/// Returns the titles of the views that use a key, such as `Tree, Hot`; `None` if no view uses it.
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
    /// Whether an action would have an effect now. The footer offers only such actions.
    pub(crate) fn offers(&self, action: Action) -> bool {
        let of_the_program = matches!(
            action,
            Action::Reset | Action::Modes | Action::Slower | Action::Faster | Action::Freeze
        );
        self.is_available(action)
            && (action != Action::Live || self.playback.stands_still())
            && (action != Action::Compare || self.playback.mark.is_some() || self.reaches_back())
            // If the program counts only time and calls, the key could only switch to calls, which have a column of
            // their own anyway.
            && (action != Action::Measure || self.shown().is_some_and(|shown| !shown.measures.is_empty()))
            && (action != Action::Undo || (self.requests.undoable && self.program.status.answers()))
            && (!of_the_program
                || self.program.status.answers()
                || (action == Action::Freeze && self.program.status.moves())
                || (action == Action::Freeze && self.playback.stands_still()))
    }

    /// Whether the history seems to reach back far enough to compare the last ten seconds with the ten seconds before.
    /// The footer needs no exact answer.
    fn reaches_back(&self) -> bool {
        self.shown()
            .is_some_and(|shown| self.playback.past.reaches_back(shown, Window::Ten))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_every_view_does_something() {
        for line in KEYS.iter() {
            for &(_, action) in line.keys() {
                let runs = |acts| find(acts, action).is_some_and(|act| act.run.is_some());
                let in_views = line
                    .views
                    .iter()
                    .all(|view| runs(view.about().acts) || runs(COMMON));
                let works =
                    matches!(action, Action::Show(_)) || in_views && (line.others.is_empty() || runs(COMMON));
                assert!(works, "{}", line.help);
            }
        }
    }
}
