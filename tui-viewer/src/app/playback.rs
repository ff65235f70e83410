//! Which moment the screen shows: the newest, a frozen one, or one in the past. Also selects the snapshots for the tables:
//! the window that ends at that moment, and the window to compare it with.

use std::rc::Rc;

use tickscope_analysis::align::align;
use tickscope_analysis::window::{between, same_epoch};
use tickscope_format::Snapshot;
use tickscope_programs::status::Status;

use crate::app::past::Past;
use crate::app::past::activity::Activity;
use crate::app::program::Program;
use crate::app::query::Query;
use crate::app::source::KnownCode;
use crate::app::threads::ThreadChoice;
use crate::app::timeline::USUAL_NS;
use crate::app::window::{Against, Mark, Stretch, Window};

/// The moment on screen, and the moments to which the user can go.
#[derive(Debug, Default)]
pub(crate) struct Playback {
    /// Moment at which the screen is frozen; `None` if the screen follows the program.
    still: Option<Still>,
    /// Past of the program.
    pub(crate) past: Past,
    /// Marked moment to compare with.
    pub(crate) mark: Option<Mark>,
}

/// A screen that stands still.
#[derive(Debug)]
struct Still {
    /// Whether the user went back to this moment, rather than freezing the screen at it.
    is_past: bool,
    /// The snapshot on screen.
    shown: Rc<Snapshot>,
    /// Unix time in ns of the newest snapshot when the screen stopped following the program.
    stopped_ns: Option<u64>,
    /// Time that each row took in each of the seconds before the snapshot on screen; `None` if it is unknown.
    activity: Option<Activity>,
}

impl Playback {
    /// Returns the snapshot on screen.
    pub(crate) fn shown<'a>(&'a self, program: &'a Program) -> Option<&'a Rc<Snapshot>> {
        match &self.still {
            Some(still) => Some(&still.shown),
            None => program.newest.as_ref(),
        }
    }

    /// Whether the screen is frozen or shows a past moment, rather than following the program.
    pub(crate) fn stands_still(&self) -> bool {
        self.still.is_some()
    }

    /// Whether the user went back to the moment on screen.
    pub(crate) fn is_past(&self) -> bool {
        self.past_still().is_some()
    }

    fn past_still(&self) -> Option<&Still> {
        self.still.as_ref().filter(|still| still.is_past)
    }

    /// Returns the activity of rows before the moment on screen, as far as it is known.
    pub(crate) fn activity(&self) -> Option<&Activity> {
        match &self.still {
            Some(still) => still.activity.as_ref(),
            None => Some(&self.past.activity),
        }
    }

    /// Makes the screen follow the program.
    pub(crate) fn go_live(&mut self) {
        self.still = None;
    }

    /// Stops the screen.
    pub(crate) fn freeze(&mut self, program: &Program) {
        let Some(shown) = self.shown(program).cloned() else {
            return;
        };
        self.still = Some(Still {
            is_past: false,
            shown,
            stopped_ns: program.newest_ns(),
            activity: Some(self.past.activity.clone()),
        });
    }

    /// Shows a moment of the past.
    pub(crate) fn go_to(&mut self, snapshot: Rc<Snapshot>, program: &Program, threads: &ThreadChoice) {
        // How far the user has gone back is measured from the newest snapshot when the screen stopped, so that the distance
        // does not grow while the program runs.
        let stopped = self.still.as_ref().and_then(|still| still.stopped_ns);
        let is_ahead = |stopped: u64| snapshot.capture.unix_ns >= stopped;
        let stopped_ns = if stopped.is_none_or(is_ahead) {
            program.newest_ns()
        } else {
            stopped
        };
        let activity = Activity::until(&self.past.history, &snapshot, threads);
        self.still = Some(Still {
            is_past: true,
            shown: snapshot,
            stopped_ns,
            activity,
        });
    }

    /// Reads the activity of rows from the history again, because the user chose other threads or older records have arrived.
    pub(crate) fn restart_activity(&mut self, program: &Program, threads: &ThreadChoice) {
        self.past.restart_activity(program.newest.as_ref(), threads);
        if let Some(still) = &mut self.still {
            still.activity = Activity::until(&self.past.history, &still.shown, threads);
        }
    }

    /// Drops the state of the previous program, except a mark from a file. Returns whether a mark was dropped.
    pub(crate) fn forget_program(&mut self) -> bool {
        self.past.forget();
        self.still = None;
        let mark = self.mark.take_if(|mark| !mark.of_file);
        mark.is_some()
    }

    /// Returns the length of the open recording in ns; `None` if no recording is open.
    pub(crate) fn recorded_ns(&self, program: &Program) -> Option<u64> {
        let begin = self.past.begin_ns.filter(|_| program.status == Status::Kept)?;
        program.newest_ns()?.checked_sub(begin).filter(|&long| long > 0)
    }

