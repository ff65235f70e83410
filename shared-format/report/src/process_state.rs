//! Whether the program that a snapshot comes from is running.

use std::fmt;

use tickscope_format::snapshot::Snapshot;

use crate::escape::visible;

/// What is known about the program that a snapshot comes from. The snapshot does not contain this. The reader of the ring file
/// derives it from the lock and the heartbeat, and passes it to the reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ProcessState {
    /// The program holds the lock and its heartbeat is fresh.
    #[default]
    Running,
    /// The program holds the lock, but its heartbeat is old, because it is stopped or gets no CPU.
    Stale,
    /// The program has ended and left its final snapshot.
    Exited,
    /// The program has ended without a final snapshot. Reports show the newest snapshot that there is.
    Crashed,
    /// The snapshot comes from a file, so nothing is known about the program.
    FromFile,
}

impl ProcessState {
    /// Returns the word that headers, JSON and reports show for the state.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stale => "stale",
            Self::Exited => "exited",
            Self::Crashed => "crashed",
            Self::FromFile => "kept",
        }
    }

    /// Returns the word for the state, with an explanation if it needs one.
    pub fn explained(self) -> &'static str {
        match self {
            Self::Running | Self::Exited => self.as_str(),
            Self::Stale => "stale (alive, but silent: stopped or starved)",
            Self::Crashed => "crashed (no final snapshot, this is its newest)",
            Self::FromFile => "kept in a file",
        }
    }
}

/// Returns the first line of a command's output, including the newline: command, program and state.
pub(crate) fn heading(command: &str, snapshot: &Snapshot, state: ProcessState, ascii: bool) -> String {
    let process = &snapshot.process;
    let name = visible(&process.name, ascii);
    // A snapshot of several processes has the pid 0.
    let pid = match process.pid {
        0 => String::new(),
        pid => format!(", pid {pid}"),
    };
    format!("tickscope {command}: {name}{pid}, {}\n", state.explained())
}

impl fmt::Display for ProcessState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
