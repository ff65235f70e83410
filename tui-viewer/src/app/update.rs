//! What each message does to the app.

mod availability;
mod banner;
mod compare;
mod find;
mod flame;
mod focus;
mod function;
mod notice;
mod on_event;
mod pointer;
mod refresh;
mod requests;
mod sites;
mod slow;
pub(crate) mod source;
mod threads;
mod time;
mod timeline;
mod travel;
mod unit;
mod writing;

use crate::app::help as help_lines;
use ratatui::layout::Position;
use tickscope_format::snapshot::Mode;

use crate::app::columns;
use crate::app::cursor::Cursor;
use crate::app::help_screen::HelpScreen;
use crate::app::message::{Effect, Message};
use crate::app::overlay::Overlay;
use crate::app::program::Program;
use crate::app::sort::{Sort, SortKey};
use crate::app::state::App;
use crate::app::thread_choice::ThreadChoice;
use crate::app::view::View;
use crate::keys::action::Action;
use crate::keys::decoder::key_name;
use crate::text::cells::cut_start;
use crate::text::glyphs::Glyphs;
use crate::text::words::in_words;

impl App {
    /// Takes one message; what is to be done outside comes back.
    pub(crate) fn update(&mut self, message: Message) -> Vec<Effect> {
        let mut effects = Vec::new();
        match message {
            Message::Do(action) => {
                self.screen.touch();
                self.notices.key_is_known();
                if self.is_available(action) {
                    // Escape looks itself what there is to go back from.
                    if action != Action::Back {
                        self.notices.read();
                    }
                    self.perform(action, &mut effects);
                }
            }
            Message::Edit(request) => {
                self.screen.touch();
                self.notices.read();
                if let Some(Overlay::Help(help)) = &mut self.overlay {
                    help.edit(request, &self.screen);
                } else {
                    self.search_edit(request);
                }
            }
            Message::Click(x, y) => {
                self.screen.touch();
                self.click(x, y);
                self.notices.read();
            }
            Message::Drag(x, y) => {
                self.screen.touch();
                self.drag(x, y);
                self.notices.read();
            }
            Message::Wheel(rows, x, y) => {
                self.screen.touch();
                self.notices.read();
                self.wheel(rows, Position { x, y });
            }
            Message::WheelAside(right, x, y) => {
                self.screen.touch();
                self.notices.read();
                self.wheel_aside(right, Position { x, y });
            }
            Message::Unknown(key) => {
                let elsewhere =
                    availability::elsewhere(key).filter(|_| self.context() == self.views.current.context());
                if let Some(views) = elsewhere {
                    // The key has a meaning elsewhere, and the user is told where.
                    self.tell(format!("{} works in {views}", key_name(key, self.screen.ascii)));
                    self.screen.dirty = true;
                }
                self.screen.dirty |= self.notices.key_is_unknown(self.screen.now);
            }
            Message::Events(events) => self.on_event(*events, &mut effects),
            Message::Time(now) => self.tick(now),
            Message::Resize(size) => {
                self.screen.dirty |= self.screen.size != size;
                self.screen.size = size;
            }
            Message::Wrote(what, Ok(paths)) => {
                let before = format!("{what} written to ");
                // Differences have a command of their own.
                let after = match (
                    self.compared().filter(|_| what == "report"),
                    self.screen.size.width,
                ) {
                    // Where that has no room, the endings name two of the three.
                    (None, 140..) if what == "call" => {
                        ": for ui.perfetto.dev, profiler.firefox.com, speedscope.app"
                    }
                    (None, _) => "",
                    (Some(_), ..100) => " (plain; see tickscope diff)",
                    (Some(_), _) => ": the plain numbers; tickscope diff compares",
                };
                // What a file is called says more than the way to it.
                let room = usize::from(self.screen.size.width).saturating_sub(before.len() + after.len() + 2);
                let paths = in_words(&paths);
                let paths = cut_start(&paths, room, Glyphs::of(self.screen.ascii).cut);
                self.tell(format!("{before}{paths}{after}"));
                self.screen.dirty = true;
            }
            Message::Wrote(what, Err(why)) => {
                self.complain(format!("{what} not written: {why}"));
                self.screen.dirty = true;
            }
            Message::FoundCode(found) => self.take_code(found),
            Message::NotSent(request, why) => self.refused(request, &why),
            Message::NotOpened(why) => {
                self.complain(why);
                self.screen.dirty = true;
            }
        }
        self.refresh();
        self.derive_source(&mut effects);
        effects
    }

