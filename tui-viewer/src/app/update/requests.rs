//! Requests to the program, and the notices about them.

use tickscope_command::console::printable;
use tickscope_format::snapshot::{LinesState, Mode};
use tickscope_programs::events::Request;
use tickscope_programs::status::{Pipe, Status};

use crate::app::message::Effect;
use crate::app::requests::rate_hz;
use crate::app::state::{App, Overlay};

/// Rates to step through, in snapshots a second.
const RATES_HZ: [u64; 4] = [2, 5, 10, 20];

impl App {
    pub(crate) fn freeze(&mut self) {
        if !self.playback.stands_still() && !self.program.status.moves() {
            // The word for the state, such as EXITED, says more than FROZEN would.
            self.tell(match self.program.status {
                Status::Kept if self.playback.recorded_ns(&self.program).is_some() => {
                    "nothing to freeze: a recording does not move by itself; , . go back and forth"
                }
                Status::Kept => "nothing to freeze: a kept snapshot does not move",
                Status::Exited { .. } | Status::Crashed { .. } => {
                    "nothing to freeze: the program has ended, the numbers stand still"
                }
                Status::Piped(_) => "nothing to freeze: the stream has ended, the numbers stand still",
                Status::Waiting { .. } | Status::Broken { .. } | Status::Live | Status::Stale { .. } => {
                    "nothing to freeze: no program is being read"
                }
            });
            return;
        }
        if self.playback.stands_still() {
            self.playback.go_live();
        } else {
            self.playback.freeze(&self.program);
        }
    }

    /// Returns the reason why no program can answer.
    pub(crate) fn why_no_answer(&self) -> String {
        match self.program.status {
            Status::Kept if self.playback.recorded_ns(&self.program).is_some() => {
                "a recording has no program behind it".into()
            }
            Status::Kept => "a kept snapshot has no program behind it".into(),
            Status::Piped(Pipe::Flowing | Pipe::Silent { .. }) => {
                "a pipe takes no requests; send them on the program's host".into()
            }
            Status::Piped(Pipe::Closed) => "the stream has ended".into(),
            Status::Exited { .. }
            | Status::Crashed { .. }
            | Status::Waiting { .. }
            | Status::Broken { .. }
            | Status::Live
            | Status::Stale { .. } => format!("the program is {}", self.program.status.word().to_lowercase()),
        }
    }

    /// Whether the program answers; if it does not, a notice says why.
    pub(crate) fn answers(&mut self, cannot: &str) -> bool {
        let answers = self.program.status.answers();
        if !answers {
            self.complain(format!("{cannot}{}", self.why_no_answer()));
        }
        answers
    }

    /// Whether the program answers and no other request is pending; otherwise a notice says why.
    pub(crate) fn is_free_for(&mut self, what: &str) -> bool {
        if !self.answers(&format!("{what}: no program answers, ")) {
            return false;
        }
        let waits = self.requests.pending.is_some();
        if waits {
            self.complain(format!(
                "{what}: the program has not answered the previous request yet"
            ));
        }
        !waits
    }

    pub(crate) fn request_reset(&mut self) {
        if self.answers("nothing to reset: ") {
            self.send_or_confirm(Request::Reset);
        }
    }

    /// Sends a request whose effect other viewers see as well. Asks the user first if there is another
    /// viewer.
    pub(crate) fn send_or_confirm(&mut self, request: Request) {
        let newest = self.program.newest.as_ref();
        if newest.is_some_and(|newest| newest.capture.viewers > 1) {
            self.overlay = Some(Overlay::Confirm(request));
        } else {
            self.send(request);
        }
    }

    pub(crate) fn undo(&mut self) {
        if !self.requests.undoable {
            self.complain("there is no reset to undo");
        } else if self.answers("nothing to undo: ") {
            self.send(Request::Undo);
        }
    }

    pub(crate) fn send(&mut self, request: Request) {
        self.notices.current = None;
        self.requests.begin(request, self.screen.now);
        self.effects.push(Effect::Send(request));
    }

    /// Returns a line for each activity that this viewer has started in the program and that is still going on, with
    /// the command that ends it.
    pub(crate) fn left_on(&self) -> Vec<String> {
        let newest = self.program.newest.as_ref();
        let Some(newest) = newest.filter(|_| self.program.status.answers()) else {
            return Vec::new();
        };
        let name = printable(&newest.process.name);
        let watches = newest.watches.iter().map(|watch| &watch.function);
        let mut lines: Vec<String> = watches
            .filter(|function| self.requests.watched.contains(*function))
            .map(|function| {
                let function = printable(function);
                format!(
                    "{name} still watches {function}: tickscope why {function} says why; tickscope watch --off {function} ends it"
                )
            })
            .collect();
        if self.views.source.has_asked && newest.lines.state != LinesState::Off {
            lines.push(format!(
                "{name} still samples lines: tickscope report --view source shows them; tickscope lines off ends it"
            ));
        }
        lines
    }

    pub(crate) fn change_rate(&mut self, faster: bool) {
        if !self.answers("no rate to change: ") {
            return;
        }
        let newest = self.program.newest.as_deref();
        let Some(now) = self.requests.wished_hz.or_else(|| newest.map(rate_hz)) else {
            return;
        };
        let next = match faster {
            true => RATES_HZ.iter().find(|&&hz| hz > now),
            false => RATES_HZ.iter().rev().find(|&&hz| hz < now),
        };
        match next {
            Some(&hz) => {
                self.requests.wished_hz = Some(hz);
                self.tell(format!("asked for {hz} snapshots a second"));
                self.effects.push(Effect::Send(Request::Interval {
                    ns: 1_000_000_000 / hz,
                }));
            }
            None => self.tell(format!(
                "{now} a second is the {} rate",
                if faster { "fastest" } else { "slowest" }
            )),
        }
    }

    pub(crate) fn copy(&mut self) {
        let name = self
            .selected()
            .map(|(data, row)| data.full_name(row.what).to_string());
        if let Some(name) = name {
            self.tell(format!("copied {name}"));
            self.effects.push(Effect::Copy(name));
        }
    }

    /// Shows the list of modes, with the current mode selected.
    pub(crate) fn list_modes(&mut self) {
        if self.answers("no mode to change: ")
            && let Some(mode) = self.program.mode()
        {
            let index = Mode::ALL.iter().position(|&other| other == mode);
            self.overlay = Some(Overlay::Modes {
                index: index.unwrap_or(0),
            });
        }
    }

    /// Requests the mode on a line of the list. If it is the current mode, sends no request, so that the counters are
    /// not reset.
    pub(crate) fn choose_mode(&mut self, index: usize) {
        let chosen = Mode::ALL.get(index).copied();
        if let Some(mode) = chosen.filter(|_| chosen != self.program.mode())
            && self.is_free_for("mode")
        {
            self.send_or_confirm(Request::Mode(mode));
        }
    }
}
