//! Keys in the command line, and carrying commands out.

use std::collections::HashSet;
use std::time::Duration;

use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::names::{named, told};
use tickscope_format::pattern::Pattern;
use tickscope_report::form::Form;
use tickscope_report::number;
use tui_input::InputRequest;

use crate::app::command_line::CommandLine;
use crate::app::figures::What;
use crate::app::function::Chosen;
use crate::app::message::Effect;
use crate::app::overlay::Overlay;
use crate::app::state::App;
use crate::app::view::View;
use crate::cli::args::look::ThemeKind;
use crate::cli::args::trigger;
use crate::keys::action::Action;
use crate::keys::command_line;
use crate::keys::command_line::{Known, ScreenCommand, TRIGGER_OFF};
use crate::output::similar::similar;
use crate::source::events::Request;

/// So many commands are remembered.
pub(crate) const MOST_REMEMBERED: usize = 100;

impl App {
    /// Begins a command.
    pub(in crate::app) fn command_begin(&mut self) {
        self.command_with(String::new());
    }

    /// Asks in which form a report is to be written, and where.
    pub(in crate::app) fn report_as(&mut self) {
        self.command_with("report ".into());
    }

    fn command_with(&mut self, text: String) {
        let mut line = CommandLine::default();
        line.set(text);
        self.overlay = Some(Overlay::CommandLine(line));
        self.command_look();
    }

    /// A key in the command line.
    pub(in crate::app) fn command_edit(&mut self, request: InputRequest) {
        let Some(Overlay::CommandLine(line)) = &mut self.overlay else {
            return;
        };
        if line.input.handle(request).is_some() {
            line.recalled = None;
            self.command_look();
        }
    }

    /// What can follow in the line as it is now.
    fn command_look(&mut self) {
        let Some(Overlay::CommandLine(line)) = &self.overlay else {
            return;
        };
        let offers = command_line::offers(&line.before_cursor(), || self.known());
        let hint = command_line::hint(line.input.value());
        if let Some(Overlay::CommandLine(line)) = &mut self.overlay {
            line.wrong = None;
            line.chosen = None;
            line.offers = offers;
            line.hint = hint;
        }
    }

    /// Tab: completes the word that is being typed.
    pub(in crate::app) fn complete(&mut self, forward: bool) {
        if let Some(Overlay::CommandLine(line)) = &mut self.overlay
            && line.complete(forward)
        {
            self.command_look();
        }
    }

    /// To an older or a newer command of this sitting.
    pub(in crate::app) fn recall(&mut self, older: bool) {
        if let Some(Overlay::CommandLine(line)) = &mut self.overlay
            && line.recall(&self.views.commands, older)
        {
            self.command_look();
        }
    }

    /// Enter: carries the command out, or says what is wrong with it and leaves it there.
    pub(in crate::app) fn command_run(&mut self, effects: &mut Vec<Effect>) {
        let Some(Overlay::CommandLine(line)) = &mut self.overlay else {
            return;
        };
        let text = line.input.value().trim().to_string();
        if text.is_empty() {
            self.overlay = None;
            return;
        }
        if self.views.commands.last() != Some(&text) {
            if self.views.commands.len() == MOST_REMEMBERED {
                self.views.commands.remove(0);
            }
            self.views.commands.push(text.clone());
        }
        match command_line::parse(&text) {
            Ok(command) => {
                self.overlay = None;
                self.carry_out(command, effects);
            }
            Err(why) => line.wrong = Some(why),
        }
    }

    fn carry_out(&mut self, command: ScreenCommand, effects: &mut Vec<Effect>) {
        match command {
            ScreenCommand::Reset => {
                self.request_if_free("reset", effects, |app, effects| app.request_reset(effects))
            }
            ScreenCommand::Undo => self.request_if_free("undo", effects, |app, effects| app.undo(effects)),
            ScreenCommand::Mode { how } => self.request_if_free("mode", effects, |app, effects| {
                app.send_or_confirm(Request::Mode(how.mode), effects);
            }),
            ScreenCommand::Off { sites } => self.request_if_free("off", effects, |app, effects| {
                app.send(Request::SitesOff(sites.pattern), effects);
            }),
            ScreenCommand::On { sites } => self.request_if_free("on", effects, |app, effects| {
                app.send(Request::SitesOn(sites.pattern), effects);
            }),
            ScreenCommand::Interval { between } => self.request_rate(between, effects),
            ScreenCommand::Rate { hz } => {
                self.request_rate(Duration::from_secs(1) / hz.max(1) as u32, effects)
            }
            ScreenCommand::Back { by } => self.go_back_by(by),
            ScreenCommand::At { time } => self.go_to_time(time),
            ScreenCommand::Live => self.perform(Action::Live, effects),
            ScreenCommand::Snapshot { file } => self.keep_in(file, effects),
            ScreenCommand::By { measure } => self.go_by(measure),
            ScreenCommand::Report {
                file,
                format,
                by,
                times,
            } => {
                let format = format
                    .or_else(|| file.as_deref().and_then(Form::of_file))
                    .unwrap_or_default();
                let compensated = times.compensated || (self.query.compensated && !times.raw);
                // Of a form that has every measure none is chosen.
                let on_screen = Some(self.measure()).filter(|_| format.check_by().is_ok());
                self.report_in(
                    vec![format],
                    file,
                    compensated,
                    by.or(on_screen).unwrap_or_default(),
                    effects,
                );
            }
            ScreenCommand::Trigger { condition, options } => match &condition.join(" ")[..] {
                "" => self.tell_trigger(),
                TRIGGER_OFF => self.end_trigger(),
                text => match trigger::condition(text) {
                    Ok(condition) => self.set_trigger(condition, options),
                    Err(why) => self.complain(why),
                },
            },
            ScreenCommand::Tree => self.perform(Action::ShowTree, effects),
            ScreenCommand::Hot => self.perform(Action::ShowHot, effects),
            ScreenCommand::Function { name } => match name {
                Some(name) => self.function_named(&name),
                None => self.perform(Action::ShowFunction, effects),
            },
            ScreenCommand::Threads => self.perform(Action::ShowThreads, effects),
            ScreenCommand::Flame => self.perform(Action::ShowFlame, effects),
            ScreenCommand::Sites => self.perform(Action::ShowSites, effects),
            ScreenCommand::Tasks => self.perform(Action::ShowTasks, effects),
            ScreenCommand::Timeline => self.perform(Action::ShowTimeline, effects),
            ScreenCommand::Slow { function } => {
                self.perform(Action::ShowSlow, effects);
                if let Some(function) = function {
                    self.watch_function(function, effects);
                }
            }
            ScreenCommand::Watch { watch } => self.request_if_free("watch", effects, |app, effects| {
                let request = match watch.off {
                    true => Request::Unwatch(watch.function),
                    false => Request::Watch(watch.function, watch.over),
                };
                app.send(request, effects);
            }),
            ScreenCommand::Theme { name } => {
                let named = name.as_deref().and_then(ThemeKind::named);
                self.screen.theme = named.unwrap_or_else(|| self.screen.theme.next());
                self.tell(format!("theme: {}", self.screen.theme.name()));
            }
            ScreenCommand::Help => self.perform(Action::Help, effects),
            ScreenCommand::Quit => effects.push(Effect::Quit),
        }
    }

