//! Events of the feed: status, snapshots, answers.

use std::rc::Rc;

use tickscope_command::console::printable;
use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::LinesState;
use tickscope_programs::events::{Events, Outcome, Request};
use tickscope_programs::status::{Pipe, Status};
use tickscope_report::memory_bound;
use tickscope_report::text::without_samples;

use crate::app::filter::Filter;
use crate::app::message::Effect;
use crate::app::requests::{Requests, rate_hz, words_of};
use crate::app::state::{App, Overlay};
use crate::app::threads::{self, ThreadChoice};
use crate::app::window::Window;
use crate::outcome::watched;

impl App {
    pub(crate) fn on_event(&mut self, events: Events) {
        if events.status != self.program.status {
            // The command that writes to the pipe, such as ssh, may have written an error message to this terminal.
            if events.status == Status::Piped(Pipe::Closed) {
                self.effects.push(Effect::Repaint);
            }
            self.program.status = events.status;
            self.screen.dirty = true;
        }
        if let Some(target) = events
            .target
            .filter(|target| self.program.target.as_ref() != Some(target))
        {
            if events.new_run.is_none() && self.program.target.is_some() {
                // This is another program, so the view state of the previous one no longer applies.
                self.forget_program();
            }
            self.program.target = Some(target);
            self.program.functions = None;
            self.screen.dirty = true;
        }
        if let Some((old, new)) = events.new_run {
            self.program.warnings_seen = false;
            self.drop_requests();
            // If the process is the same and only its ring is new, the ring begins empty, but the history stays valid.
            if old != new {
                self.playback.past.forget();
                self.views.forget_times();
            }
            self.tell(if old == new {
                format!("the ring file of pid {new} was lost; its next ring is followed")
            } else {
                format!("new run: now following pid {new}; before: {old}")
            });
        }
        if events.processes != self.program.processes {
            self.program.processes = events.processes;
            self.screen.dirty = true;
        }
        if let Some(notice) = events.notice {
            self.tell(notice);
        }
        if let Some(functions) = events.functions {
            self.program.functions = Some(functions);
        }
        self.screen.dirty |= self.program.lapped != events.lapped;
        self.program.lapped = events.lapped;
        if let Some(found) = events.rings {
            self.screen.dirty |= self.program.set_found(found);
        }
        for outcome in events.outcomes {
            self.on_outcome(outcome);
        }
        // A snapshot comes with its own record and all records since the last poll. The known past changes only if
        // there are older records as well.
        let known = self.program.newest.as_ref().or(events.snapshot.as_ref());
        let known = known.map(|newest| newest.capture.unix_ns);
        let more_past = events
            .past
            .iter()
            .any(|past| known.is_some_and(|known| past.unix_ns < known));
        let past = &mut self.playback.past;
        past.begin_ns = events.begin_ns.or(past.begin_ns);
        past.history.recorded = self.program.status == Status::Kept;
        // The records are added before the snapshot, so that the history already has the snapshot's record and need not
        // create it.
        past.history.remember(events.past);
        if let Some(snapshot) = events.snapshot {
            self.on_snapshot(snapshot);
        }
        self.take_named(events.addresses);
        if more_past {
            self.past_has_come();
        }
        self.settle_pending();
    }

    /// Drops requests to the former program and all its state, because another program is on screen.
    fn forget_program(&mut self) {
        self.program.newest = None;
        self.program.traces = Rc::default();
        self.program.warnings_seen = false;
        self.views.forget_program();
        self.query.threads = ThreadChoice::All;
        self.query.filter = Filter::default();
        self.query.per_call = None;
        self.drop_requests();
        if self.playback.forget_program() {
            self.query.against = None;
            self.query.window = Window::default();
        }
    }

    /// Drops all requests, because another process never answers or undoes them.
    fn drop_requests(&mut self) {
        self.requests = Requests::default();
        self.overlay
            .take_if(|overlay| matches!(overlay, Overlay::Confirm(_)));
    }

    fn on_outcome(&mut self, outcome: Outcome) {
        self.screen.dirty = true;
        if outcome.words.is_some() {
            self.requests.words = outcome.words;
        }
        match (outcome.request, outcome.result) {
            (Request::Interval { ns }, Ok(_)) => {
                let hz = 1_000_000_000 / ns.max(1);
                self.tell_done(format!("the program accepted: {hz} snapshots a second"));
            }
            (request @ (Request::SitesOff(_) | Request::SitesOn(_) | Request::ForgetRule(_)), Ok(epoch)) => {
                // The switch counts as done as soon as a snapshot shows it.
                self.requests.granted(request, epoch, self.screen.now);
                self.settle_rules();
            }
            (request, Ok(epoch)) => self.requests.answered(request, epoch, self.screen.now),
            (request, Err(why)) => {
                // A refused undo is not offered again, because it would be refused again.
                self.requests.undoable &= request != Request::Undo;
                self.refused(request, &why);
            }
        }
    }

