//! Events that the screen receives from the program, and its requests to the program. Only a [`Feed`] does I/O.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use tickscope_format::Snapshot;
use tickscope_format::addresses::Addresses;
use tickscope_format::pattern::Pattern;
use tickscope_format::ring::Stamp;
use tickscope_format::snapshot::{CaptureKind, Mode, Over};

use crate::known_functions::KnownFunctions;
use crate::status::Status;

/// The program on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Name that the program gave itself.
    pub name: String,
    /// Process id of the program.
    pub pid: u32,
    /// File that the program is read from.
    pub path: PathBuf,
}

impl Target {
    /// Whether the program comes through a pipe: its process id and files belong to another system.
    pub fn is_elsewhere(&self) -> bool {
        self.path == Path::new(PIPE)
    }

    /// Whether the target is several processes, which have no common file or process id.
    pub fn is_together(&self) -> bool {
        self.path == Path::new(TOGETHER)
    }
}

/// Path that stands for a program from a pipe.
pub const PIPE: &str = "-";

/// Path that stands for processes that are shown together.
pub(crate) const TOGETHER: &str = "--all";

/// A ring file that could be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingLine {
    /// Path of the file.
    pub path: PathBuf,
    /// Name that the program gave itself.
    pub name: String,
    /// Process id of the program.
    pub pid: u32,
    /// State of the program: "running", "exited".
    pub state: String,
    /// When this state began: a clock time, or words that stay true as time passes.
    pub since: String,
    /// Whether the program runs.
    pub live: bool,
    /// Name of the library whose collector writes the ring; empty for the executable's collector.
    pub library: String,
}

/// Changes since the last poll.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// State of the program.
    pub status: Status,
    /// The program, once one is open.
    pub target: Option<Target>,
    /// The newest complete record, if it was not handed over before.
    pub snapshot: Option<Rc<Snapshot>>,
    /// Records for the history, in any order: insert each by its time, and drop it if its time is known already. After
    /// a program is opened, each poll adds a slice of the file's earlier records, oldest first; each slice is older
    /// than the one before. With a `snapshot`, its own record and all records since the last poll are here as well.
    pub past: Vec<Past>,
    /// Start of the recording that the program is read from: nanoseconds since the Unix epoch.
    pub begin_ns: Option<u64>,
    /// Ring files in the searched directories while no program is open; `None` if the list has not changed.
    pub rings: Option<Vec<RingLine>>,
    /// Number of reads that were repeated because the program overwrote the record during the read.
    pub lapped: u64,
    /// Answers to requests since the last poll.
    pub outcomes: Vec<Outcome>,
    /// All functions of the program, once known. Snapshots leave out the functions that were never called.
    pub functions: Option<Rc<KnownFunctions>>,
    /// Names of code addresses in the recording, which therefore are not looked up in files.
    pub addresses: Addresses,
    /// Old and new process id, if the program was started again.
    pub new_run: Option<(u32, u32)>,
    /// Message about the connection to the program: one line.
    pub notice: Option<String>,
    /// Numbers of running and ended processes, if several are shown together.
    pub processes: Option<Processes>,
}

/// A record in its encoded form; it is decoded when it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// Capture time: nanoseconds since the Unix epoch.
    pub unix_ns: u64,
    /// Reason for the capture.
    pub kind: CaptureKind,
    /// The encoded snapshot.
    pub payload: Rc<[u8]>,
}

impl Past {
    /// Returns a record with this stamp and this payload.
    pub(crate) fn of(stamp: Stamp, payload: Vec<u8>) -> Self {
        Self {
            unix_ns: stamp.unix_ns,
            kind: stamp.kind,
            payload: payload.into(),
        }
    }
}

/// Request of the screen to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Start counting at zero.
    Reset,
    /// Undo the last reset.
    Undo,
    /// Publish at another rate.
    Interval {
        /// Nanoseconds between two records.
        ns: u64,
    },
    /// Switch the mode; this closes the reset epoch.
    Mode(Mode),
    /// Stop measuring the sites of a pattern.
    SitesOff(Pattern),
    /// Measure the sites of a pattern again.
    SitesOn(Pattern),
    /// Remove the rule of a pattern.
    ForgetRule(Pattern),
    /// Watch functions: keep their slow calls.
    Watch(Pattern, Over),
    /// Stop watching functions.
    Unwatch(Pattern),
    /// Sample the program counter at this rate per second of CPU time; 0 stops sampling.
    Lines(u32),
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The request that was answered.
    pub request: Request,
    /// First reset epoch that shows the change, or the reason why the program refused.
    pub result: Result<u64, String>,
    /// Message about the programs that received the request; `None` for a single program.
    pub words: Option<String>,
}

impl Outcome {
    /// Returns the answer of one program.
    pub fn new(request: Request, result: Result<u64, String>) -> Self {
        Self {
            request,
            result,
            words: None,
        }
    }
}

/// The processes that are shown together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processes {
    /// Number of processes that run.
    pub running: usize,
    /// Number of processes that have ended since they were shown.
    pub ended: usize,
    /// Number of processes that run and cannot be read.
    pub unread: usize,
}

/// Source of the screen's data.
pub trait Feed {
    /// Returns the changes since the last poll; never blocks.
    fn poll(&mut self) -> Events;

    /// Sends a request to the program; the answer comes as an [`Outcome`].
    ///
    /// # Errors
    /// The request cannot be sent. The error is one line with the reason.
    fn send(&mut self, request: Request) -> Result<(), String>;

    /// Opens a ring file that [`Events::rings`] named.
    ///
    /// # Errors
    /// The file cannot be opened. The error is one line with the reason.
    fn open(&mut self, path: &Path) -> Result<(), String>;

    /// Returns the longest time that may pass before the next poll.
    fn next_look(&self) -> Duration;
}

impl Events {
    /// Returns events that contain only a status.
    pub fn quiet(status: Status) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }
}
