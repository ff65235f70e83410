//! Carries out viewers' requests, as far as the budget for requests allows.

use tickscope_format::file::create::OwnRing;
use tickscope_format::slots::{Op, Outcome, Request};

use super::Publisher;
use crate::enabled::capture::capture_lock;
use crate::enabled::capture::collector_state::CollectorState;
use crate::enabled::platform::os;

impl Publisher {
    /// Carries out open requests as far as the budget allows; the rest stay open.
    pub(super) fn carry_out_all(&mut self) -> Vec<(Request, Outcome)> {
        let mut answers = Vec::new();
        if !self.budget.is_left(os::monotonic_ns()) {
            return answers;
        }
        let mut requests = self
            .rings
            .current
            .as_mut()
            .map_or_else(Vec::new, OwnRing::requests);
        self.budget.in_turn(&mut requests, |request| request.slot);
        for request in requests {
            if !self.budget.is_left(os::monotonic_ns()) {
                break;
            }
            let before = os::own_cpu_ns();
            let outcome = self.carry_out(&request);
            self.budget.spend(os::own_cpu_ns().saturating_sub(before));
            self.budget.had_turn(request.slot);
            answers.push((request, outcome));
        }
        answers
    }

    fn carry_out(&mut self, request: &Request) -> Outcome {
        if !self.settings.allow_remote_control {
            return Outcome::Refused;
        }
        let outcome = |is_done: Option<bool>, otherwise| match is_done {
            Some(true) => Outcome::Done,
            Some(false) | None => otherwise,
        };
        let rule = |pattern, off| {
            let matched = capture_lock::with(|state| state.rule(pattern, off).is_some());
            outcome(matched, Outcome::Refused)
        };
        match request.op {
            Some(Op::PublishNow) => {}
            Some(Op::Reset) => self.reset(),
            Some(Op::UndoReset) => {
                return outcome(
                    capture_lock::with(CollectorState::undo_reset),
                    Outcome::NothingToUndo,
                );
            }
            Some(Op::Interval(ns)) => {
                self.pace.wish(request.slot, ns);
                self.look_who_watches();
            }
            Some(Op::Mode(mode)) => self.switch_to(mode),
            Some(Op::SitesOff(pattern)) => return rule(pattern, true),
            Some(Op::SitesOn(pattern)) => return rule(pattern, false),
            Some(Op::ForgetRule(pattern)) => {
                capture_lock::with(|state| state.forget_rule(pattern));
            }
            Some(Op::Watch(pattern, over)) => {
                let is_watched = capture_lock::with(|state| state.watch(pattern, over));
                return outcome(is_watched, Outcome::Refused);
            }
            Some(Op::Unwatch(pattern)) => {
                capture_lock::with(|state| state.watches.remove(pattern));
            }
            Some(Op::Lines(hz)) => {
                capture_lock::with(|state| state.lines.ask_for(hz));
            }
            Some(_) | None => return Outcome::Unknown,
        }
        Outcome::Done
    }
}
