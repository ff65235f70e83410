//! Marking a moment, and comparing with it.

use std::rc::Rc;

use tickscope_format::Snapshot;
use tickscope_format::profile::align::align;
use tickscope_format::profile::between::{between, same_epoch};

use crate::app::compare::{Against, Mark};
use crate::app::state::App;
use crate::app::window::{Stretch, Window};
use crate::text::cells::cut_middle;
use crate::text::clock_time::{clock_time, seconds};

/// Cells for the name of a file: the line above the columns has little room.
pub(crate) const LABEL_CELLS: usize = 26;

/// What the tables are made of.
#[derive(Debug)]
pub(crate) struct Sides {
    /// What is shown.
    pub(in crate::app) now: Rc<Snapshot>,
    /// What it is compared with, with the same rows.
    pub(in crate::app) then: Option<Rc<Snapshot>>,
    /// The window of both.
    pub(in crate::app) stretch: Option<Stretch>,
    /// How long the window before it is, where that is what it is compared with.
    pub(in crate::app) before_ns: Option<u64>,
}

impl App {
    /// Remembers the moment on screen.
    pub(in crate::app) fn mark_moment(&mut self) {
        let Some(shown) = self.shown().cloned() else {
            return;
        };
        let label = clock_time(shown.capture.unix_ns, self.screen.utc_offset);
        let base = |window: Window| {
            let length_ns = window.length_ns()?;
            self.base_of(&shown, length_ns)
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

    /// Compares with a snapshot from elsewhere.
    pub(crate) fn compare_with(&mut self, snapshot: Rc<Snapshot>, label: String) {
        self.playback.mark = Some(Mark {
            snapshot,
            label: cut_middle(&label, LABEL_CELLS, "..").into_owned(),
            of_file: true,
            bases: [None, None],
        });
        self.query.against = Some(Against::Mark);
    }

    /// Shows differences: to the mark, then to the window before the one on screen, then no more.
    pub(in crate::app) fn compare(&mut self) {
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
            (Some(_), _) => return self.compare_no_more(),
        }
    }

    /// Shows plain numbers.
    pub(in crate::app) fn compare_no_more(&mut self) {
        if let Some(Against::Before { after }) = self.query.against.take() {
            self.query.window = after;
        }
        self.tell("plain numbers again");
    }

    fn differences_to(&self, mark: &Mark) -> String {
        let label = &mark.label;
        let same_run = |shown: &Rc<Snapshot>| shown.process.pid == mark.snapshot.process.pid;
        // What was counted from zero since is no change.
        let counted_anew = self
            .shown()
            .is_some_and(|shown| same_run(shown) && !same_epoch(shown, &mark.snapshot));
        let is_later = |shown: &Rc<Snapshot>| mark.snapshot.capture.unix_ns > shown.capture.unix_ns;
        match counted_anew {
            true if self.shown().is_some_and(is_later) => format!(
                "{label} is later, and counted from zero in between: only AVG and percents compare, or a window (w)"
            ),
            true => format!(
                "counted from zero since {label}: only AVG and percents compare, or a window (w); ' shows plain numbers"
            ),
            false => match self.query.window.length_ns() {
                Some(_) => format!(
                    "differences to {label}: + is more than then; ' compares with the time just before"
                ),
                None => format!("differences to {label}: + is more than then; ' shows plain numbers"),
            },
        }
    }

    /// Shows what changed from the window before to the one on screen; that of ten seconds where none is.
    fn compare_before(&mut self) {
        let after = self.query.window;
        if after.length_ns().is_none() {
            self.query.window = Window::Ten;
        }
        let known = self.shown().and_then(|shown| self.window_before(shown));
        let Some((_, ns)) = known else {
            let wanted = self.query.window.length_ns().unwrap_or_default() / 1_000_000_000;
            self.query.window = after;
            return self.complain(format!(
                "the past does not reach back {} s yet, to compare {wanted} s with {wanted} s before; m sets a mark to \
                 compare with",
                2 * wanted
            ));
        };
        self.query.against = Some(Against::Before { after });
        let words = match self.query.window {
            Window::Second => "the last second against the one before".to_string(),
            Window::Ten | Window::Reset | Window::Mark => {
                format!("the last 10 s against the {} before", seconds(ns))
            }
        };
        self.tell(format!("{words}: + is more than then; ' shows plain numbers"));
    }

    /// The mark, while its differences are on screen.
    pub(in crate::app) fn compared_mark(&self) -> Option<&Mark> {
        let is_mark = self.query.against == Some(Against::Mark);
        self.playback.mark.as_ref().filter(|_| is_mark)
    }

    /// What the numbers on screen are the differences to; none where they are plain.
    pub(crate) fn compared(&self) -> Option<String> {
        match self.query.against? {
            Against::Mark => self.playback.mark.as_ref().map(|mark| mark.label.clone()),
            Against::Before { .. } => self.derived.before_ns.map(|ns| format!("{} before", seconds(ns))),
        }
    }

    /// What the tables of the moment on screen are made of: its window, and the same of what it is compared with.
    pub(in crate::app) fn sides(&self, shown: &Rc<Snapshot>) -> Sides {
        let sides = self.sides_apart(shown);
        let Some(then) = &sides.then else { return sides };
        let (now, then) = align(&sides.now, then);
        Sides {
            now: Rc::new(now),
            then: Some(Rc::new(then)),
            ..sides
        }
    }

    /// The same, each side with its own rows only.
    pub(in crate::app) fn sides_apart(&self, shown: &Rc<Snapshot>) -> Sides {
        let (now, stretch) = self.in_window(shown);
        let Some(mark) = self.compared_mark() else {
            let before = match self.query.against {
                Some(Against::Before { .. }) => self.window_before(shown),
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
        // Both sides from a reset on where the mark has no such window; from the mark on the mark itself is nothing.
        let (now, then, stretch) = match mark.begin(self.query.window) {
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
}
