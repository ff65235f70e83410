//! What the screen hears of the program, and what it may ask of it. No I/O here: a [`Feed`] does that.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use tickscope_format::Snapshot;
use tickscope_format::addresses::Addresses;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{CaptureKind, Mode, Over};

use crate::source::known_functions::KnownFunctions;
use crate::source::status::Status;

/// The program on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The name it gave itself.
    pub name: String,
    /// Its process id.
    pub pid: u32,
    /// The file it is read from.
    pub path: PathBuf,
}

impl Target {
    /// Whether it comes through a pipe: its process id and its files are not of this system.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.path == Path::new(PIPE)
    }

    /// Whether it is several processes, so that it has no one file and no process id.
    pub(crate) fn is_together(&self) -> bool {
        self.path == Path::new(TOGETHER)
    }
}

/// What stands for the file of a program that comes through a pipe.
pub(crate) const PIPE: &str = "-";

/// What stands for the files of processes that are shown together.
pub(crate) const TOGETHER: &str = "--all";

/// A ring file that could be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingLine {
    /// The file.
    pub path: PathBuf,
    /// The name its program gave itself.
    pub name: String,
    /// Its process id.
    pub pid: u32,
    /// How it is doing: "running", "exited".
    pub state: String,
    /// When that began, as a clock time or in words that do not change by themselves.
    pub since: String,
    /// Whether the program runs.
    pub live: bool,
    /// The library whose collector it is of; nothing if it is the executable's.
    pub library: String,
}

/// What has changed since the last look.
#[derive(Clone, Debug)]
pub struct Events {
    /// How the program is doing now.
    pub status: Status,
    /// Which program it is, once one is open.
    pub target: Option<Target>,
    /// The newest whole record, only if it was not handed over before.
    pub snapshot: Option<Rc<Snapshot>>,
    /// Records for the history. In any order between two looks, so insert each by its time and drop what is there
    /// already (two of one time are the same record): when a program is opened, what its file holds from before, in
    /// slices that reach further back with each look (each oldest first), until all is handed over; and with each
    /// `snapshot` its own record, and those before it that came since the last look.
    pub past: Vec<Past>,
    /// When the recording begins that the program is read from: nanoseconds since the Unix epoch.
    pub begin_ns: Option<u64>,
    /// The ring files there are, only if they changed; asked for as long as no program is open.
    pub rings: Option<Vec<RingLine>>,
    /// How often the program was faster than its newest record could be read, so that it was read again.
    pub lapped: u64,
    /// Requests that were answered.
    pub outcomes: Vec<Outcome>,
    /// All functions of the program, once they are known: also those that were never called, of which snapshots say nothing.
    pub functions: Option<Rc<KnownFunctions>>,
    /// Code that the recording has named, which is not looked for in files.
    pub addresses: Addresses,
    /// The program was started again: old and new process id.
    pub new_run: Option<(u32, u32)>,
    /// What has become of the way to the program, in a line.
    pub notice: Option<String>,
    /// The processes, where several are shown together.
    pub processes: Option<Processes>,
}

/// A record as it stands in the file; it is decoded when it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// The wall clock at its capture: nanoseconds since the Unix epoch.
    pub unix_ns: u64,
    /// Why it was captured.
    pub kind: CaptureKind,
    /// A snapshot, encoded.
    pub payload: Rc<[u8]>,
}

/// What the screen may ask the program for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Start counting at zero.
    Reset,
    /// Take the last reset back.
    Undo,
    /// Publish at another rate.
    Interval {
        /// Nanoseconds between two records.
        ns: u64,
    },
    /// Measure in another way; closes the reset epoch.
    Mode(Mode),
    /// Measure the sites of a pattern no more.
    SitesOff(Pattern),
    /// Measure the sites of a pattern again.
    SitesOn(Pattern),
    /// Take the rule of a pattern back.
    ForgetRule(Pattern),
    /// Tell slow calls of functions from typical ones.
    Watch(Pattern, Over),
    /// Watch functions no longer.
    Unwatch(Pattern),
    /// Sample the program counter so many times a second of CPU time; at 0 no longer.
    Lines(u32),
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was asked for.
    pub request: Request,
    /// The reset epoch from which on it shows, or why not.
    pub result: Result<u64, String>,
    /// To whom it went, where several programs were asked.
    pub words: Option<String>,
}

impl Outcome {
    /// The answer of one program.
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
    /// Those that run.
    pub running: usize,
    /// Those that have ended since they were shown.
    pub ended: usize,
    /// Those of them that run and cannot be read.
    pub unread: usize,
}

/// Where data comes from.
pub trait Feed {
    /// Looks once; never blocks.
    fn poll(&mut self) -> Events;

    /// Asks the program; the answer comes as an [`Outcome`].
    ///
    /// # Errors
    /// Where it cannot even be asked: one line with the reason.
    fn send(&mut self, request: Request) -> Result<(), String>;

    /// Opens a ring file that [`Events::rings`] named.
    ///
    /// # Errors
    /// Where it cannot be opened: one line with the reason.
    fn open(&mut self, path: &Path) -> Result<(), String>;

    /// The longest time until the next look.
    fn next_look(&self) -> Duration;
}

impl Events {
    /// Nothing but a status.
    pub fn quiet(status: Status) -> Self {
        Self {
            status,
            target: None,
            snapshot: None,
            past: Vec::new(),
            begin_ns: None,
            rings: None,
            lapped: 0,
            outcomes: Vec::new(),
            functions: None,
            addresses: Addresses::default(),
            new_run: None,
            notice: None,
            processes: None,
        }
    }
}
