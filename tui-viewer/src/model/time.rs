//! Which moment is shown: the newest, one that the screen was frozen at, or one of the past.

use std::rc::Rc;

use tickscope_format::Snapshot;

use crate::action::Action;
use crate::model::Model;
use crate::model::compare::Mark;
use crate::model::history::History;
use crate::model::pulse::Pulse;
use crate::model::window::{Stretch, Window};
use crate::process_time::{clock_time, running};

/// Where the screen stands in time.
#[derive(Debug, Default)]
pub(crate) struct Time {
    /// The program's past.
    pub(crate) history: History,
    /// Which stretch of time was asked for.
    pub(crate) window: Window,
    /// The one on screen; none since the reset.
    pub(crate) stretch: Option<Stretch>,
    /// The screen shows a moment that the user went back to.
    pub(crate) past: bool,
    /// A moment to compare with.
    pub(crate) mark: Option<Mark>,
    /// The differences to it are shown.
    pub(crate) comparing: bool,
    /// How busy each row was in the last seconds.
    pub(crate) pulse: Pulse,
    /// The same before the moment at which the screen stands still.
    pub(crate) pulse_then: Option<Pulse>,
}

// === impl Model ===

impl Model {
    /// To another moment.
    pub(super) fn travel_in_time(&mut self, action: Action) {
        if action == Action::Live {
            if self.frozen {
                self.go_live();
            } else {
                self.tell("this is the newest snapshot; the screen follows the program");
            }
            return;
        }
        let Some(now) = self.shown.as_ref().map(|shown| shown.capture.unix_ns) else {
            return;
        };
        let history = &self.time.history;
        let newest = self.newest.as_ref().map(|newest| newest.capture.unix_ns);
        let ahead = newest.filter(|&newest| newest > now);
        let back = matches!(action, Action::Earlier | Action::Oldest);
        let to = if action == Action::Earlier {
            now.checked_sub(1).and_then(|before| history.at_or_before(before))
        } else if action == Action::Oldest {
            history.times().next().filter(|&oldest| oldest < now)
        } else if action == Action::Later {
            history.after(now).or(ahead)
        } else {
            ahead
        };
        let found = to.and_then(|to| match &self.newest {
            Some(newest) if newest.capture.unix_ns == to => Some(Rc::clone(newest)),
            _ => history.get(to),
        });
        match found {
            Some(snapshot) => self.go_to(snapshot),
            None if back => self.tell("there is no older snapshot"),
            None if self.frozen => self.tell("this is the newest snapshot; L follows the program again"),
            None => self.tell("this is the newest snapshot"),
        }
    }

    fn go_to(&mut self, snapshot: Rc<Snapshot>) {
        self.frozen = true;
        self.time.past = true;
        self.time.pulse_then = Pulse::until(&self.time.history, &snapshot, &self.scope);
        self.shown = Some(snapshot);
        self.data_stale = true;
    }

    /// The screen follows the program again.
    pub(super) fn go_live(&mut self) {
        self.frozen = false;
        self.time.past = false;
        self.time.pulse_then = None;
        self.shown = self.newest.clone();
        self.data_stale = true;
    }

    /// The screen stands still from now on.
    pub(super) fn stand_still(&mut self) {
        self.frozen = true;
        self.time.pulse_then = Some(self.time.pulse.clone());
    }

    /// How long before the newest snapshot the one on screen was taken, while the user has gone back to it.
    pub(crate) fn how_far_back(&self) -> Option<String> {
        let (shown, newest) = self.shown.as_ref().zip(self.newest.as_ref())?;
        let ns = newest.capture.unix_ns.checked_sub(shown.capture.unix_ns)?;
        self.time.past.then(|| match ns {
            0..10_000_000_000 => format!("-{:.1} s", ns as f64 / 1e9),
            10_000_000_000..60_000_000_000 => format!("-{} s", ns / 1_000_000_000),
            _ => format!("-{}", running(ns)),
        })
    }

    /// Records from before have come.
    pub(super) fn past_has_come(&mut self) {
        self.restart_pulse();
        if self.time.window != Window::Reset && !self.frozen {
            self.data_stale = true;
            self.dirty = true;
        }
    }

    /// What was remembered of a program means nothing for another; a mark from a file stays.
    pub(super) fn forget_past(&mut self) {
        self.time.history.clear();
        self.time.pulse = Pulse::default();
        self.time.pulse_then = None;
        self.time.past = false;
        if self.time.mark.as_ref().is_some_and(|mark| !mark.of_file) {
            self.time.mark = None;
            self.time.comparing = false;
            self.time.window = Window::default();
        }
    }

    /// The clock time of the moment on screen and how far back it is.
    pub(crate) fn past_time(&self) -> Option<String> {
        let back = self.how_far_back()?;
        let shown = self.shown.as_ref()?;
        Some(format!(
            "{} {back}",
            clock_time(shown.capture.unix_ns, self.utc_offset)
        ))
    }

    /// What the numbers are of, where that is not all since the reset: the window, and what they are compared with.
    pub(crate) fn time_labels(&self) -> Vec<String> {
        let window = self.time.stretch.map(Stretch::label);
        let compared = self.compared().map(|mark| format!("vs {}", mark.label));
        [window, compared].into_iter().flatten().collect()
    }

    /// What is marked and not on screen.
    pub(crate) fn mark_label(&self) -> Option<String> {
        let mark = self.time.mark.as_ref().filter(|_| !self.time.comparing)?;
        Some(format!("mark {}", mark.label))
    }
}
