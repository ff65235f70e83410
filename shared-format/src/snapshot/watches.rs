//! Watched functions, and the differences between their slow and typical calls.

use bincode::{Decode, Encode};

use super::over::Over;
use crate::ids::{NO_PARENT, SiteId};

/// Maximum number of functions that can be watched at the same time.
pub const WATCHES_MAX: usize = 4;

/// A watched function. Each of its calls that began and ended after [`began_unix_ns`](Self::began_unix_ns) is either
/// typical or slow. A call that is made inside another call of a watched function is part of the outer call.
// An encoded snapshot contains the fields in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Decode)]
pub struct Watch {
    /// Pattern that selects the watched functions, as it was given.
    pub function: String,
    /// Which calls count as slow, as requested.
    pub over: Over,
    /// A number that changes when the watch starts counting from zero, for example after a reset. As long as it stays
    /// the same, paths keep their indices and counts do not decrease.
    pub number: u64,
    /// When the watch started counting, in nanoseconds since the Unix epoch.
    pub began_unix_ns: u64,
    /// Whether slow calls can be told apart from typical ones, and if not, why.
    pub state: WatchState,
    /// Minimum duration of a slow call in ticks; 0 if it is not known yet. It may change over time.
    pub threshold_ticks: u64,
    /// Calls that were not fully recorded.
    pub lost: LostCalls,
    /// Sums for each path, starting with the watched function. Parents come before their children. A path without a
    /// parent stands for the function itself.
    pub paths: Vec<WatchedPath>,
    /// Causes of slow calls. The cause of a slow call is the path, and the [`CauseKind`], that accounts for most of its
    /// extra time compared with a typical call.
    pub causes: Vec<CauseSum>,
    /// The slow calls that are kept in full: the longest ones, and some chosen at random.
    pub exemplars: Vec<Exemplar>,
}

/// Whether a watch can tell slow calls apart from typical ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum WatchState {
    /// No function that matches the pattern has been called.
    #[default]
    NoFunction,
    /// Too few calls have ended to tell which of them are slow. The number is how many have ended so far.
    Learning(u64),
    /// Slow calls are being told apart from typical ones.
    Watching,
    /// As `Watching`, but slow calls are hardly slower than the others: no gap between durations is wide enough to be
    /// the beginning of a tail.
    NoTail,
    /// As `Watching`, but with a higher threshold than requested, because too many calls were slow.
    Raised,
    /// The requested threshold needs histograms, which are off.
    NoHistograms,
    /// The mode does not time individual calls.
    NoTime,
}

/// Calls of a watched function that were not fully recorded. The sums do not include `discarded` and `missed` calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct LostCalls {
    /// Calls whose end was not observed, or during which the mode was switched, the counts were reset, or the clock
    /// jumped.
    pub discarded: u64,
    /// Calls that began while their thread was still busy with the previous watched call, as may happen in a signal
    /// handler. Also async calls whose data could not be kept between two polls, because the space for it is limited.
    pub missed: u64,
    /// Slow calls that are included in the sums, but could not be kept in full because another thread was using their
    /// slot at that moment.
    pub not_kept: u64,
}

/// Sums for a path, over the typical and over the slow calls of the watched function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct WatchedPath {
    /// Index of the path that this one extends, or [`NO_PARENT`] if there is none.
    pub parent: u32,
    /// Site at the end of the path.
    pub site: SiteId,
    /// Sums over typical calls.
    pub typical: PathSums,
    /// Sums over slow calls.
    pub slow: PathSums,
}

/// Sums for a path itself, without the paths that extend it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct PathSums {
    /// Number of calls that began.
    pub calls: u64,
    /// Time in ticks.
    pub ticks: u64,
    /// The part of `ticks` in which the thread waited, or in which an async call was not being polled.
    pub waiting: u64,
    /// The part of `ticks` in which the thread was ready to run but had no CPU.
    pub ready: u64,
    /// Number of allocations, if they are measured.
    pub allocations: u64,
    /// Bytes allocated.
    pub allocated_bytes: u64,
}

/// What most of the extra time of a slow call was spent on, compared with a typical call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum CauseKind {
    /// The path's calls spent more time working.
    #[default]
    SelfTime,
    /// The path was called more often.
    Calls,
    /// The thread spent more time waiting in the path.
    Waiting,
    /// The thread spent more time ready to run but without a CPU, no matter in which path.
    Ready,
}

impl CauseKind {
    /// All kinds, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::SelfTime, Self::Calls, Self::Waiting, Self::Ready];

    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SelfTime => "self",
            Self::Calls => "calls",
            Self::Waiting => "waiting",
            Self::Ready => "ready",
        }
    }
}

