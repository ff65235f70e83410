//! State of the program: its target, its status, and its newest snapshot.

use std::rc::Rc;

use tickscope_format::Snapshot;
use tickscope_format::snapshot::Mode;
use tickscope_programs::events::{Processes, RingLine, Target};
use tickscope_programs::kept_traces::KeptTraces;
use tickscope_programs::known_functions::KnownFunctions;
use tickscope_programs::status::Status;

/// The program on the screen. Before a program is open, the ring files to choose from.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) status: Status,
    /// Target that is open.
    pub(crate) target: Option<Target>,
    /// Ring files to choose from while no program is open.
    pub(crate) found: Vec<RingLine>,
    /// The processes, if several are shown together.
    pub(crate) processes: Option<Processes>,
    /// Index of the selected ring file.
    pub(crate) chosen: usize,
    /// The newest snapshot.
    pub(crate) newest: Option<Rc<Snapshot>>,
    /// All functions of the program, if they are known.
    pub(crate) functions: Option<Rc<KnownFunctions>>,
    /// Traces of slow calls from all snapshots so far.
    pub(crate) traces: Rc<KeptTraces>,
    /// Whether the user has read the warnings of the program.
    pub(crate) warnings_seen: bool,
    /// Number of times that the newest record had to be read again because the program overwrote it in the meantime.
    pub(crate) lapped: u64,
}

impl Default for Program {
    fn default() -> Self {
        Self {
            status: Status::Waiting { why: String::new() },
            target: None,
            found: Vec::new(),
            processes: None,
            chosen: 0,
            newest: None,
            functions: None,
            traces: Rc::default(),
            warnings_seen: false,
            lapped: 0,
        }
    }
}

impl Program {
    /// Whether the program is at the other end of a pipe, so that its process id means nothing here.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.target.as_ref().is_some_and(Target::is_elsewhere)
    }

    /// Whether several processes are shown together as one program.
    pub(crate) fn is_together(&self) -> bool {
        self.target.as_ref().is_some_and(Target::is_together)
    }

    /// Returns the unix time in ns of the newest snapshot.
    pub(crate) fn newest_ns(&self) -> Option<u64> {
        self.newest.as_ref().map(|newest| newest.capture.unix_ns)
    }

    /// Returns the mode in which the program currently measures, even while an older moment is on screen.
    pub(crate) fn mode(&self) -> Option<Mode> {
        self.newest.as_ref().map(|newest| newest.capture.mode)
    }

    /// Replaces the list of ring files, but keeps the same file selected. Returns whether the list has changed.
    pub(crate) fn set_found(&mut self, found: Vec<RingLine>) -> bool {
        if found == self.found {
            return false;
        }
        let path = self.found.get(self.chosen).map(|line| &line.path);
        let same = path.and_then(|path| found.iter().position(|line| line.path == *path));
        self.chosen = same.unwrap_or(self.chosen).min(found.len().saturating_sub(1));
        self.found = found;
        true
    }
}