    pub(crate) fn refused(&mut self, request: Request, why: &str) {
        let [_, what] = words_of(request);
        self.requests.refused(request);
        self.complain(format!("{what}: {why}"));
    }

    fn on_snapshot(&mut self, snapshot: Rc<Snapshot>) {
        self.keep_thread_choice(&snapshot);
        if self.requests.wished_hz.is_some_and(|hz| hz == rate_hz(&snapshot)) {
            self.requests.wished_hz = None;
        }
        self.playback.past.note(&snapshot);
        if !snapshot.watches.is_empty() {
            Rc::make_mut(&mut self.program.traces).take(&snapshot);
        }
        self.program.newest = Some(Rc::clone(&snapshot));
        self.screen.dirty |= !self.playback.stands_still();
        self.settle_rules();
    }

    /// Keeps the same thread selected in the list of threads while other threads come and go.
    fn keep_thread_choice(&mut self, next: &Snapshot) {
        if self.playback.stands_still() {
            return;
        }
        let Some(Overlay::Threads { index, order }) = &mut self.overlay else {
            return;
        };
        let Some(shown) = &self.program.newest else {
            (*index, *order) = (0, threads::busiest_first(next));
            return;
        };
        let key = |snapshot: &Snapshot, at: ThreadId| {
            let thread = snapshot.threads.get(at.index());
            thread.map(|thread| (thread.tid, thread.name.clone()))
        };
        let line = index.checked_sub(1);
        let chosen = line.and_then(|line| key(shown, *order.get(line)?));
        *order = threads::kept_order(shown, order, next);
        let found = chosen.and_then(|chosen| {
            order
                .iter()
                .position(|&at| key(next, at).as_ref() == Some(&chosen))
        });
        *index = found.map_or((*index).min(order.len()), |line| line + 1);
    }

    /// Treats a request as done once a snapshot shows its effect, not when the program has promised it.
    fn settle_pending(&mut self) {
        if let Some(request) = self.requests.settle(self.program.newest.as_deref()) {
            self.tell_done(self.done(request));
        }
    }

    /// Shows a notice about what was done. If several programs received the request, the notice begins with how many of
    /// them carried it out.
    pub(crate) fn tell_done(&mut self, text: String) {
        match self.requests.words.take() {
            Some(words) => self.tell(format!("{words}: {text}")),
            None => self.tell(text),
        }
    }

    /// Returns the notice about a request that is done: what has happened, and what the user can do next.
    fn done(&self, request: Request) -> String {
        match request {
            Request::Reset if self.playback.stands_still() => {
                "counting from zero behind the frozen screen; p shows it, u takes it back".into()
            }
            Request::Reset => "counting from zero; u takes it back".into(),
            Request::Undo | Request::Interval { .. } => "the reset is taken back".into(),
            // Rules have notices of their own when a snapshot shows them.
            Request::SitesOff(_) | Request::SitesOn(_) | Request::ForgetRule(_) => String::new(),
            Request::Watch(function, _) => {
                let newest = self.program.newest.as_deref();
                watched::began_here(newest, &function, self.views.current.about().is_of_watches)
            }
            Request::Unwatch(function) => format!("{} is no longer watched", printable(function.as_str())),
            Request::Lines(0) => "the program counter is no longer sampled".into(),
            Request::Lines(_) => {
                let state = self.program.newest.as_ref().map(|newest| newest.lines.state);
                let state = state.unwrap_or_default();
                match matches!(state, LinesState::On(_)) {
                    true => "lines are sampled from here on; S again ends it".into(),
                    false => without_samples(state),
                }
            }
            Request::Mode(mode) => {
                let behind = if self.playback.stands_still() {
                    " behind the frozen screen"
                } else {
                    ""
                };
                let newest = self.program.newest.as_deref();
                let doubt = newest.and_then(|newest| memory_bound::doubt(newest, mode));
                format!(
                    "{} from here on, counting from zero{behind}: {}; , goes back to earlier numbers",
                    mode.as_str(),
                    doubt.unwrap_or(mode.traits().meaning)
                )
            }
        }
    }
}
