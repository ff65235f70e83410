//! A moment to compare with, and the differences to it.

use std::rc::Rc;

use tickscope_format::Snapshot;
use tickscope_format::profile::align::align;
use tickscope_format::profile::between::{between, same_epoch};

use crate::cells::cut_middle;
use crate::model::Model;
use crate::model::data::{Data, Figures, What};
use crate::model::window::{Stretch, Window};
use crate::process_time::clock_time;

/// Cells for the name of a file: the line above the columns has little room.
const LABEL_CELLS: usize = 26;

/// A moment that was marked.
#[derive(Debug)]
pub(crate) struct Mark {
    /// The program then; it may be another run.
    pub(crate) snapshot: Rc<Snapshot>,
    /// What to call it: a clock time, or the name of a file.
    pub(crate) label: String,
    /// It comes from a file, and not from the program on screen.
    pub(crate) of_file: bool,
    /// What the windows begin with that end there: history may have let go of it when they are asked for.
    bases: [Option<Rc<Snapshot>>; 2],
}

/// What the tables are made of.
#[derive(Debug)]
pub(super) struct Sides {
    /// What is shown.
    pub(super) now: Rc<Snapshot>,
    /// What it is compared with, with the same rows.
    pub(super) then: Option<Rc<Snapshot>>,
    /// The window of both.
    pub(super) stretch: Option<Stretch>,
}

// === impl Mark ===

impl Mark {
    /// What such a window begins with that ends there; none where that is not known, or not at a snapshot.
    fn base(&self, window: Window) -> Option<&Rc<Snapshot>> {
        let base = match window {
            Window::Reset | Window::Mark => &None,
            Window::Second => &self.bases[0],
            Window::Ten => &self.bases[1],
        };
        base.as_ref().filter(|base| same_epoch(&self.snapshot, base))
    }

    /// Whether it is known what happened in such a window before it.
    pub(super) fn has_window(&self, window: Window) -> bool {
        window == Window::Reset || self.base(window).is_some()
    }
}

// === impl Model ===

impl Model {
    /// Remembers the moment on screen.
    pub(super) fn mark_moment(&mut self) {
        let Some(shown) = self.shown.clone() else { return };
        let label = clock_time(shown.capture.unix_ns, self.utc_offset);
        let base = |window: Window| {
            let length_ns = window.length_ns()?;
            self.base_of(&shown, length_ns)
        };
        let bases = [base(Window::Second), base(Window::Ten)];
        self.tell(format!("{label} is marked; ' compares with it, w counts from it"));
        self.time.mark = Some(Mark {
            snapshot: shown,
            label,
            of_file: false,
            bases,
        });
        self.data_stale = true;
    }

    /// Compares with a snapshot from elsewhere.
    pub(crate) fn compare_with(&mut self, snapshot: Rc<Snapshot>, label: String) {
        self.time.mark = Some(Mark {
            snapshot,
            label: cut_middle(&label, LABEL_CELLS, "..").into_owned(),
            of_file: true,
            bases: [None, None],
        });
        self.time.comparing = true;
        self.data_stale = true;
        self.sort_now = true;
    }

    /// Shows differences to the mark, or no more.
    pub(super) fn compare(&mut self) {
        let Some(mark) = &self.time.mark else {
            self.tell("m sets a mark to compare with");
            return;
        };
        let label = mark.label.clone();
        self.time.comparing = !self.time.comparing;
        // What was counted from zero since is no change.
        let counted_anew = mark.snapshot.process.pid
            == self.shown.as_ref().map_or(0, |shown| shown.process.pid)
            && self
                .shown
                .as_ref()
                .is_some_and(|shown| !same_epoch(shown, &mark.snapshot));
        self.tell(match self.time.comparing {
            true if counted_anew => format!(
                "counted from zero since {label}: only AVG and percents compare, or a window (w); ' shows plain numbers"
            ),
            true => format!("differences to {label}: + is more than then; ' shows plain numbers"),
            false => "plain numbers again".to_string(),
        });
        self.data_stale = true;
        self.sort_now = true;
    }

    /// The mark, while its differences are on screen.
    pub(crate) fn compared(&self) -> Option<&Mark> {
        self.time.mark.as_ref().filter(|_| self.time.comparing)
    }

    /// What the tables of the moment on screen are made of: its window, and the same of what it is compared with.
    pub(super) fn sides(&self, shown: &Rc<Snapshot>) -> Sides {
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
    pub(super) fn sides_apart(&self, shown: &Rc<Snapshot>) -> Sides {
        let (now, stretch) = self.in_window(shown);
        let Some(mark) = self.compared() else {
            return Sides {
                now,
                then: None,
                stretch,
            };
        };
        // Both sides from a reset on where the mark has no such window; from the mark on the mark itself is nothing.
        let (now, then, stretch) = match mark.base(self.time.window) {
            Some(base) => (now, Rc::new(between(&mark.snapshot, base)), stretch),
            None => (Rc::clone(shown), Rc::clone(&mark.snapshot), None),
        };
        Sides {
            now,
            then: Some(then),
            stretch,
        }
    }
}

// === impl Data ===

impl Data {
    /// The same row in what it is compared with; none where it is not there.
    pub(crate) fn counterpart(&self, what: What) -> Option<(&Self, What)> {
        let then = self.then.as_deref()?;
        let id = self.id(what);
        // Both sides have the same rows in the same order, but for what is sorted by its own time.
        let (rows, make): (usize, fn(u32) -> What) = match what {
            What::Tree(_) => (then.tree.rows.len(), What::Tree),
            What::Hot(_) => (then.hot().len(), What::Hot),
            What::Call(_) => (then.around.as_ref()?.callees().end as usize, What::Call),
            What::Thread(_) => (then.threads().len(), What::Thread),
            What::Site(_) => (then.sites().len(), What::Site),
            What::Outside => return Some((then, what)),
        };
        let same = what.row().filter(|&row| (row as usize) < rows).map(make);
        let same = same.filter(|&same| then.id(same) == id);
        let there = same.or_else(|| (0..rows as u32).map(make).find(|&other| then.id(other) == id))?;
        Some((then, there))
    }
}

/// How much longer a call takes than then, as a part of what it took: 0.09 is 9 % more. None where it was not called
/// at both times.
pub(crate) fn change_of_avg(data: &Data, what: What) -> Option<f64> {
    let (then, there) = data.counterpart(what)?;
    let then = then.figures(there);
    let mean = |figures: Figures| {
        (figures.calls > 0 && figures.total_ns > 0).then(|| figures.total_ns as f64 / figures.calls as f64)
    };
    Some(mean(data.figures(what))? / mean(then)? - 1.0)
}