    pub(super) fn perform(&mut self, action: Action, effects: &mut Vec<Effect>) {
        match action {
            Action::Show(view) => self.show(view),
            Action::SlotEarlier => self.step_slot(false),
            Action::SlotLater => self.step_slot(true),
            Action::RangeEarlier => self.extend_range(false),
            Action::RangeLater => self.extend_range(true),
            Action::Lanes => self.turn_lanes(),
            Action::Closer | Action::Further | Action::WholeCall if self.views.current == View::Timeline => {
                self.zoom_timeline(action);
            }
            Action::Watch => self.watch_row(effects),
            Action::Unwatch => self.unwatch(effects),
            Action::Source => self.turn_source(effects),
            Action::SourceDown => self.scroll_source(true),
            Action::SourceUp => self.scroll_source(false),
            Action::NextWatch => self.next_watch(),
            Action::NextCall => self.step_call(true),
            Action::PreviousCall => self.step_call(false),
            Action::ExportCall => self.export_call(effects),
            Action::Closer => self.zoom_call(None, true),
            Action::Further => self.zoom_call(None, false),
            Action::PartEarlier => self.pan_call(false),
            Action::PartLater => self.pan_call(true),
            Action::WholeCall => self.views.slow.zoom = None,
            Action::NextView => self.show(self.views.current.beside(1)),
            Action::PreviousView => self.show(self.views.current.beside(-1)),
            Action::Help => self.turn_help(),
            Action::Back => self.back(),
            Action::Close if self.has_popup() => self.overlay = None,
            Action::Close | Action::Quit => effects.push(Effect::Quit),
            Action::Repaint => effects.push(Effect::Repaint),
            Action::Suspend => effects.push(Effect::Suspend),
            Action::Up
            | Action::Down
            | Action::PageUp
            | Action::PageDown
            | Action::HalfUp
            | Action::HalfDown
            | Action::First
            | Action::Last => self.step(action),
            Action::Open => self.go_in(),
            Action::Shut => self.go_out(),
            Action::Fold => self.fold(),
            Action::OpenAll => self.fold_all(true),
            Action::CloseAll => self.fold_all(false),
            Action::HotPath => self.go_hot(),
            Action::ToCallers => self.go_beside(0),
            Action::ToCallees => self.go_beside(1),
            Action::PreviousSibling => self.step_sibling(-1),
            Action::NextSibling => self.step_sibling(1),
            Action::Centre => {
                let page = self.page();
                self.list_mut().centre(page);
            }
            Action::Enter if self.offers_tails() => self.watch_row(effects),
            Action::Enter => self.enter_row(),
            Action::Choose => self.choose(effects),
            Action::FocusFunction => self.focus_function(),
            Action::FocusSubtree => self.focus_subtree(),
            Action::Invert => self.invert(),
            Action::FoldRecursion => self.fold_recursion(),
            Action::Groups => self.group(),
            Action::OtherPlace => self.other_place(),
            Action::ToTree => self.show_in_tree(),
            Action::Search | Action::NextMatch | Action::PreviousMatch if self.help().is_some() => {
                self.search_in_help(action);
            }
            Action::Search => self.search_begin(),
            Action::NextMatch => self.search_step(true),
            Action::PreviousMatch => self.search_step(false),
            Action::MatchesOnly => self.search_only(),
            Action::SortLeft => self.sort_by(-1),
            Action::SortRight => self.sort_by(1),
            Action::Reverse => {
                let sort = &mut self.list_mut().sort;
                sort.reversed = !sort.reversed;
            }
            Action::Percent => {
                self.next_percent_of();
            }
            Action::PerCall => self.per_call(),
            Action::Units => self.change_units(),
            Action::Measure => self.next_measure(),
            Action::Window => self.next_window(),
            Action::Earlier
            | Action::Later
            | Action::FarEarlier
            | Action::FarLater
            | Action::Oldest
            | Action::Newest
            | Action::Live => self.travel_in_time(action),
            Action::Mark => self.mark_moment(),
            Action::Compare => self.compare(),
            Action::ToggleSite => self.toggle_site(effects),
            Action::ToggleCallees => self.toggle_callees(effects),
            Action::Scope => self.choose_threads(),
            Action::Freeze => self.freeze(),
            Action::Reset => self.request_reset(effects),
            Action::Modes => self.list_modes(),
            Action::Yes => {
                if let Some(Overlay::Confirm(request)) = self.overlay.take() {
                    self.send(request, effects);
                }
            }
            Action::Undo => self.undo(effects),
            Action::Report => self.report(effects),
            Action::Keep => self.keep(effects),
            Action::Copy => self.copy(effects),
            Action::Edit => self.edit_source(effects),
            Action::Slower => self.change_rate(false, effects),
            Action::Faster => self.change_rate(true, effects),
            Action::FlameColour => self.flame_recolour(),
            Action::Second => self.next_below(),
            Action::Theme => {
                self.screen.theme = self.screen.theme.next();
                self.tell(format!("theme: {}", self.screen.theme.name()));
            }
            Action::Mouse => {
                self.screen.mouse = !self.screen.mouse;
                self.tell(if self.screen.mouse {
                    "mouse on: click and wheel; with Shift most terminals still select text"
                } else {
                    "mouse off"
                });
                effects.push(Effect::Mouse(self.screen.mouse));
            }
        }
    }