/// Slow calls with the same cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct CauseSum {
    /// Index of the path in [`Watch::paths`].
    pub path: u32,
    /// Kind of the cause.
    pub kind: CauseKind,
    /// Number of these slow calls.
    pub calls: u64,
    /// Extra ticks of these slow calls compared with typical calls, in this path and in the paths that extend it.
    /// [`CauseKind::Waiting`] includes only waiting time, [`CauseKind::Ready`] only ready time, and the other kinds
    /// everything but ready time.
    pub excess_ticks: u64,
    /// Number of times that the path was called in these slow calls.
    pub path_calls: u64,
}

/// A slow call that is kept in full.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Exemplar {
    /// Number that identifies this call within the program.
    pub number: u64,
    /// Whether the call is kept as one of the longest. If not, it was chosen at random.
    pub is_longest: bool,
    /// When the call began, in nanoseconds since the Unix epoch.
    pub began_unix_ns: u64,
    /// Duration in ticks, without pauses.
    pub ticks: u64,
    /// Name of the thread that made the call. For an async call, name of the thread on which it ended.
    pub thread: String,
    /// The kernel's id of that thread.
    pub tid: u32,
    /// What made the call slow, as the index of a path and a kind; `None` if no typical call was known at that time.
    pub cause: Option<(u32, CauseKind)>,
    /// Events of the call, or `None` if this snapshot does not include them. Successive snapshots include the events of
    /// different calls, so a reader gets the events of all calls within a few snapshots.
    pub trace: Option<Trace>,
}

/// Events of a call, in order. They divide the call into steps: each step is the time spent in one path until an event
/// ended it. `path`, `ticks` and `then` have one entry for each step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Trace {
    /// Path in which the thread was, as an index into [`Watch::paths`].
    pub path: Vec<u32>,
    /// Duration of the step, in ticks.
    pub ticks: Vec<u64>,
    /// Event that ended the step, as the code of a [`Then`].
    pub then: Vec<u8>,
    /// Steps in which the thread was off the CPU, in ascending order. Each entry has the index of the step, the ticks
    /// spent waiting, and the ticks spent ready but without a CPU.
    pub off_cpu: Vec<(u32, u64, u64)>,
    /// Keys of notes.
    pub keys: Vec<String>,
    /// Values that the program noted, in ascending order of their steps.
    pub notes: Vec<Note>,
    /// Where steps were left out because there were too many.
    pub gap: Option<TraceGap>,
}

/// Event that ends a step of a [`Trace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The call of the path ended.
    Exit,
    /// Another call began, on the path of the next step.
    Enter,
    /// A call that had begun earlier was resumed, for example because its future is polled again.
    GoOn,
    /// No call began or ended: the thread stayed in its path.
    Stay,
}

/// A value that the program noted during a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Note {
    /// Index of the step before which the value was noted.
    pub step: u32,
    /// Index of the key in [`Trace::keys`].
    pub key: u32,
    /// Value as text.
    pub value: String,
}

/// Steps that were left out of a [`Trace`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct TraceGap {
    /// Index of the step before which steps are missing.
    pub step: u32,
    /// Number of missing steps.
    pub steps: u64,
    /// Total time of the missing steps, in ticks.
    pub ticks: u64,
}

impl Then {
    /// All events, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::Exit, Self::Enter, Self::GoOn, Self::Stay];

    /// Returns the event with this code, or `None` if there is no such event.
    pub fn of(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

impl Watch {
    /// Returns the number of typical calls and the number of slow calls.
    pub fn calls(&self) -> (u64, u64) {
        let roots = || self.paths.iter().filter(|path| path.parent == NO_PARENT);
        let sum = |calls: fn(&WatchedPath) -> u64| roots().map(calls).fold(0, u64::saturating_add);
        (sum(|path| path.typical.calls), sum(|path| path.slow.calls))
    }
}

impl Trace {
    /// Returns the number of steps.
    pub fn len(&self) -> usize {
        self.path.len()
    }

    /// Returns whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.path.is_empty()
    }

    /// Adds a step.
    pub fn push(&mut self, path: u32, ticks: u64, then: Then) {
        self.path.push(path);
        self.ticks.push(ticks);
        self.then.push(then as u8);
    }

    /// Returns the steps. Each has its path, its ticks, and the event that ended it.
    pub fn steps(&self) -> impl Iterator<Item = (u32, u64, Then)> {
        let then = self.then.iter().map(|&code| Then::of(code).unwrap_or(Then::Stay));
        let steps = self.path.iter().zip(&self.ticks).zip(then);
        steps.map(|((&path, &ticks), then)| (path, ticks, then))
    }
}
