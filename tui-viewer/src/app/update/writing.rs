//! Files made from the screen.

use std::rc::Rc;

use tickscope_analysis::focus::{Focus, in_focus};
use tickscope_format::Snapshot;
use tickscope_programs::status::{Pipe, Status};
use tickscope_report::ProcessState;
use tickscope_report::text::TextOptions;

use crate::app::message::{Effect, SourcePlace};
use crate::app::playback::Sides;
use crate::app::state::App;
use crate::app::threads::ThreadChoice;

impl App {
    /// Writes the report of the screen: its moment or window, the chosen threads, and the calls in focus.
    pub(crate) fn report(&mut self) {
        let Some(shown) = self.shown().cloned() else {
            return;
        };
        let Sides { now, .. } = self.playback.sides_apart(&self.query, &shown);
        let mut snapshot = now;
        if self.query.threads.is_missing(&snapshot) {
            // The thread may be only in the other snapshot of a comparison. Aligning the two snapshots adds it here,
            // with no time.
            snapshot = self
                .playback
                .sides(&self.query, &shown, &self.views.source.known)
                .now;
        }
        if self.query.threads.is_missing(&snapshot) {
            let thread = self.query.threads.only().unwrap_or_default();
            return self.complain(format!(
                "nothing to report: there is no thread {thread} here; a shows all"
            ));
        }
        snapshot = self.views.source.known.with_rows(snapshot);
        let mut options = TextOptions {
            state: state_of(&self.program.status),
            ascii: self.screen.ascii,
            by: self.measure(),
            ..TextOptions::default()
        };
        if self.query.filter.focuses(self.views.current) {
            let filter = &self.query.filter;
            let focus: Vec<Focus> = filter.focus.iter().map(|focus| focus.on).collect();
            options.extent.focus = filter.focus.iter().map(|focus| focus.name.clone()).collect();
            snapshot = Rc::new(in_focus(&snapshot, &focus, filter.grouped));
        }
        options.thread = self.query.threads.thread(&snapshot);
        self.effects
            .push(Effect::WriteReport(snapshot, Box::new(options)));
    }

    /// Saves the snapshot on screen to a file.
    pub(crate) fn keep(&mut self) {
        let shown = self.shown().cloned();
        let named = shown.map(|shown| self.views.source.known.with_rows(shown));
        self.effects.extend(named.map(Effect::KeepSnapshot));
    }

    /// Opens the selected row's file at its line.
    pub(crate) fn edit_source(&mut self) {
        let Some((data, row)) = self.selected() else {
            return;
        };
        let Some(function) = data.function(row.what) else {
            let why = format!("{} has no source", data.label(row.what));
            return self.complain(why);
        };
        let function = data.tree.functions.get(function);
        let place = SourcePlace {
            file: function.file.clone(),
            line: function.line,
            // The process id of an ended program may belong to another program by now.
            pid: self.program.status.answers().then_some(data.snapshot.process.pid),
        };
        self.effects.push(Effect::Edit(place));
    }
}

impl ThreadChoice {
    /// Whether one thread is chosen, but is not in the snapshot.
    fn is_missing(&self, snapshot: &Snapshot) -> bool {
        *self != Self::All && self.thread(snapshot).is_none()
    }
}

fn state_of(status: &Status) -> ProcessState {
    match status {
        Status::Live | Status::Waiting { .. } => ProcessState::Running,
        Status::Stale { .. } => ProcessState::Stale,
        Status::Exited { .. } => ProcessState::Exited,
        Status::Crashed { .. } | Status::Broken { .. } => ProcessState::Crashed,
        Status::Kept | Status::Piped(Pipe::Closed) => ProcessState::FromFile,
        Status::Piped(Pipe::Flowing) => ProcessState::Running,
        Status::Piped(Pipe::Silent { .. }) => ProcessState::Stale,
    }
}
