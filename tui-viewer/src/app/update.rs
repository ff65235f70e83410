//! What each message does to the model.

mod activity;
mod availability;
mod banner;
mod command_line;
pub(crate) mod compare;
mod editor;
mod find;
mod flame;
mod focus;
mod function;
mod help;
mod modes;
mod notice;
mod on_event;
mod pointer;
pub(crate) mod refresh;
mod requests;
mod sites;
mod threads;
mod time;
mod travel;
mod unit;
mod window;
mod writing;

use crate::app::help as help_lines;
use crate::app::threads::busiest_first;
use tickscope_format::snapshot::Mode;

use crate::app::columns;
use crate::app::message::{Effect, Message};
use crate::app::notice::Notice;
use crate::app::popup::Popup;
use crate::app::scope::Scope;
use crate::app::sort::{Sort, SortKey};
use crate::app::state::Model;
use crate::app::view::View;
use crate::cli::args::ReportFormat;
use crate::keys::action::{Action, Context};
use crate::keys::decoder::key_name;
use crate::text::cells::cut_start;
use crate::text::glyphs::Glyphs;
use crate::text::words::in_words;

/// So many keys without a meaning in a row call for help.
const LOST_AFTER: u8 = 3;

/// How long the hint stands that there is help.
const HINT_FOR: std::time::Duration = std::time::Duration::from_secs(3);

// === impl Model ===

impl Model {
    /// Takes one message; what is to be done outside comes back.
    pub(crate) fn update(&mut self, message: Message) -> Vec<Effect> {
        let mut effects = Vec::new();
        match message {
            Message::Do(action) => {
                self.touched();
                self.unknown_keys = 0;
                if self.can(action) {
                    // Escape looks itself what there is to go back from.
                    if action != Action::Back {
                        self.notice_read();
                    }
                    self.act(action, &mut effects);
                }
            }
            Message::Edit(request) => {
                self.touched();
                self.notice_read();
                if self.in_help() {
                    self.help_edit(request);
                } else if self.context() == Context::Commanding {
                    self.command_edit(request);
                } else {
                    self.search_edit(request);
                }
            }
            Message::Click(x, y) => {
                self.touched();
                self.click(x, y);
                self.notice_read();
            }
            Message::Wheel(rows) => {
                self.touched();
                self.notice_read();
                self.wheel(rows);
            }
            Message::Unknown(key) => {
                let elsewhere =
                    availability::elsewhere(key).filter(|_| self.context() == self.view.context());
                if let Some(views) = elsewhere {
                    // It is in the help, and so no key of somebody who is lost.
                    self.tell(format!("{} works in {views}", key_name(key, self.ascii)));
                    self.dirty = true;
                }
                self.unknown_keys += 1;
                if self.unknown_keys >= LOST_AFTER {
                    self.unknown_keys = 0;
                    let text = "? shows the keys".to_string();
                    self.notice = Some(Notice {
                        text,
                        error: false,
                        until: self.now + HINT_FOR,
                    });
                    self.dirty = true;
                }
            }
            Message::News(news) => self.hear(*news),
            Message::Time(now) => self.tick(now),
            Message::Resize(size) => {
                self.dirty |= self.size != size;
                self.size = size;
                // How many cells there are decides which frames have one, and how many lines whether there are headings.
                self.rows_stale |= matches!(self.view, View::Flame | View::Function);
            }
            Message::Wrote(what, Ok(paths)) => {
                let before = format!("{what} written to ");
                // Differences have a command of their own.
                let after = match (self.compared().filter(|_| what == "report"), self.size.width) {
                    (None, _) => "",
                    (Some(_), ..100) => " (plain; see tickscope diff)",
                    (Some(_), _) => ": the plain numbers; tickscope diff compares",
                };
                // What a file is called says more than the way to it.
                let room = usize::from(self.size.width).saturating_sub(before.len() + after.len() + 2);
                let paths = in_words(&paths);
                let paths = cut_start(&paths, room, Glyphs::of(self.ascii).cut);
                self.tell(format!("{before}{paths}{after}"));
                self.dirty = true;
            }
            Message::Wrote(what, Err(why)) => {
                self.complain(format!("{what} not written: {why}"));
                self.dirty = true;
            }
            Message::NotSent(request, why) => self.refused(request, &why),
            Message::NotOpened(why) => {
                self.complain(why);
                self.dirty = true;
            }
        }
        self.refresh();
        effects
    }

    fn touched(&mut self) {
        self.last_key = Some(self.now);
        self.dirty = true;
    }

