//! Steps to another moment, and back to the newest.

use tickscope_programs::clock_time::clock_tenths;
use tickscope_programs::status::Status;

use crate::app::state::App;
use crate::app::window::{Against, Stretch, Window};
use crate::keys::action::Action;

pub(crate) const SECOND_NS: u64 = 1_000_000_000;

/// Time in ns of a long step back or forth.
pub(crate) const FAR_NS: u64 = 5 * SECOND_NS;

impl App {
    /// Goes to another moment.
    pub(crate) fn travel_in_time(&mut self, action: Action) {
        if action == Action::Live {
            if self.playback.stands_still() {
                self.playback.go_live();
            } else {
                self.tell("this is the newest snapshot; the screen follows the program");
            }
            return;
        }
        let Some(now) = self.shown().map(|shown| shown.capture.unix_ns) else {
            return;
        };
        let history = &self.playback.past.history;
        let newest = self.program.newest_ns();
        let ahead = newest.filter(|&newest| newest > now);
        let back = matches!(action, Action::Earlier | Action::FarEarlier | Action::Oldest);
        let before = |ns: u64| now.checked_sub(ns).and_then(|then| history.at_or_before(then));
        let oldest = || history.times().next().filter(|&oldest| oldest < now);
        let to = if action == Action::Earlier {
            before(1)
        } else if action == Action::FarEarlier {
            before(FAR_NS).or_else(oldest)
        } else if action == Action::Oldest {
            oldest()
        } else if action == Action::Later {
            history.after(now).or(ahead)
        } else if action == Action::FarLater {
            history.after(now.saturating_add(FAR_NS - 1)).or(ahead)
        } else {
            ahead
        };
        match to.and_then(|to| self.playback.snapshot_of(&self.program, to)) {
            Some(snapshot) => self.playback.go_to(snapshot, &self.program, &self.query.threads),
            None if back => self.tell("there is no older snapshot"),
            None if self.playback.stands_still() => {
                self.tell("this is the newest snapshot; L follows the program again")
            }
            None => self.tell("this is the newest snapshot"),
        }
    }

    /// Notes the arrival of older records.
    pub(crate) fn past_has_come(&mut self) {
        self.playback.restart_activity(&self.program, &self.query.threads);
        // The screen shows the length of a recording, which has changed.
        let is_recording = self.program.status == Status::Kept;
        let in_window = self.query.window != Window::Reset && !self.playback.stands_still();
        self.screen.dirty |= is_recording || in_window;
    }

    /// Returns the clock time of the moment on screen and its distance from the newest.
    pub(crate) fn past_time(&self) -> Option<String> {
        let back = format!("{:.1} s back", self.playback.back_ns()? as f64 / 1e9);
        let shown = self.shown()?;
        Some(format!(
            "{}  {back}",
            clock_tenths(shown.capture.unix_ns, self.screen.utc_offset)
        ))
    }

    /// Returns the window, and the moment or window to compare with, if they are on screen.
    pub(crate) fn time_labels(&self) -> Vec<String> {
        let window = self.derived.stretch.map(Stretch::label);
        let compared = match self.compared() {
            Some(label) => Some(format!("vs {label}")),
            None => self.query.against.map(|_| "nothing known before".to_string()),
        };
        [window, compared].into_iter().flatten().collect()
    }

    /// Returns the label of a mark that is not on screen.
    pub(crate) fn mark_label(&self) -> Option<String> {
        let is_shown = self.query.against == Some(Against::Mark);
        let mark = self.playback.mark.as_ref().filter(|_| !is_shown)?;
        Some(format!("mark {}", mark.label))
    }
}