    /// Another view: its rows are old, and nothing is under the finger there.
    pub(super) fn show(&mut self, view: View) {
        self.views.came_from = None;
        self.forget_way();
        let chosen = self.chosen_by_hand().filter(|_| self.views.current != view);
        self.switch_to(view);
        if let (Some(chosen), View::Hot | View::Sites | View::Tasks | View::Slow) = (chosen, view) {
            self.follow(chosen.key);
        }
    }

    /// The same on the way back, or on a way that leads back.
    pub(super) fn switch_to(&mut self, view: View) {
        if view == View::Function {
            self.choose_function();
        }
        self.views.current = view;
    }

    fn back(&mut self) {
        let told = self.notices.read();
        match self.overlay.take() {
            // The help stays where only a search in it ends.
            Some(Overlay::Help(HelpScreen {
                scroll,
                search: Some(_),
            })) => self.overlay = Some(Overlay::Help(HelpScreen { scroll, search: None })),
            Some(Overlay::Search) => self.search_end(true),
            Some(_) => {}
            None => self.step_back(told),
        }
    }

    /// Escape in a view: undoes the last thing that can be undone; `told` says that a notice went.
    fn step_back(&mut self, told: bool) {
        if self.views.search.is_some() {
            self.search_end(false);
        } else if self.query.per_call.is_some() {
            self.per_call_end();
        } else if self.views.current == View::Flame && self.zoom_all() {
            // All of the graph is one step back.
        } else if self.views.current == View::Slow && self.whole_call() {
            // All of the call is as well.
        } else if let Some(origin) = self.views.came_from.take() {
            if origin.filtered {
                self.show_time_of(ThreadChoice::All);
            }
            self.switch_to(origin.view);
        } else if self.go_back() || self.leave_focus() || self.leave_range() {
        } else if self.query.against.is_some() {
            self.compare_no_more();
        } else if self.playback.is_past() {
            self.travel_in_time(Action::Live);
        } else if !told && self.notices.current.take().is_none() {
            self.program.warnings_seen = true;
        }
    }