    pub(super) fn act(&mut self, action: Action, effects: &mut Vec<Effect>) {
        match action {
            Action::ShowTree => self.show(View::Tree),
            Action::ShowHot => self.show(View::Hot),
            Action::ShowFunction => self.show(View::Function),
            Action::ShowThreads => self.show(View::Threads),
            Action::ShowFlame => self.show(View::Flame),
            Action::ShowSites => self.show(View::Sites),
            Action::NextView => self.show(self.view.beside(1)),
            Action::PreviousView => self.show(self.view.beside(-1)),
            Action::Help => self.turn_help(),
            Action::Back => self.back(),
            Action::Close if self.popup.is_some() => self.popup = None,
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
            Action::PreviousSibling => self.step_sibling(-1),
            Action::NextSibling => self.step_sibling(1),
            Action::Centre => {
                let (rows, page) = (self.list().rows.len(), self.page());
                self.list_mut().cursor.centre(rows, page);
            }
            Action::Enter => self.enter_row(),
            Action::Choose => self.choose(effects),
            Action::FocusFunction => self.focus_function(),
            Action::FocusSubtree => self.focus_subtree(),
            Action::Invert => self.invert(),
            Action::FoldRecursion => self.fold_recursion(),
            Action::Groups => self.group(),
            Action::OtherPlace => self.other_place(),
            Action::ToTree => self.show_in_tree(),
            Action::Search if self.in_help() => self.help_search_begin(),
            Action::NextMatch if self.in_help() => self.help_step(true),
            Action::PreviousMatch if self.in_help() => self.help_step(false),
            Action::Search => self.search_begin(),
            Action::NextMatch => self.search_step(true),
            Action::PreviousMatch => self.search_step(false),
            Action::MatchesOnly => self.search_only(),
            Action::SortLeft => self.sort_by(-1),
            Action::SortRight => self.sort_by(1),
            Action::Reverse => {
                let sort = &mut self.list_mut().sort;
                sort.reversed = !sort.reversed;
                self.sort_again();
            }
            Action::Percent => {
                self.next_base();
                self.sort_again();
            }
            Action::Compensate => self.compensate(),
            Action::PerCall => self.per_call(),
            Action::Units => self.change_units(),
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
            Action::Command => self.command_begin(),
            Action::Complete => self.complete(true),
            Action::CompleteBack => self.complete(false),
            Action::OlderCommand => self.recall(true),
            Action::NewerCommand => self.recall(false),
            Action::Scope => self.choose_scope(),
            Action::Freeze => self.freeze(),
            Action::Reset => self.ask_reset(effects),
            Action::Modes => self.list_modes(),
            Action::Yes => {
                if let Some(Popup::Ask(request)) = self.popup.take() {
                    self.send(request, effects);
                }
            }
            Action::Undo => self.undo(effects),
            Action::Report => {
                let formats = vec![ReportFormat::Text, ReportFormat::Html];
                self.report_in(formats, None, self.compensated, effects);
            }
            Action::Keep => self.keep_in(None, effects),
            Action::ReportAs => self.report_as(),
            Action::Copy => self.copy(effects),
            Action::Edit => self.edit_source(effects),
            Action::Slower => self.change_rate(false, effects),
            Action::Faster => self.change_rate(true, effects),
            Action::Theme => {
                self.theme = self.theme.next();
                self.tell(format!("theme: {}", self.theme.name()));
            }
            Action::Mouse => {
                self.mouse = !self.mouse;
                self.tell(if self.mouse {
                    "mouse on: click and wheel; with Shift most terminals still select text"
                } else {
                    "mouse off"
                });
                effects.push(Effect::Mouse(self.mouse));
            }
        }
    }

    /// Another view: its rows are old, and nothing is under the finger there.
    pub(super) fn show(&mut self, view: View) {
        self.came_from = None;
        self.forget_way();
        let chosen = self.chosen_by_hand().filter(|_| self.view != view);
        self.switch_to(view);
        if let (Some(chosen), View::Hot | View::Sites) = (chosen, view) {
            self.follow(chosen.key);
        }
    }

    /// The same on the way back, or on a way that leads back.
    pub(super) fn switch_to(&mut self, view: View) {
        if view == View::Function {
            self.choose_function();
        }
        self.lens_stale = true;
        // Sites are shown without groups.
        self.data_stale |= self.lens.grouped;
        self.view = view;
        self.sort_again();
    }

    fn sort_again(&mut self) {
        self.rows_stale = true;
        self.sort_now = true;
    }

