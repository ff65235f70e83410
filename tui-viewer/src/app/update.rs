//! The effect of each message on the app.

pub(crate) mod acts;
mod banner;
mod find;
mod focus;
mod notice;
mod on_event;
mod pointer;
mod refresh;
mod requests;
mod sites;
mod threads;
mod time;
pub(crate) mod travel;
mod unit;
mod writing;

use ratatui::layout::Position;
use tickscope_format::snapshot::Mode;

use crate::app::cursor::Cursor;
use crate::app::help as help_lines;
use crate::app::help::HelpScreen;
use crate::app::message::{Effect, Message};
use crate::app::program::Program;
use crate::app::sort::{Order, Sort};
use crate::app::state::{App, Overlay};
use crate::app::threads::ThreadChoice;
use crate::keys::action::{Action, Context};
use crate::keys::decoder::key_name;
use crate::keys::view::View;
use crate::text::cells::cut_start;
use crate::text::glyphs::Glyphs;
use crate::text::words::in_words;

impl App {
    /// Takes one message; returns the effects for the event loop.
    pub(crate) fn update(&mut self, message: Message) -> Vec<Effect> {
        match message {
            Message::Do(action) => {
                self.screen.touch();
                self.notices.key_is_known();
                if self.is_available(action) {
                    // `back` drops the notice itself, because what Escape does depends on whether a notice is shown.
                    if action != Action::Back {
                        self.notices.read();
                    }
                    self.perform(action);
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
                if self.overlay.is_none() && self.derived.data.is_some() {
                    self.views.current.kind().drag(self, Position { x, y });
                }
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
                let elsewhere = acts::elsewhere(key).filter(|_| matches!(self.context(), Context::In(_)));
                if let Some(views) = elsewhere {
                    // The key has a meaning in other views, so the notice names them.
                    self.tell(format!("{} works in {views}", key_name(key, self.screen.ascii)));
                }
                self.screen.dirty |= self.notices.key_is_unknown(self.screen.now);
            }
            Message::Events(events) => self.on_event(*events),
            Message::Time(now) => self.tick(now),
            Message::Resize(size) => {
                self.screen.dirty |= self.screen.size != size;
                self.screen.size = size;
            }
            Message::Wrote(what, Ok(paths)) => {
                let before = format!("{what} written to ");
                // The report has plain numbers even if the screen shows differences. `tickscope diff` reports differences.
                let after = match (
                    self.compared().filter(|_| what == "report"),
                    self.screen.size.width,
                ) {
                    // A narrow screen has no room for the tools' names, but the file extensions already name two of the
                    // three.
                    (None, 140..) if what == "call" => {
                        ": for ui.perfetto.dev, profiler.firefox.com, speedscope.app"
                    }
                    (None, _) => "",
                    (Some(_), ..100) => " (plain; see tickscope diff)",
                    (Some(_), _) => ": the plain numbers; tickscope diff compares",
                };
                // If there is no room, the beginning is cut, because the file names at the end of the paths say more.
                let room = usize::from(self.screen.size.width).saturating_sub(before.len() + after.len() + 2);
                let paths = in_words(&paths);
                let paths = cut_start(&paths, room, Glyphs::of(self.screen.ascii).cut);
                self.tell(format!("{before}{paths}{after}"));
            }
            Message::Wrote(what, Err(why)) => self.complain(format!("{what} not written: {why}")),
            Message::FoundCode(found) => self.take_code(found),
            Message::NotSent(request, why) => self.refused(request, &why),
            Message::NotOpened(why) => self.complain(why),
        }
        self.refresh();
        self.derive_source();
        std::mem::take(&mut self.effects)
    }

    /// Shows another view, from which Escape does not lead back. A function that the user selected by hand is also
    /// selected in the new view, if that view supports it.
    pub(crate) fn show(&mut self, view: View) {
        self.views.came_from = None;
        self.forget_way();
        let chosen = self.chosen_by_hand().filter(|_| self.views.current != view);
        self.switch_to(view);
        if let Some(chosen) = chosen.filter(|_| view.about().follows) {
            self.follow(chosen.key);
        }
    }

    /// Shows another view, without changing where Escape leads back to.
    pub(crate) fn switch_to(&mut self, view: View) {
        view.kind().begin(self);
        self.views.current = view;
    }

    pub(crate) fn back(&mut self) {
        let told = self.notices.read();
        match self.overlay.take() {
            // While the help is searched, Escape ends the search, and the help stays open.
            Some(Overlay::Help(HelpScreen {
                scroll,
                search: Some(_),
            })) => self.overlay = Some(Overlay::Help(HelpScreen { scroll, search: None })),
            Some(Overlay::Search) => self.search_end(true),
            Some(_) => {}
            None => self.step_back(told),
        }
    }

    /// Handles Escape in a view. Undoes one thing per key press, in a fixed order. `told` is whether this key press has
    /// already dismissed a notice.
    fn step_back(&mut self, told: bool) {
        if self.views.search.is_some() {
            self.search_end(false);
        } else if self.query.per_call.is_some() {
            self.per_call_end();
        } else if self.views.current.kind().step_back(self) {
            // The view itself has gone back one step.
        } else if let Some(origin) = self.views.came_from.take() {
            if origin.filtered {
                self.show_time_of(ThreadChoice::All);
            }
            self.switch_to(origin.view);
        } else if self.leave_focus() || self.leave_range() {
        } else if self.query.against.is_some() {
            self.compare_no_more();
        } else if self.playback.is_past() {
            self.travel_in_time(Action::Live);
        } else if !told && self.notices.current.take().is_none() {
            self.program.warnings_seen = true;
        }
    }

    /// Shows the help, or hides it.
    pub(crate) fn turn_help(&mut self) {
        self.overlay = match self.overlay {
            Some(Overlay::Help(_)) => None,
            Some(_) | None => Some(Overlay::Help(HelpScreen::default())),
        };
    }

    /// Searches in the help if it is on top, and otherwise in the list.
    pub(crate) fn search(&mut self, action: Action) {
        let forward = action == Action::NextMatch;
        match (&mut self.overlay, action) {
            (Some(Overlay::Help(help)), Action::Search) => help.begin_search(),
            (Some(Overlay::Help(help)), _) => help.step(forward, &self.screen),
            (_, Action::Search) => self.search_begin(),
            (_, _) => self.search_step(forward),
        }
    }

    /// Moves up and down in the list that has the keyboard.
    pub(crate) fn step(&mut self, action: Action) {
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
            None | Some(Overlay::Search) => self.travel(action),
        }
    }

