//! The snapshots that the tables are made of: the window that ends at the moment on screen, and the window to compare it with.

use std::rc::Rc;

use tickscope_analysis::align::align;
use tickscope_analysis::window::{between, same_epoch};
use tickscope_format::Snapshot;

use crate::app::playback::Playback;
use crate::app::query::Query;
use crate::app::window::{Against, Mark, Stretch, Window};

/// The snapshots that the tables are made of.
#[derive(Debug)]
pub(crate) struct Sides {
    /// Snapshot that is shown.
    pub(crate) now: Rc<Snapshot>,
    /// Snapshot to compare with; it has the same rows.
    pub(crate) then: Option<Rc<Snapshot>>,
    /// Window of both snapshots.
    pub(crate) stretch: Option<Stretch>,
    /// Length in ns of the window before, if the comparison is with that window.
    pub(crate) before_ns: Option<u64>,
}

impl Playback {
    /// Returns the mark, while differences to it are on screen.
    pub(crate) fn compared_mark(&self, query: &Query) -> Option<&Mark> {
        let is_mark = query.against == Some(Against::Mark);
        self.mark.as_ref().filter(|_| is_mark)
    }

    /// Returns the snapshots for the tables of the moment on screen: its window, and the window to compare with.
    pub(crate) fn sides(&self, query: &Query, shown: &Rc<Snapshot>) -> Sides {
        let sides = self.sides_apart(query, shown);
        let Some(then) = &sides.then else { return sides };
        let (now, then) = align(&sides.now, then);
        Sides {
            now: Rc::new(now),
            then: Some(Rc::new(then)),
            ..sides
        }
    }

    /// Like [`Self::sides`], but each snapshot has only its own rows.
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
        // If the mark has no such window, both sides count from a reset. In the window since the mark, the mark itself
        // has no time.
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

    /// Returns the calls in the window that ends with this snapshot of the program on screen.
    pub(crate) fn in_window(&self, query: &Query, shown: &Rc<Snapshot>) -> (Rc<Snapshot>, Option<Stretch>) {
        let window = query.window;
        let stretch_of = |cut: &Snapshot| Stretch {
            window,
            ns: cut.capture.since_reset_ns,
            since_reset: !cut.window,
        };
        if window == Window::Reset {
            // A window that was written to a file is read as a window again.
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
