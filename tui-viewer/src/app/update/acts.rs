//! What each action does, and when it does anything. A view has a table of its own, which comes first.

use crate::app::message::Effect;
use crate::app::overlay::Overlay;
use crate::app::state::App;
use crate::keys::action::Action;

/// Carries an action out.
type Run = fn(&mut App, Action, &mut Vec<Effect>);

/// Some actions.
#[derive(Debug)]
pub(crate) struct Act {
    actions: &'static [Action],
    when: fn(&App) -> bool,
    /// What they do; `None` where that is the same as in other views.
    run: Option<Run>,
}

/// Returns actions that have an effect at these times.
pub(crate) const fn act(actions: &'static [Action], when: fn(&App) -> bool, run: Run) -> Act {
    Act {
        actions,
        when,
        run: Some(run),
    }
}

/// Returns actions that a view limits to these times.
pub(crate) const fn only(actions: &'static [Action], when: fn(&App) -> bool) -> Act {
    Act {
        actions,
        when,
        run: None,
    }
}

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

/// Whether the program may be asked; where it cannot answer, the action says why.
fn may_ask(app: &App) -> bool {
    shows(app) && app.requests.pending.is_none()
}

fn searches(app: &App) -> bool {
    app.views.search.as_ref().is_some_and(|search| search.is_set())
}

/// Actions for which the whole screen, or an overlay, is enough.
const COMMON: &[Act] = &[
    act(&[Action::NextView], always, |app, _, _| {
        app.show(app.views.current.beside(1))
    }),
    act(&[Action::PreviousView], always, |app, _, _| {
        app.show(app.views.current.beside(-1))
    }),
    act(&[Action::Help], always, |app, _, _| app.turn_help()),
    act(&[Action::Back], always, |app, _, _| app.back()),
    act(&[Action::Close], always, |app, _, effects| {
        match app.has_popup() {
            true => app.overlay = None,
            false => effects.push(Effect::Quit),
        }
    }),
    act(&[Action::Quit], always, |_, _, effects| {
        effects.push(Effect::Quit)
    }),
    act(&[Action::Repaint], always, |_, _, effects| {
        effects.push(Effect::Repaint)
    }),
    act(&[Action::Suspend], always, |_, _, effects| {
        effects.push(Effect::Suspend)
    }),
    act(
        &[
            Action::Up,
            Action::Down,
            Action::PageUp,
            Action::PageDown,
            Action::HalfUp,
            Action::HalfDown,
            Action::First,
            Action::Last,
        ],
        always,
        |app, action, _| app.step(action),
    ),
    act(&[Action::Open], has_rows, |app, _, _| app.go_in()),
    act(&[Action::Shut], has_rows, |app, _, _| app.go_out()),
    act(&[Action::Fold], has_rows, |app, _, _| app.fold()),
    act(&[Action::OpenAll], has_rows, |app, _, _| app.fold_all(true)),
    act(&[Action::CloseAll], has_rows, |app, _, _| app.fold_all(false)),
    act(&[Action::PreviousSibling], always, |app, _, _| {
        app.step_sibling(-1)
    }),
    act(&[Action::NextSibling], always, |app, _, _| app.step_sibling(1)),
    act(&[Action::Centre], has_rows, |app, _, _| {
        let page = app.page();
        app.list_mut().centre(page);
    }),
    act(&[Action::Enter], has_rows, |app, _, _| app.enter_row()),
    act(
        &[Action::Choose],
        |app| app.derived.data.is_some() || !app.program.found.is_empty(),
        |app, _, effects| app.choose(effects),
    ),
    act(&[Action::FocusFunction], has_rows, |app, _, _| {
        app.focus_function()
    }),
    act(&[Action::FocusSubtree], has_rows, |app, _, _| app.focus_subtree()),
    act(&[Action::Groups], shows, |app, _, _| app.group()),
    act(&[Action::ToTree], has_rows, |app, _, _| app.show_in_tree()),
    act(
        &[Action::Search],
        |app| app.help().is_some() || has_rows(app),
        |app, action, _| match app.help() {
            Some(_) => app.search_in_help(action),
            None => app.search_begin(),
        },
    ),
    act(
        &[Action::NextMatch, Action::PreviousMatch],
        |app| match app.help() {
            Some(help) => help.search.is_some(),
            None => searches(app),
        },
        |app, action, _| match app.help() {
            Some(_) => app.search_in_help(action),
            None => app.search_step(action == Action::NextMatch),
        },
    ),
    act(&[Action::MatchesOnly], searches, |app, _, _| app.search_only()),
    act(&[Action::SortLeft], always, |app, _, _| app.sort_by(-1)),
    act(&[Action::SortRight], always, |app, _, _| app.sort_by(1)),
    act(&[Action::Reverse], always, |app, _, _| {
        let sort = &mut app.list_mut().sort;
        sort.reversed = !sort.reversed;
    }),
    act(&[Action::Percent], always, |app, _, _| app.next_percent_of()),
    act(&[Action::PerCall], has_rows, |app, _, _| app.per_call()),
    act(&[Action::Units], shows, |app, _, _| app.change_units()),
    act(&[Action::Measure], shows, |app, _, _| app.next_measure()),
    act(&[Action::Window], shows, |app, _, _| app.next_window()),
    act(
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
        |app, action, _| app.travel_in_time(action),
    ),
    act(&[Action::Mark], shows, |app, _, _| app.mark_moment()),
    act(&[Action::Compare], shows, |app, _, _| app.compare()),
    act(&[Action::ToggleCallees], has_rows, |app, _, effects| {
        app.toggle_callees(effects)
    }),
    act(&[Action::Watch], has_rows, |app, _, effects| {
        app.watch_row(effects)
    }),
    act(&[Action::Source], has_rows, |app, _, effects| {
        app.turn_source(effects)
    }),
    act(&[Action::Scope], shows, |app, _, _| app.choose_threads()),
    act(&[Action::Freeze], shows, |app, _, _| app.freeze()),
    act(&[Action::Reset], may_ask, |app, _, effects| {
        app.request_reset(effects)
    }),
    act(&[Action::Undo], may_ask, |app, _, effects| app.undo(effects)),
    act(&[Action::Modes], may_ask, |app, _, _| app.list_modes()),
    act(&[Action::Yes], always, |app, _, effects| {
        if let Some(Overlay::Confirm(request)) = app.overlay.take() {
            app.send(request, effects);
        }
    }),
    act(&[Action::Report], shows, |app, _, effects| app.report(effects)),
    act(&[Action::Keep], shows, |app, _, effects| app.keep(effects)),
    act(&[Action::Copy], has_rows, |app, _, effects| app.copy(effects)),
    act(&[Action::Edit], has_rows, |app, _, effects| {
        app.edit_source(effects)
    }),
    act(&[Action::Slower], may_ask, |app, _, effects| {
        app.change_rate(false, effects)
    }),
    act(&[Action::Faster], may_ask, |app, _, effects| {
        app.change_rate(true, effects)
    }),
    act(&[Action::Theme], always, |app, _, _| {
        app.screen.theme = app.screen.theme.next();
        app.tell(format!("theme: {}", app.screen.theme.name()));
    }),
    act(&[Action::Mouse], always, |app, _, effects| {
        app.screen.mouse = !app.screen.mouse;
        app.tell(match app.screen.mouse {
            true => "mouse on: click and wheel; with Shift most terminals still select text",
            false => "mouse off",
        });
        effects.push(Effect::Mouse(app.screen.mouse));
    }),
];

