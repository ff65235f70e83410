//! To another moment, and back to the newest.

use std::rc::Rc;
use std::time::Duration;

use tickscope_format::Snapshot;

use crate::app::activity::Pulse;
use crate::app::compare::Against;
use crate::app::state::Model;
use crate::app::window::{Stretch, Window};
use crate::cli::args::When;
use crate::keys::action::Action;
use crate::source::status::Status;
use crate::text::clock_time::{clock_tenths, clock_time, last_time_of_day, nanos};

pub(crate) const SECOND_NS: u64 = 1_000_000_000;

/// A long step back or forth.
pub(crate) const FAR_NS: u64 = 5 * SECOND_NS;

impl Model {
    /// To another moment.
    pub(in crate::app) fn travel_in_time(&mut self, action: Action) {
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
        match to.and_then(|to| self.snapshot_of(to)) {
            Some(snapshot) => self.go_to(snapshot),
            None if back => self.tell("there is no older snapshot"),
            None if self.frozen => self.tell("this is the newest snapshot; L follows the program again"),
            None => self.tell("this is the newest snapshot"),
        }
    }

    /// So far back from the moment on screen.
    pub(in crate::app) fn go_back_by(&mut self, by: Duration) {
        let now = self.shown.as_ref().map(|shown| shown.capture.unix_ns);
        let by_ns = nanos(by).max(1);
        let history = &self.time.history;
        let to = now.and_then(|now| history.at_or_before(now.checked_sub(by_ns)?));
        match to.and_then(|to| self.snapshot_of(to)) {
            Some(snapshot) => self.go_to(snapshot),
            None => self.complain(format!("back: that is too far; {}", self.how_long())),
        }
    }

    /// To a moment: after the oldest one there is, before the newest, or to a time of the clock, the last one that has
    /// passed.
    pub(in crate::app) fn go_to_time(&mut self, when: When) {
        let newest = self.newest.as_ref().map(|newest| newest.capture.unix_ns);
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let history = &self.time.history;
        let last_until = |at: u64| {
            newest
                .filter(|&newest| newest <= at)
                .or_else(|| history.at_or_before(at))
        };
        let found = match when {
            When::After(time) => {
                let wanted = self.oldest_ns().map(|oldest| oldest.saturating_add(ns(time)));
                // Snapshots do not come to the millisecond.
                let latest = newest.map_or(0, |newest| newest.saturating_add(SECOND_NS));
                wanted.filter(|&wanted| wanted <= latest).and_then(last_until)
            }
            When::Before(time) => newest
                .and_then(|newest| newest.checked_sub(ns(time)))
                .and_then(last_until),
            When::Clock(of_day) => newest
                .and_then(|newest| last_time_of_day(newest, of_day, self.utc_offset))
                .and_then(|second| {
                    let within = |at: &u64| (second..second + SECOND_NS).contains(at);
                    let next = history.after(second.saturating_sub(1)).or(newest);
                    next.filter(within).or_else(|| history.at_or_before(second))
                }),
        };
        match found.and_then(|to| self.snapshot_of(to)) {
            Some(snapshot) => self.go_to(snapshot),
            None => self.complain(format!("at: no snapshot of then; {}", self.how_long())),
        }
    }

    /// When the oldest snapshot was captured that one can go to.
    fn oldest_ns(&self) -> Option<u64> {
        let known = self.time.begin_ns.or_else(|| self.time.history.times().next());
        known.or_else(|| self.newest.as_ref().map(|newest| newest.capture.unix_ns))
    }

    /// How long the recording is that is read; none where it is none.
    pub(crate) fn recorded_ns(&self) -> Option<u64> {
        let newest = self.newest.as_ref().map(|newest| newest.capture.unix_ns)?;
        let begin = self.time.begin_ns.filter(|_| self.status == Status::Kept)?;
        newest.checked_sub(begin).filter(|&long| long > 0)
    }

    /// How long after the beginning of its recording the moment of the past was that is on screen.
    pub(crate) fn since_begin_ns(&self) -> Option<u64> {
        let (all, newest) = (self.recorded_ns()?, self.newest.as_ref()?.capture.unix_ns);
        let shown = self.shown.as_ref().filter(|_| self.time.past)?.capture.unix_ns;
        Some(all.saturating_sub(newest.saturating_sub(shown)))
    }

