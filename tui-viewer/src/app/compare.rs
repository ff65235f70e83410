//! A moment to compare with, and the differences to it.

use std::rc::Rc;

use tickscope_analysis::window::same_epoch;
use tickscope_format::Snapshot;

use crate::app::window::Window;

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
    pub(super) bases: [Option<Rc<Snapshot>>; 2],
}

/// What the moment on screen is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Against {
    /// The mark.
    Mark,
    /// The window before the one on screen.
    Before {
        /// The window to go back to.
        after: Window,
    },
}

impl Mark {
    /// What such a window begins with that ends there; none where that is not known, or not at a snapshot.
    pub(super) fn begin(&self, window: Window) -> Option<&Rc<Snapshot>> {
        let base = match window {
            Window::Reset | Window::Mark | Window::Chosen(_) => &None,
            Window::Second => &self.bases[0],
            Window::Ten => &self.bases[1],
        };
        base.as_ref().filter(|base| same_epoch(&self.snapshot, base))
    }

    /// Whether it is known what happened in such a window before it.
    pub(super) fn has_window(&self, window: Window) -> bool {
        window == Window::Reset || self.begin(window).is_some()
    }
}
