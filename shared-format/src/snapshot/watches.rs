//! Watched functions: what their slow calls do that typical ones do not.

use bincode::{Decode, Encode};

use super::over::Over;
use crate::ids::{NO_PARENT, SiteId};

/// The largest number of functions that are watched at once.
pub const WATCHES_MAX: usize = 4;

/// A watched function. Each of its calls that began and ended since [`began_unix_ns`](Self::began_unix_ns) is typical or
/// slow. A call in another call of a watched function is a part of the outer one.
// The section of watches has the fields in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Decode)]
pub struct Watch {
    /// The pattern that names it, as it was given.
    pub function: String,
    /// Which calls are slow, as it was asked for.
    pub over: Over,
    /// A number that changes when the watch begins to count anew, as after a reset. While it stays, no path changes its
    /// place, and no count falls.
    pub number: u64,
    /// When it began to count, in nanoseconds since the Unix epoch.
    pub began_unix_ns: u64,
    /// Whether it can tell slow calls, and if not, why.
    pub state: WatchState,
    /// The duration from which on a call is slow, in ticks; 0 if it is not known yet. It may move.
    pub threshold_ticks: u64,
    /// Calls that are in no sum.
    pub lost: LostCalls,
    /// What was counted by path, from the watched function on. Parents stand before their children, and paths without a
    /// parent are those of the function.
    pub paths: Vec<WatchedPath>,
    /// What the time of slow calls went to: of each slow call, the one path and kind that most of its time above the
    /// typical went to.
    pub causes: Vec<CauseSum>,
    /// The slow calls that are kept whole: the longest ones, and some at random.
    pub exemplars: Vec<Exemplar>,
}

/// Whether a watch can tell slow calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum WatchState {
    /// No function that has been called matches.
    #[default]
    NoFunction,
    /// Too few calls have ended to tell which are slow; so many have.
    Learning(u64),
    /// Slow calls are told.
    Watching,
    /// Slow calls are told, but the slowest are hardly slower than the others: no gap is wide enough to be the beginning of a
    /// tail.
    NoTail,
    /// Slow calls are told, from a higher threshold on than was asked for, because too many were slow.
    Raised,
    /// A threshold by share needs histograms, and they are off.
    NoHistograms,
    /// The mode measures no time of single calls.
    NoTime,
}

/// Calls of a watched function that are in no sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct LostCalls {
    /// Their end was not seen, or the mode was switched, counts were reset, or the clock broke inside.
    pub discarded: u64,
    /// They began while their thread was still busy with the one before, as in a signal handler; or they are of an async
    /// function, and there was no place for what they had done between two polls.
    pub missed: u64,
    /// Slow calls that are counted and could not be kept whole, because another thread was at the same place.
    pub not_kept: u64,
}

/// What was counted of a path in typical and in slow calls of the watched function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct WatchedPath {
    /// The path that it continues, or [`NO_PARENT`].
    pub parent: u32,
    /// The site that it ends in.
    pub site: SiteId,
    /// In typical calls.
    pub typical: PathSums,
    /// In slow calls.
    pub slow: PathSums,
}

/// What was counted of a path itself, without the paths that continue it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct PathSums {
    /// Calls that began.
    pub calls: u64,
    /// Ticks.
    pub ticks: u64,
    /// Those of them in which the thread waited, or in which an async call was not polled.
    pub waiting: u64,
    /// Those of them in which the thread could run and had no CPU.
    pub ready: u64,
    /// Allocations, where they are measured.
    pub allocations: u64,
    /// Bytes allocated.
    pub allocated_bytes: u64,
}

/// What most of a slow call's time above the typical went to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum CauseKind {
    /// A call of the path took longer, working.
    #[default]
    SelfTime,
    /// The path was called more often.
    Calls,
    /// The thread waited longer in the path.
    Waiting,
    /// The thread had no CPU for longer, wherever it was.
    Ready,
}

impl CauseKind {
    /// All kinds, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::SelfTime, Self::Calls, Self::Waiting, Self::Ready];

    /// The name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SelfTime => "self",
            Self::Calls => "calls",
            Self::Waiting => "waiting",
            Self::Ready => "ready",
        }
    }
}