    /// Returns the length in ns that a timeline shows by default: the length of the recording, or of the whole run if
    /// it has ended and was short. Otherwise returns `None`.
    pub(crate) fn whole_ns(&self, program: &Program) -> Option<u64> {
        let ended = matches!(program.status, Status::Exited { .. } | Status::Crashed { .. });
        let run_ns = program.newest.as_ref().map(|newest| newest.process.uptime_ns);
        let short = run_ns.filter(|&ns| ended && ns > 0 && ns < USUAL_NS);
        self.recorded_ns(program).or(short)
    }

    /// Returns the time in ns from the beginning of the recording to the past moment on screen.
    pub(crate) fn since_begin_ns(&self, program: &Program) -> Option<u64> {
        let (all, newest) = (self.recorded_ns(program)?, program.newest_ns()?);
        let shown = self.past_still()?.shown.capture.unix_ns;
        Some(all.saturating_sub(newest.saturating_sub(shown)))
    }

    /// Returns the snapshot that was captured at this time.
    pub(crate) fn snapshot_of(&self, program: &Program, unix_ns: u64) -> Option<Rc<Snapshot>> {
        match &program.newest {
            Some(newest) if newest.capture.unix_ns == unix_ns => Some(Rc::clone(newest)),
            _ => self.past.history.get(unix_ns),
        }
    }

    /// Returns how far the user has gone back, as the time in ns from the moment on screen to the moment at which the
    /// screen stopped.
    pub(crate) fn back_ns(&self) -> Option<u64> {
        let still = self.past_still()?;
        Some(still.stopped_ns?.saturating_sub(still.shown.capture.unix_ns))
    }
}

/// The snapshots from which the tables are built.
#[derive(Debug)]
pub(crate) struct Sides {
    /// Snapshot that is shown.
    pub(crate) now: Rc<Snapshot>,
    /// Snapshot to compare with `now`. After [`Playback::sides`], its rows are aligned with the rows of `now`.
    pub(crate) then: Option<Rc<Snapshot>>,
    /// Window of both snapshots.
    pub(crate) stretch: Option<Stretch>,
    /// Length in ns of the window before the shown window, if these two windows are compared.
    pub(crate) before_ns: Option<u64>,
}

impl Playback {
    /// Returns the mark, if the numbers on screen are compared with it.
    pub(crate) fn compared_mark(&self, query: &Query) -> Option<&Mark> {
        let is_mark = query.against == Some(Against::Mark);
        self.mark.as_ref().filter(|_| is_mark)
    }

    /// Returns the snapshots for the tables of the moment on screen: its window, and the window to compare with.
    /// Sampled functions have rows, as far as their code is known.
    pub(crate) fn sides(&self, query: &Query, shown: &Rc<Snapshot>, code: &KnownCode) -> Sides {
        let sides = self.sides_apart(query, shown);
        let now = code.with_rows(sides.now);
        let (now, then) = match sides.then {
            None => (now, None),
            Some(then) => {
                let (now, then) = align(&now, &code.with_rows(then));
                (Rc::new(now), Some(Rc::new(then)))
            }
        };
        Sides { now, then, ..sides }
    }

    /// Like [`Self::sides`], but neither adds nor aligns rows.
    pub(crate) fn sides_apart(&self, query: &Query, shown: &Rc<Snapshot>) -> Sides {
        let (now, stretch) = self.in_window(query, shown);
        let Some(mark) = self.compared_mark(query) else {
            let before = match query.against {
                Some(Against::Before { .. }) => self.past.window_before(query.window, shown),
                Some(Against::Mark) | None => None,
            };
            let (then, before_ns) = before.unzip();
            return Sides {
                now,
                then,
                stretch,
                before_ns,
            };
        };
        // If the start of this window before the mark is unknown, both sides count from a reset. For the window since the
        // mark, this is always the case.
        let (now, then, stretch) = match mark.begin(query.window) {
            Some(base) => (now, Rc::new(between(&mark.snapshot, base)), stretch),
            None => (Rc::clone(shown), Rc::clone(&mark.snapshot), None),
        };
        Sides {
            now,
            then: Some(then),
            stretch,
            before_ns: None,
        }
    }

    /// Returns the calls in the chosen window, which ends with the snapshot `shown`, and the length of the window.
    pub(crate) fn in_window(&self, query: &Query, shown: &Rc<Snapshot>) -> (Rc<Snapshot>, Option<Stretch>) {
        let window = query.window;
        let stretch_of = |cut: &Snapshot| Stretch {
            window,
            ns: cut.capture.since_reset_ns,
            since_reset: !cut.window,
        };
        if window == Window::Reset {
            // A snapshot from a file may itself be a window.
            return (Rc::clone(shown), shown.window.then(|| stretch_of(shown)));
        }
        let base = match (window.length_ns(), &self.mark) {
            (Some(length_ns), _) => self.past.begin_of(shown, length_ns),
            (None, mark) => {
                let mark = mark.as_ref().map(|mark| Rc::clone(&mark.snapshot));
                mark.filter(|mark| same_epoch(shown, mark))
            }
        };
        let cut = match &base {
            Some(base) => Rc::new(between(shown, base)),
            None => Rc::clone(shown),
        };
        let stretch = stretch_of(&cut);
        (cut, Some(stretch))
    }
}