    /// The help comes up, or goes.
    fn turn_help(&mut self) {
        self.overlay = match self.overlay {
            Some(Overlay::Help(_)) => None,
            Some(_) | None => Some(Overlay::Help(HelpScreen::default())),
        };
    }

    /// A key that searches, while the help is on top.
    fn search_in_help(&mut self, action: Action) {
        let Some(Overlay::Help(help)) = &mut self.overlay else {
            return;
        };
        if action == Action::Search {
            help.begin_search();
        } else {
            help.step(action == Action::NextMatch, &self.screen);
        }
    }

    /// Up and down in whatever list has the keyboard.
    pub(super) fn step(&mut self, action: Action) {
        let page = self.page().max(1);
        let size = self.screen.size;
        match &mut self.overlay {
            Some(Overlay::Help(help)) => {
                let (end, page) = (help_lines::end(size), help_lines::page(size));
                help.scroll = travel::target(action, help.scroll, end + 1, page);
            }
            Some(Overlay::Threads { index, order }) => {
                *index = travel::target(action, *index, order.len() + 1, page);
            }
            Some(Overlay::Modes { index }) => {
                *index = travel::target(action, *index, Mode::ALL.len(), page);
            }
            Some(Overlay::Confirm(_)) => {}
            None | Some(Overlay::Search) if self.derived.data.is_none() => {
                let Program { chosen, found, .. } = &mut self.program;
                *chosen = travel::target(action, *chosen, found.len(), page);
            }
            None | Some(Overlay::Search) if self.views.current == View::Flame => {
                self.flame_travel(action);
            }
            None | Some(Overlay::Search) => self.travel(action),
        }
    }

    fn choose(&mut self, effects: &mut Vec<Effect>) {
        if let Some(Overlay::Help(help)) = &mut self.overlay {
            return help.keep_search(&self.screen);
        }
        match &self.overlay {
            Some(Overlay::Search) => self.search_keep(),
            &Some(Overlay::Modes { index }) => {
                self.overlay = None;
                self.choose_mode(index, effects);
            }
            Some(Overlay::Threads { index, order }) => {
                let line = index.checked_sub(1).and_then(|line| order.get(line));
                let thread = self
                    .shown()
                    .zip(line)
                    .and_then(|(shown, thread)| shown.threads.get(thread.index()));
                let threads = thread.map_or(ThreadChoice::All, |thread| ThreadChoice::One {
                    name: thread.name.clone(),
                    tid: thread.tid,
                });
                self.overlay = None;
                self.choose_time_of(threads);
            }
            None if self.derived.data.is_none() => {
                let line = self.program.found.get(self.program.chosen);
                effects.extend(line.map(|line| Effect::Open(line.path.clone())));
            }
            Some(Overlay::Confirm(_) | Overlay::Help(_)) | None => {}
        }
    }

    /// Sorts by a column; by the one that sorts already, the other way round.
    pub(super) fn sort_column(&mut self, key: SortKey) {
        let sort = self.list().sort;
        self.sort_from_top(Sort {
            key,
            reversed: sort.key == key && !sort.reversed,
        });
    }

    /// Sorts, and goes to the first row: that is what one sorts for. A row that keeps its place would hide those above it.
    fn sort_from_top(&mut self, sort: Sort) {
        let list = self.list_mut();
        list.sort = sort;
        list.cursor = Cursor::default();
    }

    fn sort_by(&mut self, step: isize) {
        let mut keys: Vec<SortKey> = Vec::new();
        for key in columns::places(self.views.current, self.layout().columns.width)
            .iter()
            .filter_map(|place| place.column.spec().sort)
        {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let sort = self.list().sort;
        let at = keys.iter().position(|&key| key == sort.key).unwrap_or(0);
        let to = at.saturating_add_signed(step).min(keys.len().saturating_sub(1));
        if let Some(&key) = keys.get(to).filter(|_| to != at) {
            self.sort_from_top(Sort { key, reversed: false });
        }
    }
}