    /// Asks the program, if there is one that answers and nothing else is asked of it just now.
    pub(in crate::app) fn request_if_free(
        &mut self,
        what: &str,
        effects: &mut Vec<Effect>,
        ask: impl FnOnce(&mut Self, &mut Vec<Effect>),
    ) {
        if !self.program.status.answers() {
            self.complain(format!("{what}: no program answers, {}", self.why_no_answer()));
        } else if self.requests.pending.is_some() {
            self.complain(format!(
                "{what}: the program has yet to answer the request before"
            ));
        } else {
            ask(self, effects);
        }
    }

    fn request_rate(&mut self, between: Duration, effects: &mut Vec<Effect>) {
        let ns = between.as_nanos() as u64;
        self.request_if_free("rate", effects, |app, effects| {
            app.requests.wished_hz = Some(((1_000_000_000 + ns / 2) / ns.max(1)).max(1));
            app.tell(format!("asked for a snapshot every {}", number::duration(ns)));
            effects.push(Effect::Send(Request::Interval { ns }));
        });
    }

    /// Opens a function by its name: the whole of it, its last parts, or a part that only one has.
    fn function_named(&mut self, name: &str) {
        let Some(data) = self.derived.data.as_ref() else {
            return self.complain(format!("no function {name} was met"));
        };
        // Of all that were met: the view on screen may show nothing but what is in focus.
        let tree = data.whole();
        let functions = &tree.functions;
        let is_met: HashSet<FunctionId> = tree.rows.iter().map(|row| row.function).collect();
        let mut found = named(functions, name);
        found.retain(|id| is_met.contains(id));
        if found.is_empty() {
            let ids = (0..functions.list.len() as u32).map(FunctionId);
            found = ids
                .filter(|id| is_met.contains(id) && functions.get(*id).full_name().contains(name))
                .collect();
        }
        match found[..] {
            [only] => {
                let chosen = Chosen {
                    key: functions.get(only).key,
                    name: data.names.full[only.index()].clone(),
                };
                if let Some(search) = &mut self.views.search {
                    search.only = false;
                }
                self.show(View::Hot);
                self.refresh();
                let row = self.derived.data.as_ref().and_then(|data| {
                    let key = |function| data.tree.functions.get(function).key;
                    data.hot().iter().position(|row| key(row.function) == chosen.key)
                });
                if let Some(row) = row {
                    self.reveal(What::Hot(row as u32));
                }
                self.go_to_function(chosen);
            }
            [] => {
                let meant = similar(name, &data.snapshot);
                self.complain(format!(
                    "no function {name} was met{meant}; :hot lists them, / looks for parts of names"
                ));
            }
            _ => {
                let why = format!(
                    "{name} may be {}; Tab behind :function lists them",
                    told(functions, &found)
                );
                self.complain(why);
            }
        }
    }

    /// Names that the program on screen gives.
    fn known(&self) -> Known {
        let Some(data) = &self.derived.data else {
            return Known::default();
        };
        let mut patterns: Vec<String> = Vec::new();
        for site in &data.snapshot.sites {
            if !site.module.is_empty() {
                patterns.push(format!("{}::*", site.module));
                patterns.push(format!("{}::{}", site.module, site.name));
            } else {
                patterns.push(site.name.clone());
            }
        }
        patterns.retain(|text| Pattern::new(text).is_ok());
        let mut functions: Vec<String> = data.tree.functions.list.iter().map(|f| f.full_name()).collect();
        for names in [&mut patterns, &mut functions] {
            names.sort_unstable();
            names.dedup();
        }
        Known { patterns, functions }
    }
}
