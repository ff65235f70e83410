//! State of a program, for lists, reports and the screen, which shows a word and a mark. Colour only repeats these.

use tickscope_format::file::open::Liveness;
use tickscope_report::ProcessState;

/// State of the program, as far as its snapshot does not show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is nothing to show yet.
    Waiting {
        /// The program that the screen waits for, and the directories that were searched.
        why: String,
    },
    /// The program runs and its heartbeat is fresh.
    Live,
    /// The program holds its lock, but its heartbeat is old.
    Stale {
        /// Time of the last heartbeat: nanoseconds since the Unix epoch.
        since_unix_ns: u64,
    },
    /// The program ended and left its last record.
    Exited {
        /// Time of the end: nanoseconds since the Unix epoch.
        unix_ns: u64,
    },
    /// The program ended without a last record.
    Crashed {
        /// Time of the last sign of life, if there was one: nanoseconds since the Unix epoch.
        unix_ns: Option<u64>,
    },
    /// A snapshot from a file, without a program that runs.
    Kept,
    /// The records of a program come through a pipe, which takes no requests.
    Piped(Pipe),
    /// The file is damaged, or is not of the expected kind.
    Broken {
        /// What was found, what was expected, and the next step.
        why: String,
    },
}

impl Default for Status {
    fn default() -> Self {
        Self::Waiting { why: String::new() }
    }
}

/// State of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pipe {
    /// Records come.
    Flowing,
    /// No record has come for a while.
    Silent {
        /// Capture time of the last record: nanoseconds since the Unix epoch.
        since_unix_ns: u64,
    },
    /// The pipe has ended before the program.
    Closed,
}

/// Shape next to the word for a state, so that colour is not the only sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A filled dot.
    Live,
    /// Two bars.
    Frozen,
    /// An exclamation mark.
    Stale,
    /// A filled square.
    Ended,
    /// A diamond.
    Kept,
    /// An empty dot.
    Waiting,
}

impl Status {
    /// Returns the word that the header shows.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Waiting { .. } => "WAITING",
            Self::Live => "LIVE",
            Self::Stale { .. } => "STALE",
            Self::Exited { .. } => "EXITED",
            Self::Crashed { .. } => "CRASHED",
            Self::Kept => "KEPT",
            Self::Piped(Pipe::Flowing) => "PIPED",
            Self::Piped(Pipe::Silent { .. }) => "SILENT",
            Self::Piped(Pipe::Closed) => "CLOSED",
            Self::Broken { .. } => "BROKEN",
        }
    }

    /// Returns the shape that is shown with the word.
    pub fn mark(&self) -> Mark {
        match self {
            Self::Waiting { .. } => Mark::Waiting,
            Self::Live | Self::Piped(Pipe::Flowing) => Mark::Live,
            Self::Stale { .. } | Self::Broken { .. } | Self::Piped(Pipe::Silent { .. }) => Mark::Stale,
            Self::Exited { .. } | Self::Crashed { .. } | Self::Piped(Pipe::Closed) => Mark::Ended,
            Self::Kept => Mark::Kept,
        }
    }

    /// Whether new records may come without a request.
    pub fn moves(&self) -> bool {
        self.answers() || matches!(self, Self::Piped(Pipe::Flowing | Pipe::Silent { .. }))
    }

    /// Whether the program takes requests.
    pub fn answers(&self) -> bool {
        matches!(self, Self::Live | Self::Stale { .. })
    }
}

/// Returns the state of a program for lists and reports.
pub fn state_of(liveness: &Liveness) -> ProcessState {
    match liveness {
        Liveness::Running => ProcessState::Running,
        Liveness::Stale { .. } => ProcessState::Stale,
        Liveness::Exited { .. } => ProcessState::Exited,
        Liveness::Crashed { .. } => ProcessState::Crashed,
    }
}

/// Returns when a program's state began, in nanoseconds since the Unix epoch. The program started at `started_unix_ns`.
pub fn since_unix_ns(started_unix_ns: u64, liveness: &Liveness) -> u64 {
    match *liveness {
        Liveness::Running => started_unix_ns,
        Liveness::Stale { since_unix_ns } => since_unix_ns,
        Liveness::Exited { unix_ns } | Liveness::Crashed { unix_ns } => unix_ns,
    }
}
