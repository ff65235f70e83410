//! What is asked of the program, and what is taken from the screen.

use crate::app::message::Effect;
use crate::app::pending::Pending;
use crate::app::pending::rate_hz;
use crate::app::popup::Popup;
use crate::app::state::Model;
use crate::source::events::Request;
use crate::source::status::Status;

/// Rates to step through, in snapshots a second.
const RATES_HZ: [u64; 4] = [2, 5, 10, 20];

// === impl Model ===

impl Model {
    pub(in crate::app) fn freeze(&mut self) {
        if !self.frozen && !self.status.answers() {
            // The word for the state says more than FROZEN would.
            self.tell(match self.status {
                Status::Kept if self.recorded_ns().is_some() => {
                    "nothing to freeze: a recording does not move by itself; , . go back and forth"
                }
                Status::Kept => "nothing to freeze: a kept snapshot does not move",
                Status::Exited { .. } | Status::Crashed { .. } => {
                    "nothing to freeze: the program has ended, the numbers stand still"
                }
                Status::Waiting { .. } | Status::Broken { .. } | Status::Live | Status::Stale { .. } => {
                    "nothing to freeze: no program is being read"
                }
            });
            return;
        }
        if self.frozen {
            self.go_live();
        } else {
            self.stand_still();
        }
    }

    /// Why there is nobody to ask.
    pub(in crate::app) fn why_no_answer(&self) -> String {
        match self.status {
            Status::Kept if self.recorded_ns().is_some() => "a recording has no program behind it".into(),
            Status::Kept => "a kept snapshot has no program behind it".into(),
            Status::Exited { .. }
            | Status::Crashed { .. }
            | Status::Waiting { .. }
            | Status::Broken { .. }
            | Status::Live
            | Status::Stale { .. } => format!("the program is {}", self.status.word().to_lowercase()),
        }
    }

    pub(in crate::app) fn ask_reset(&mut self, effects: &mut Vec<Effect>) {
        if !self.status.answers() {
            self.complain(format!("nothing to reset: {}", self.why_no_answer()));
        } else {
            self.send_or_ask(Request::Reset, effects);
        }
    }

    /// What others see as well is done at once only if nobody else watches.
    pub(in crate::app) fn send_or_ask(&mut self, request: Request, effects: &mut Vec<Effect>) {
        let others = self
            .newest
            .as_ref()
            .is_some_and(|newest| newest.capture.viewers > 1);
        if others {
            self.popup = Some(Popup::Ask(request));
        } else {
            self.send(request, effects);
        }
    }

    pub(in crate::app) fn undo(&mut self, effects: &mut Vec<Effect>) {
        if !self.undoable {
            self.complain("there is no reset to undo");
        } else if !self.status.answers() {
            self.complain(format!("nothing to undo: {}", self.why_no_answer()));
        } else {
            self.send(Request::Undo, effects);
        }
    }

    pub(in crate::app) fn send(&mut self, request: Request, effects: &mut Vec<Effect>) {
        self.notice = None;
        self.pending = Some(Pending {
            request,
            asked: self.now,
            epoch: None,
        });
        effects.push(Effect::Send(request));
    }

    pub(in crate::app) fn change_rate(&mut self, faster: bool, effects: &mut Vec<Effect>) {
        if !self.status.answers() {
            self.complain(format!("no rate to change: {}", self.why_no_answer()));
            return;
        }
        let Some(now) = self.wished_hz.or_else(|| self.newest.as_deref().map(rate_hz)) else {
            return;
        };
        let next = match faster {
            true => RATES_HZ.iter().find(|&&hz| hz > now),
            false => RATES_HZ.iter().rev().find(|&&hz| hz < now),
        };
        match next {
            Some(&hz) => {
                self.wished_hz = Some(hz);
                self.tell(format!("asked for {hz} snapshots a second"));
                effects.push(Effect::Send(Request::Interval {
                    ns: 1_000_000_000 / hz,
                }));
            }
            None => self.tell(format!(
                "{now} a second is the {} rate",
                if faster { "fastest" } else { "slowest" }
            )),
        }
    }

    pub(in crate::app) fn copy(&mut self, effects: &mut Vec<Effect>) {
        let name = self
            .data
            .as_ref()
            .zip(self.list().selected())
            .map(|(data, row)| data.full_name(row.what).to_string());
        if let Some(name) = name {
            self.tell(format!("copied {name}"));
            effects.push(Effect::Copy(name));
        }
    }
}
