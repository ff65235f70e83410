//! Events that the screen receives from a program, and requests that it sends to the program. Only a [`Feed`] does I/O.

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
    /// File from which the program's records are read.
    pub path: PathBuf,
}

impl Target {
    /// Whether the program's records come through a pipe. Its process id and files may then belong to another machine.
    pub fn is_elsewhere(&self) -> bool {
        self.path == Path::new(PIPE)
    }

    /// Whether the target stands for several processes, which have neither a file nor a process id in common.
    pub fn is_together(&self) -> bool {
        self.path == Path::new(TOGETHER)
    }
}

/// Path of a target whose records come through a pipe.
pub const PIPE: &str = "-";

/// Path of a target that stands for several processes shown together.
pub(crate) const TOGETHER: &str = "--all";

/// Entry in a list of ring files. Files that could not be opened are not listed.
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
    /// When this state began, as text that stays correct as time passes, such as a clock time.
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
    /// The newest complete record, unless an earlier poll has already returned it.
    pub snapshot: Option<Rc<Snapshot>>,
    /// Records to insert into the history by their capture times, in any order. If the history already has a record
    /// with the same time, drop the new one.
    ///
    /// After a file is opened, each poll returns some of its earlier records, oldest first, and the next poll continues
    /// with older ones. From a ring or a pipe, a new `snapshot` comes with its own record and the records since the
    /// previous poll (from a ring, only the newest few of them).
    pub past: Vec<Past>,
    /// If the program is read from a recording, the start of the recording: nanoseconds since the Unix epoch.
    pub begin_ns: Option<u64>,
    /// Ring files in the searched directories while no program is open; `None` if the list has not changed.
    pub rings: Option<Vec<RingLine>>,
    /// Number of reads so far that had to be repeated because the program overwrote the record while it was being read.
    pub lapped: u64,
    /// Answers to requests since the last poll.
    pub outcomes: Vec<Outcome>,
    /// All functions of the program, once known. Snapshots leave out the functions that were never called.
    pub functions: Option<Rc<KnownFunctions>>,
    /// Names of code addresses that the recording contains, so that they need not be looked up in files.
    pub addresses: Addresses,
    /// Old and new process id, if the program was restarted or has replaced its ring.
    pub new_run: Option<(u32, u32)>,
    /// Message about the connection to the program: one line.
    pub notice: Option<String>,
    /// Numbers of running and ended processes, if several processes are shown together.
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
    /// Returns a record with the time and kind of `stamp`.
    pub(crate) fn of(stamp: Stamp, payload: Vec<u8>) -> Self {
        Self {
            unix_ns: stamp.unix_ns,
            kind: stamp.kind,
            payload: payload.into(),
        }
    }
}

/// A request from the screen to the program.
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
    /// Stop measuring the sites that match a pattern.
    SitesOff(Pattern),
    /// Start measuring the sites that match a pattern again.
    SitesOn(Pattern),
    /// Remove the rule for a pattern.
    ForgetRule(Pattern),
    /// Watch the functions that match a pattern, and keep their slow calls.
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
    /// The first reset epoch whose counts reflect the request, or the reason why the program refused it.
    pub result: Result<u64, String>,
    /// Message about the programs that received the request; `None` for a single program.
    pub words: Option<String>,
}

impl Outcome {
    /// Returns the outcome of a request to a single program.
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
    /// Number of running processes.
    pub running: usize,
    /// Number of shown processes that have ended.
    pub ended: usize,
    /// Number of running processes that cannot be read.
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

    /// Opens a ring file that was listed in [`Events::rings`].
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
