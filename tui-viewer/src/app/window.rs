//! The stretch of time that the numbers cover, and the moment to compare with.

use std::rc::Rc;

use tickscope_analysis::window::same_epoch;
use tickscope_format::Snapshot;
use tickscope_programs::clock_time::seconds;

/// A stretch of time that ends at the moment on screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Window {
    /// The whole time since the counters last started from zero.
    #[default]
    Reset,
    /// The last second.
    Second,
    /// The last ten seconds.
    Ten,
    /// All time since the mark.
    Mark,
    /// A stretch of this many nanoseconds, chosen in the timeline.
    Chosen(u64),
}

/// Length of the window on screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Window that the user chose.
    pub(crate) window: Window,
    /// Length in ns.
    pub(crate) ns: u64,
    /// Whether the window begins with a reset.
    pub(crate) since_reset: bool,
}

impl Window {
    /// Returns the length of the window in ns; `None` if it has no fixed length.
    pub(crate) fn length_ns(self) -> Option<u64> {
        match self {
            Self::Second => Some(1_000_000_000),
            Self::Ten => Some(10_000_000_000),
            Self::Chosen(ns) => Some(ns),
            Self::Reset | Self::Mark => None,
        }
    }

    pub(crate) fn next(self, marked: bool, before: bool) -> Self {
        match self {
            Self::Ten if before => Self::Second,
            Self::Reset => Self::Second,
            Self::Second => Self::Ten,
            Self::Ten if marked => Self::Mark,
            Self::Ten | Self::Mark | Self::Chosen(_) => Self::Reset,
        }
    }

    pub(crate) fn says(self) -> &'static str {
        match self {
            Self::Reset => "numbers since the reset",
            Self::Second => "numbers of the last second; w: the last 10 s; ': against the second before",
            Self::Ten => "numbers of the last 10 s; ' compares them with the 10 s before",
            Self::Chosen(_) => "numbers of the chosen time",
            Self::Mark => "numbers since the mark; w: since the reset",
        }
    }
}

impl Stretch {
    /// Returns the label above the columns: the actual length of the window and, if it is still shorter than the chosen
    /// length, that one too.
    pub(crate) fn label(self) -> String {
        let long = seconds(self.ns);
        let from = if self.since_reset { " since reset" } else { "" };
        match self.window.length_ns() {
            // One hundredth may be missing, because snapshots do not arrive at exact intervals.
            Some(wanted) if self.ns + wanted / 100 < wanted => {
                format!("window {long}{from}, not yet {} s", wanted / 1_000_000_000)
            }
            None if self.window == Window::Mark && !self.since_reset => format!("window {long}, since mark"),
            Some(_) | None => format!("window {long}{from}"),
        }
    }
}

/// Returns the window in words for sentences: `since the reset`, `in the last 10.0 s`.
pub(crate) fn span_words(stretch: Option<Stretch>) -> String {
    match stretch {
        Some(stretch) if stretch.since_reset => "since the reset".to_string(),
        Some(stretch) if stretch.window == Window::Mark => "since the mark".to_string(),
        Some(stretch) => format!("in the last {}", seconds(stretch.ns)),
        None => "since the reset".to_string(),
    }
}

/// A moment that was marked.
#[derive(Debug)]
pub(crate) struct Mark {
    /// Snapshot of the program at the marked moment. It may be from another run.
    pub(crate) snapshot: Rc<Snapshot>,
    /// Label of the mark: a clock time or the name of a file.
    pub(crate) label: String,
    /// Whether the mark is a snapshot from a file, and not a moment of the program on screen.
    pub(crate) of_file: bool,
    /// The snapshots at which the windows of 1 s and of 10 s before the mark begin, in this order. They are kept here
    /// because the history may drop them.
    pub(crate) bases: [Option<Rc<Snapshot>>; 2],
}

/// What the moment on screen is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Against {
    Mark,
    /// The window before the one on screen.
    Before {
        /// Window to return to when the comparison ends.
        after: Window,
    },
}

impl Mark {
    /// Returns the snapshot at which the window of 1 s or 10 s before the mark begins. Returns `None` if it is not
    /// known or if there was a reset in between, and for all other windows.
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