    pub(crate) fn choose(&mut self) {
        if let Some(Overlay::Help(help)) = &mut self.overlay {
            return help.keep_search(&self.screen);
        }
        match &self.overlay {
            Some(Overlay::Search) => self.search_keep(),
            &Some(Overlay::Modes { index }) => {
                self.overlay = None;
                self.choose_mode(index);
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
                self.effects
                    .extend(line.map(|line| Effect::Open(line.path.clone())));
            }
            Some(Overlay::Confirm(_) | Overlay::Help(_)) | None => {}
        }
    }

    /// Sorts by a column. If this already is the sort column, reverses the order.
    pub(crate) fn sort_column(&mut self, key: Order) {
        let sort = self.list().sort;
        self.sort_from_top(Sort {
            key,
            reversed: sort.key == key && !sort.reversed,
        });
    }

    /// Sorts, and selects the first row, because users sort in order to see what comes first. If the selection stayed
    /// on its row, the first rows might be off the screen.
    fn sort_from_top(&mut self, sort: Sort) {
        let list = self.list_mut();
        list.sort = sort;
        list.cursor = Cursor::default();
    }

    pub(crate) fn sort_by(&mut self, step: isize) {
        let mut keys: Vec<Order> = Vec::new();
        let places = self.places(self.layout().columns);
        for key in places.iter().filter_map(|place| place.column.sort) {
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
