//! Going to another moment and back to the newest one, marking a moment, comparing with it, and choosing the window.

use std::rc::Rc;

use tickscope_analysis::window::same_epoch;
use tickscope_format::Snapshot;
use tickscope_programs::clock_time::{clock_tenths, clock_time, seconds};
use tickscope_programs::status::Status;

use crate::app::state::App;
use crate::app::window::{Against, Mark, Stretch, Window};
use crate::keys::action::Action;
use crate::text::cells::cut_middle;

pub(crate) const SECOND_NS: u64 = 1_000_000_000;

/// Length in ns of a long step back or forward in time.
pub(crate) const FAR_NS: u64 = 5 * SECOND_NS;

/// Maximum width of a file name in cells, because the line above the columns has little room.
pub(crate) const LABEL_CELLS: usize = 26;

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

    /// Updates what depends on the past, after older records have arrived.
    pub(crate) fn past_has_come(&mut self) {
        self.playback.restart_activity(&self.program, &self.query.threads);
        // Older records change the length of a recording, and the numbers of windows.
        let is_recording = self.program.status == Status::Kept;
        let in_window = self.query.window != Window::Reset && !self.playback.stands_still();
        self.screen.dirty |= is_recording || in_window;
    }

    /// Returns the clock time of the moment on screen, and how far back it is.
    pub(crate) fn past_time(&self) -> Option<String> {
        let back = format!("{:.1} s back", self.playback.back_ns()? as f64 / 1e9);
        let shown = self.shown()?;
        Some(format!(
            "{}  {back}",
            clock_tenths(shown.capture.unix_ns, self.screen.utc_offset)
        ))
    }

    /// Returns the labels of the window and of what it is compared with, as far as they are on screen.
    pub(crate) fn time_labels(&self) -> Vec<String> {
        let window = self.derived.stretch.map(Stretch::label);
        let compared = match self.compared() {
            Some(label) => Some(format!("vs {label}")),
            None => self.query.against.map(|_| "nothing known before".to_string()),
        };
        [window, compared].into_iter().flatten().collect()
    }

    /// Returns the label of the mark, if there is one and the screen does not show the differences to it.
    pub(crate) fn mark_label(&self) -> Option<String> {
        let is_shown = self.query.against == Some(Against::Mark);
        let mark = self.playback.mark.as_ref().filter(|_| !is_shown)?;
        Some(format!("mark {}", mark.label))
    }

    /// Marks the moment on screen.
    pub(crate) fn mark_moment(&mut self) {
        let Some(shown) = self.shown().cloned() else {
            return;
        };
        let label = clock_time(shown.capture.unix_ns, self.screen.utc_offset);
        let base = |window: Window| {
            let length_ns = window.length_ns()?;
            self.playback.past.base_of(&shown, length_ns)
        };
        let bases = [base(Window::Second), base(Window::Ten)];
        self.tell(format!("{label} is marked; ' compares with it, w counts from it"));
        self.playback.mark = Some(Mark {
            snapshot: shown,
            label,
            of_file: false,
            bases,
        });
    }

    /// Compares with a snapshot that was read from a file.
    pub(crate) fn compare_with(&mut self, snapshot: Rc<Snapshot>, label: String) {
        self.playback.mark = Some(Mark {
            snapshot,
            label: cut_middle(&label, LABEL_CELLS, "..").into_owned(),
            of_file: true,
            bases: [None, None],
        });
        self.query.against = Some(Against::Mark);
    }

    /// Goes to the next kind of comparison: first with the mark, then with the window just before the one on screen,
    /// and then back to plain numbers.
    pub(crate) fn compare(&mut self) {
        let with_window = self.query.window.length_ns().is_some();
        match (self.query.against, &self.playback.mark) {
            (None, Some(mark)) => {
                let told = self.differences_to(mark);
                self.query.against = Some(Against::Mark);
                self.tell(told);
            }
            (None, None) => self.compare_before(),
            (Some(Against::Mark), _) if with_window => {
                self.query.against = None;
                self.compare_before();
            }
            (Some(_), _) => self.compare_no_more(),
        }
    }

    /// Shows plain numbers.
    pub(crate) fn compare_no_more(&mut self) {
        if let Some(Against::Before { after }) = self.query.against.take() {
            self.query.window = after;
        }
        self.tell("plain numbers again");
    }

    fn differences_to(&self, mark: &Mark) -> String {
        let label = &mark.label;
        let same_run = |shown: &Rc<Snapshot>| shown.process.pid == mark.snapshot.process.pid;
        // If there was a reset between the mark and the moment on screen, the differences of counts are not real changes.
        let counted_anew = self
            .shown()
            .is_some_and(|shown| same_run(shown) && !same_epoch(shown, &mark.snapshot));
        let is_later = |shown: &Rc<Snapshot>| mark.snapshot.capture.unix_ns > shown.capture.unix_ns;
        match counted_anew {
            true if self.shown().is_some_and(is_later) => {
                format!("{label} is later, after a reset: compare only AVG and percents, or a window (w)")
            }
            true => format!(
                "a reset came after {label}: compare only AVG and percents, or a window (w); ' shows plain numbers"
            ),
            false => match self.query.window.length_ns() {
                Some(_) => format!(
                    "differences to {label}: + is more than then; ' compares with the time just before"
                ),
                None => format!("differences to {label}: + is more than then; ' shows plain numbers"),
            },
        }
    }

    /// Compares the window on screen with the window just before it. Without a window, compares the last ten seconds
    /// with the ten seconds before.
    fn compare_before(&mut self) {
        let after = self.query.window;
        if after.length_ns().is_none() {
            self.query.window = Window::Ten;
        }
        let known = self
            .shown()
            .and_then(|shown| self.playback.past.window_before(self.query.window, shown));
        let Some((_, ns)) = known else {
            let wanted = self
                .query
                .window
                .length_ns()
                .unwrap_or_default()
                .div_ceil(1_000_000_000);
            self.query.window = after;
            return self.complain(format!(
                "the past is shorter than {} s: {wanted} s cannot be compared with {wanted} s before; m sets a mark to \
                 compare with",
                2 * wanted
            ));
        };
        self.query.against = Some(Against::Before { after });
        let words = match self.query.window {
            Window::Second => "the last second against the second before".to_string(),
            Window::Chosen(long) => {
                format!("the chosen {} against the {} before", seconds(long), seconds(ns))
            }
            Window::Ten | Window::Reset | Window::Mark => {
                format!("the last 10 s against the {} before", seconds(ns))
            }
        };
        self.tell(format!("{words}: + is more than then; ' shows plain numbers"));
    }

    /// Returns the label of the moment or window that the numbers are compared with; `None` if they are plain numbers.
    pub(crate) fn compared(&self) -> Option<String> {
        match self.query.against? {
            Against::Mark => self.playback.mark.as_ref().map(|mark| mark.label.clone()),
            Against::Before { .. } => self.derived.before_ns.map(|ns| format!("{} before", seconds(ns))),
        }
    }

    /// Switches to the next window.
    pub(crate) fn next_window(&mut self) {
        let before = matches!(self.query.against, Some(Against::Before { .. }));
        self.query.window = self.query.window.next(self.playback.mark.is_some(), before);
        let unknown = self
            .playback
            .compared_mark(&self.query)
            .is_some_and(|mark| !mark.has_window(self.query.window));
        self.tell(match unknown {
            true => "the mark has no such window: both are since the reset",
            false if before && self.query.window == Window::Ten => "the last 10 s and the 10 s before",
            false if before => "the last second and the second before; w: 10 s",
            false => self.query.window.says(),
        });
    }
}
