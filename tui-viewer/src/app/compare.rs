//! The moment to compare with, and the beginnings of its windows.

use std::rc::Rc;

use tickscope_analysis::window::same_epoch;
use tickscope_format::Snapshot;

use crate::app::window::Window;

/// A moment that was marked.
#[derive(Debug)]
pub(crate) struct Mark {
    /// Snapshot of the program at the moment; it may be of another run.
    pub(crate) snapshot: Rc<Snapshot>,
    /// Label of the moment: a clock time, or the name of a file.
    pub(crate) label: String,
    /// Whether the moment comes from a file, and not from the program on screen.
    pub(crate) of_file: bool,
    /// Snapshots at which the windows that end at the mark begin. They are kept here because history may drop them.
    pub(crate) bases: [Option<Rc<Snapshot>>; 2],
}

/// Moment or window that the moment on screen is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Against {
    Mark,
    /// The window before the one on screen.
    Before {
        /// The window to go back to.
        after: Window,
    },
}

impl Mark {
    /// Returns the snapshot at which a window that ends at the mark begins; `None` if it is unknown or not at a snapshot.
    pub(crate) fn begin(&self, window: Window) -> Option<&Rc<Snapshot>> {
        let base = match window {
            Window::Reset | Window::Mark | Window::Chosen(_) => &None,
            Window::Second => &self.bases[0],
            Window::Ten => &self.bases[1],
        };
        base.as_ref().filter(|base| same_epoch(&self.snapshot, base))
    }

    /// Whether the start of a window that ends at the mark is known.
    pub(crate) fn has_window(&self, window: Window) -> bool {
        window == Window::Reset || self.begin(window).is_some()
    }
}