    fn back(&mut self) {
        let told = self.notice_read();
        if self.in_help() && self.help_search.take().is_some() {
            return;
        }
        if self.popup.take().is_some() || self.command.take().is_some() {
            return;
        }
        if let Some(search) = &self.search {
            let typing = search.typing;
            self.search_end(typing);
        } else if self.per_call.is_some() {
            self.per_call_end();
        } else if self.view == View::Flame && self.zoom_all() {
            // All of the graph is one step back.
        } else if let Some(origin) = self.came_from.take() {
            if origin.filtered {
                self.show_time_of(Scope::All);
            }
            self.switch_to(origin.view);
        } else if self.go_back() || self.leave_focus() {
        } else if self.time.against.is_some() {
            self.compare_no_more();
        } else if self.time.past {
            self.travel_in_time(Action::Live);
        } else if !told && self.notice.take().is_none() {
            self.warnings_seen = true;
        }
    }

    /// Up and down in whatever list has the keyboard.
    pub(super) fn step(&mut self, action: Action) {
        let page = self.page().max(1);
        match self.popup {
            Some(Popup::Help { scroll }) => {
                let (end, page) = (help_lines::end(self.size), help_lines::page(self.size));
                self.popup = Some(Popup::Help {
                    scroll: travel::target(action, scroll, end + 1, page),
                });
            }
            Some(Popup::Threads { index }) => {
                let rows = self.thread_order.len() + 1;
                self.popup = Some(Popup::Threads {
                    index: travel::target(action, index, rows, page),
                });
            }
            Some(Popup::Modes { index }) => {
                self.popup = Some(Popup::Modes {
                    index: travel::target(action, index, Mode::ALL.len(), page),
                });
            }
            Some(Popup::Ask(_)) => {}
            None if self.data.is_none() => {
                self.ring = travel::target(action, self.ring, self.rings.len(), page)
            }
            None if self.view == View::Flame => self.flame_travel(action),
            None => self.travel(action),
        }
    }

    fn choose(&mut self, effects: &mut Vec<Effect>) {
        if self.in_help() {
            self.help_keep();
        } else if self.command.is_some() {
            self.command_run(effects);
        } else if self.search.as_ref().is_some_and(|search| search.typing) {
            self.search_keep();
        } else if let Some(Popup::Modes { index }) = self.popup {
            self.popup = None;
            self.choose_mode(index, effects);
        } else if let Some(Popup::Threads { index }) = self.popup.take() {
            let thread = self
                .shown
                .as_ref()
                .zip(index.checked_sub(1))
                .and_then(|(shown, line)| shown.threads.get(self.thread_order.get(line)?.0 as usize));
            let scope = thread.map_or(Scope::All, |thread| Scope::One {
                name: thread.name.clone(),
                tid: thread.tid,
            });
            self.choose_time_of(scope);
        } else if self.data.is_none() {
            effects.extend(
                self.rings
                    .get(self.ring)
                    .map(|line| Effect::Open(line.path.clone())),
            );
        }
    }

    fn choose_scope(&mut self) {
        if self.scope == Scope::All {
            self.thread_order = self.shown.as_deref().map(busiest_first).unwrap_or_default();
            self.popup = Some(Popup::Threads { index: 0 });
        } else {
            self.choose_time_of(Scope::All);
        }
    }

    /// The time of other threads, by choice: Escape does not change it.
    fn choose_time_of(&mut self, scope: Scope) {
        if let Some(origin) = &mut self.came_from {
            origin.filtered = false;
        }
        self.show_time_of(scope);
    }

    /// The time of other threads.
    pub(super) fn show_time_of(&mut self, scope: Scope) {
        self.scope = scope;
        self.restart_pulse();
        self.data_stale = true;
        self.sort_now = true;
    }

    /// Takes off what measuring costs at least, or shows times as they were measured.
    fn compensate(&mut self) {
        self.compensated = !self.compensated;
        self.tell(match self.compensated {
            true => "what measuring costs at least is taken off all times; x shows them raw",
            false => "raw times, as they were measured",
        });
        self.data_stale = true;
        self.sort_now = true;
    }

    /// Sorts by a column; by the one that sorts already, the other way round.
    pub(super) fn sort_column(&mut self, key: SortKey) {
        let sort = &mut self.list_mut().sort;
        *sort = Sort {
            key,
            reversed: sort.key == key && !sort.reversed,
        };
        self.sort_again();
    }

    fn sort_by(&mut self, step: isize) {
        let mut keys: Vec<SortKey> = Vec::new();
        for key in columns::places(self.view, self.size.width)
            .iter()
            .filter_map(|place| place.column.sort_key())
        {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let sort = &mut self.list_mut().sort;
        let at = keys.iter().position(|&key| key == sort.key).unwrap_or(0);
        let to = at.saturating_add_signed(step).min(keys.len().saturating_sub(1));
        if let Some(&key) = keys.get(to).filter(|_| to != at) {
            *sort = Sort { key, reversed: false };
            self.sort_again();
        }
    }
}