/// Slow calls that had the same cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct CauseSum {
    /// The path, among [`Watch::paths`].
    pub path: u32,
    /// What it was there.
    pub kind: CauseKind,
    /// How many slow calls.
    pub calls: u64,
    /// How much longer than the typical they were in that path and of that kind, together, in ticks.
    pub excess_ticks: u64,
    /// How often they called the path, together.
    pub path_calls: u64,
}

/// A slow call that is kept whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Exemplar {
    /// A number that no other one has in this program.
    pub number: u64,
    /// Whether it is one of the longest; otherwise it was chosen at random.
    pub is_longest: bool,
    /// When it began, in nanoseconds since the Unix epoch.
    pub began_unix_ns: u64,
    /// How long it took, without pauses, in ticks.
    pub ticks: u64,
    /// The name of its thread; of an async call, of the thread on which it ended.
    pub thread: String,
    /// The kernel's id of its thread.
    pub tid: u32,
    /// Its cause, as the number of a path and a kind; `None` if nothing typical was known yet.
    pub cause: Option<(u32, CauseKind)>,
    /// What happened in it; `None` if this snapshot leaves it out. Snapshots take turns, so that a reader has it within a few of
    /// them.
    pub trace: Option<Trace>,
}

/// What happened in a call, in order. The three columns have the same length: a step is time in a path, and what ended it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Trace {
    /// The path that the thread was in, among [`Watch::paths`].
    pub path: Vec<u32>,
    /// The ticks there.
    pub ticks: Vec<u64>,
    /// What ended that time: the code of a [`Then`].
    pub then: Vec<u8>,
    /// The steps in which the thread was off its CPU, in rising order: number, ticks that it waited, and ticks in which it was
    /// ready.
    pub off_cpu: Vec<(u32, u64, u64)>,
    /// The keys of notes.
    pub keys: Vec<String>,
    /// What the program noted, in rising order.
    pub notes: Vec<Note>,
    /// Where steps were left out, because there were too many.
    pub gap: Option<TraceGap>,
}

/// What ends a step of a [`Trace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The path's call ended.
    Exit,
    /// A call began: the next step's path.
    Enter,
    /// A call that had begun earlier went on, as that of a future that is polled again.
    GoOn,
    /// The thread stayed where it was.
    Stay,
}

/// A value that the program noted in a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Note {
    /// The number of the step in front of which it was noted.
    pub step: u32,
    /// Its key, among [`Trace::keys`].
    pub key: u32,
    /// Its value as text.
    pub value: String,
}

/// Steps that were left out of a [`Trace`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct TraceGap {
    /// The number of the step in front of which they are missing.
    pub step: u32,
    /// How many.
    pub steps: u64,
    /// Their time, in ticks.
    pub ticks: u64,
}

impl Then {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::Exit, Self::Enter, Self::GoOn, Self::Stay];

    /// Returns what a code stands for.
    pub fn of(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

impl Watch {
    /// Returns how many typical and how many slow calls have been counted.
    pub fn calls(&self) -> (u64, u64) {
        let roots = || self.paths.iter().filter(|path| path.parent == NO_PARENT);
        let sum = |calls: fn(&WatchedPath) -> u64| roots().map(calls).fold(0, u64::saturating_add);
        (sum(|path| path.typical.calls), sum(|path| path.slow.calls))
    }
}

impl Trace {
    /// Returns how many steps there are.
    pub fn len(&self) -> usize {
        self.path.len()
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.path.is_empty()
    }

    /// Adds a step.
    pub fn push(&mut self, path: u32, ticks: u64, then: Then) {
        self.path.push(path);
        self.ticks.push(ticks);
        self.then.push(then as u8);
    }

    /// Returns the steps: path, ticks, and what ended them.
    pub fn steps(&self) -> impl Iterator<Item = (u32, u64, Then)> {
        let then = self.then.iter().map(|&code| Then::of(code).unwrap_or(Then::Stay));
        self.path
            .iter()
            .zip(&self.ticks)
            .zip(then)
            .map(|((&path, &ticks), then)| (path, ticks, then))
    }
}
