//! The stretch of time that the numbers cover.

use tickscope_programs::clock_time::seconds;

/// A stretch of time that ends with the moment on screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Window {
    /// All time since the counters began.
    #[default]
    Reset,
    /// The last second.
    Second,
    /// The last ten seconds.
    Ten,
    /// All time since the mark.
    Mark,
    /// A stretch of this many nanoseconds that was chosen in the timeline.
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
    /// Returns the label above the columns: the real length, and the wanted length if that is longer.
    pub(crate) fn label(self) -> String {
        let long = seconds(self.ns);
        let from = if self.since_reset { " since reset" } else { "" };
        match self.window.length_ns() {
            // Snapshots do not arrive at exact times.
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