    /// Between which times there are snapshots.
    fn how_long(&self) -> String {
        let clock = |unix_ns| clock_time(unix_ns, self.utc_offset);
        let oldest = self.oldest_ns();
        let newest = self.newest.as_ref().map(|newest| newest.capture.unix_ns);
        match oldest.zip(newest) {
            Some((oldest, newest)) => {
                format!("there are snapshots from {} to {}", clock(oldest), clock(newest))
            }
            None => "there are no older snapshots".to_string(),
        }
    }

    /// The snapshot that was captured then.
    fn snapshot_of(&self, unix_ns: u64) -> Option<Rc<Snapshot>> {
        match &self.newest {
            Some(newest) if newest.capture.unix_ns == unix_ns => Some(Rc::clone(newest)),
            _ => self.time.history.get(unix_ns),
        }
    }

    fn go_to(&mut self, snapshot: Rc<Snapshot>) {
        // How far back this is counts from where one stopped: it stands still while one looks.
        let ahead = |stopped: u64| snapshot.capture.unix_ns >= stopped;
        if self.time.stopped_ns.is_none_or(ahead) {
            self.time.stopped_ns = self.newest.as_ref().map(|newest| newest.capture.unix_ns);
        }
        self.frozen = true;
        self.time.past = true;
        self.time.pulse_then = Pulse::until(&self.time.history, &snapshot, &self.scope);
        self.shown = Some(snapshot);
        self.data_stale = true;
    }

    /// The screen follows the program again.
    pub(in crate::app) fn go_live(&mut self) {
        self.frozen = false;
        self.time.past = false;
        self.time.stopped_ns = None;
        self.time.pulse_then = None;
        self.shown = self.newest.clone();
        self.data_stale = true;
    }

    /// The screen stands still from now on.
    pub(in crate::app) fn stand_still(&mut self) {
        self.frozen = true;
        self.time.stopped_ns = self.newest.as_ref().map(|newest| newest.capture.unix_ns);
        self.time.pulse_then = Some(self.time.pulse.clone());
    }

    /// How long before the newest snapshot of when the user stopped the one on screen was taken.
    fn how_far_back(&self) -> Option<String> {
        let (shown, stopped) = self.shown.as_ref().zip(self.time.stopped_ns)?;
        let ns = stopped.saturating_sub(shown.capture.unix_ns);
        Some(format!("{:.1} s back", ns as f64 / 1e9)).filter(|_| self.time.past)
    }

    /// Records from before have come.
    pub(in crate::app) fn past_has_come(&mut self) {
        self.restart_pulse();
        // A recording says how long it is.
        self.dirty |= self.status == Status::Kept;
        if self.time.window != Window::Reset && !self.frozen {
            self.data_stale = true;
            self.dirty = true;
        }
    }

    /// What was remembered of a program means nothing for another; a mark from a file stays.
    pub(in crate::app) fn forget_past(&mut self) {
        self.time.history.clear();
        self.time.begin_ns = None;
        self.time.pulse = Pulse::default();
        self.time.pulse_then = None;
        self.time.past = false;
        self.time.stopped_ns = None;
        if self.time.mark.as_ref().is_some_and(|mark| !mark.of_file) {
            self.time.mark = None;
            self.time.against = None;
            self.time.window = Window::default();
        }
    }

    /// The clock time of the moment on screen and how far back it is.
    pub(crate) fn past_time(&self) -> Option<String> {
        let back = self.how_far_back()?;
        let shown = self.shown.as_ref()?;
        Some(format!(
            "{}  {back}",
            clock_tenths(shown.capture.unix_ns, self.utc_offset)
        ))
    }

    /// What the numbers are of, where that is not all since the reset: the window, and what they are compared with.
    pub(crate) fn time_labels(&self) -> Vec<String> {
        let window = self.time.stretch.map(Stretch::label);
        let compared = match self.compared() {
            Some(label) => Some(format!("vs {label}")),
            None => self.time.against.map(|_| "nothing known before".to_string()),
        };
        [window, compared].into_iter().flatten().collect()
    }

    /// What is marked and not on screen.
    pub(crate) fn mark_label(&self) -> Option<String> {
        let is_shown = self.time.against == Some(Against::Mark);
        let mark = self.time.mark.as_ref().filter(|_| !is_shown)?;
        Some(format!("mark {}", mark.label))
    }
}
