//! The state of a snapshot's program.

use std::fmt;

use tickscope_format::snapshot::Snapshot;

use crate::escape::visible;

/// The state of a program. It is not part of the snapshot: the reader of the ring file derives it from the lock and the
/// heartbeat, and hands it to the reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ProcessState {
    /// The program holds the lock and its heartbeat is fresh.
    #[default]
    Running,
    /// The program holds the lock, but its heartbeat is old: stopped, or starved of CPU.
    Stale,
    /// The program ended and left its final snapshot.
    Exited,
    /// The program ended without a final snapshot; the newest one is shown.
    Crashed,
    /// The snapshot is from a file, so the state of the program is unknown.
    FromFile,
}

impl ProcessState {
    /// Returns the word in headers, JSON and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stale => "stale",
            Self::Exited => "exited",
            Self::Crashed => "crashed",
            Self::FromFile => "kept",
        }
    }

    /// Returns the word, with its meaning if that is not plain.
    pub fn explained(self) -> &'static str {
        match self {
            Self::Running | Self::Exited => self.as_str(),
            Self::Stale => "stale (alive, but silent: stopped or starved)",
            Self::Crashed => "crashed (no final snapshot, this is its newest)",
            Self::FromFile => "kept in a file",
        }
    }
}

/// Returns the first line of a command's output, ending in a newline: the command, the program and its state.
pub(crate) fn heading(command: &str, snapshot: &Snapshot, state: ProcessState, ascii: bool) -> String {
    let process = &snapshot.process;
    let name = visible(&process.name, ascii);
    // A report on several processes has no pid.
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
