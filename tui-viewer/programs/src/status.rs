//! State of a program, for lists, reports and the screen. The screen shows a word and a symbol for each state; colour
//! only repeats what they say.

use tickscope_format::file::open::Liveness;
use tickscope_report::ProcessState;

/// State of the program, apart from what its snapshot shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is nothing to show yet.
    Waiting {
        /// Which program the viewer is waiting for, and which directories were searched.
        why: String,
    },
    /// The program runs and its heartbeat is fresh.
    Live,
    /// The program still holds its lock, but its last heartbeat was too long ago.
    Stale {
        /// Time of the last heartbeat: nanoseconds since the Unix epoch.
        since_unix_ns: u64,
    },
    /// The program ended normally, after writing its final record.
    Exited {
        /// When the program ended, in nanoseconds since the Unix epoch.
        unix_ns: u64,
    },
    /// The program ended without writing a final record.
    Crashed {
        /// Time of the last sign of life in nanoseconds since the Unix epoch; `None` if there was none.
        unix_ns: Option<u64>,
    },
    /// The snapshot comes from a file, not from a running program.
    Kept,
    /// The records arrive through a pipe. No requests can be sent to the program.
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
    /// The pipe was closed before the program ended.
    Closed,
}

/// Symbol shown next to the word for a state, so that the state can be recognized without colour.
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
    /// Returns the word for this state, as shown in the header.
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

    /// Returns the symbol shown next to the word.
    pub fn mark(&self) -> Mark {
        match self {
            Self::Waiting { .. } => Mark::Waiting,
            Self::Live | Self::Piped(Pipe::Flowing) => Mark::Live,
            Self::Stale { .. } | Self::Broken { .. } | Self::Piped(Pipe::Silent { .. }) => Mark::Stale,
            Self::Exited { .. } | Self::Crashed { .. } | Self::Piped(Pipe::Closed) => Mark::Ended,
            Self::Kept => Mark::Kept,
        }
    }

    /// Whether new records may still arrive without being requested.
    pub fn moves(&self) -> bool {
        self.answers() || matches!(self, Self::Piped(Pipe::Flowing | Pipe::Silent { .. }))
    }

    /// Whether the program accepts requests.
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

/// Returns when the program entered its current state, in nanoseconds since the Unix epoch. A running program entered
/// it at `started_unix_ns`, when it started.
pub fn since_unix_ns(started_unix_ns: u64, liveness: &Liveness) -> u64 {
    match *liveness {
        Liveness::Running => started_unix_ns,
        Liveness::Stale { since_unix_ns } => since_unix_ns,
        Liveness::Exited { unix_ns } | Liveness::Crashed { unix_ns } => unix_ns,
    }
}