fn find(acts: &'static [Act], action: Action) -> Option<&'static Act> {
    acts.iter().find(|act| act.actions.contains(&action))
}

impl App {
    /// Returns the entry of the view on screen, unless an overlay or the list of programs has the keys.
    fn own_act(&self, action: Action) -> Option<&'static Act> {
        let has_keys = !self.has_popup() && self.derived.data.is_some();
        has_keys.then(|| find(self.views.current.kind().acts(), action))?
    }

    /// Whether an action has a meaning now; `update` performs no other.
    pub(crate) fn is_available(&self, action: Action) -> bool {
        let act = self.own_act(action).or_else(|| find(COMMON, action));
        act.map_or(matches!(action, Action::Show(_)), |act| (act.when)(self))
    }

    /// Carries an action out.
    pub(super) fn perform(&mut self, action: Action, effects: &mut Vec<Effect>) {
        if let Action::Show(view) = action {
            return self.show(view);
        }
        let own = self.own_act(action).and_then(|act| act.run);
        if let Some(run) = own.or_else(|| find(COMMON, action)?.run) {
            run(self, action, effects);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::keymap::KEYS;

    #[test]
    fn every_key_of_every_view_does_something() {
        for line in KEYS.iter() {
            for &(_, action) in line.keys {
                let runs = |acts| find(acts, action).is_some_and(|act| act.run.is_some());
                let in_views = line
                    .views
                    .iter()
                    .all(|view| runs(view.kind().acts()) || runs(COMMON));
                let works =
                    matches!(action, Action::Show(_)) || in_views && (line.others.is_empty() || runs(COMMON));
                assert!(works, "{}", line.help);
            }
        }
    }
}
