//! Watched functions, and the differences between their slow and typical calls.

use bincode::{Decode, Encode};

use super::over::Over;
use crate::ids::{NO_PARENT, SiteId};

/// Largest number of functions that are watched at the same time.
pub const WATCHES_MAX: usize = 4;

/// A watched function. Each of its calls that began and ended since [`began_unix_ns`](Self::began_unix_ns) is typical
/// or slow. A call inside another call of a watched function is a part of the outer call.
// The section of watches has the fields in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Decode)]
pub struct Watch {
    /// Pattern of the watched functions, as given.
    pub function: String,
    /// Requested condition for slow calls.
    pub over: Over,
    /// Number that changes when the watch begins to count anew, for example after a reset. While the number stays the same, paths
    /// keep their indices and counts do not fall.
    pub number: u64,
    /// Time when the watch began to count, in nanoseconds since the Unix epoch.
    pub began_unix_ns: u64,
    /// Whether slow calls can be distinguished, and the reason if not.
    pub state: WatchState,
    /// Duration in ticks from which a call is slow; 0 if it is not known yet. It may change.
    pub threshold_ticks: u64,
    /// Calls that were not recorded in full.
    pub lost: LostCalls,
    /// Sums by path, from the watched function on. Parents come before their children. Paths without a parent belong to
    /// the function itself.
    pub paths: Vec<WatchedPath>,
    /// Causes of slow calls: for each slow call, the path and kind that took most of its extra time over a typical call.
    pub causes: Vec<CauseSum>,
    /// The slow calls that are kept whole: the longest ones, and some at random.
    pub exemplars: Vec<Exemplar>,
}

/// Whether a watch can distinguish slow calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum WatchState {
    /// No called function matches the pattern.
    #[default]
    NoFunction,
    /// Too few calls have ended to decide which are slow; the number is the calls so far.
    Learning(u64),
    /// Slow calls are distinguished.
    Watching,
    /// Slow calls are distinguished, but are hardly slower than the others: no gap is wide enough to begin a tail.
    NoTail,
    /// Slow calls are distinguished by a higher threshold than requested, because too many were slow.
    Raised,
    /// A threshold by share needs histograms, which are off.
    NoHistograms,
    /// The mode does not time single calls.
    NoTime,
}

/// Calls of a watched function that are not recorded in full. `discarded` and `missed` calls are in no sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct LostCalls {
    /// Calls whose end was not seen, or during which the mode was switched, counts were reset, or the clock broke.
    pub discarded: u64,
    /// Calls that began while their thread was still busy with the previous one, as in a signal handler. Also async calls whose
    /// data could not be kept between two polls, because the space for it is limited.
    pub missed: u64,
    /// Slow calls that are in the sums but could not be kept whole, because another thread used their slot at that moment.
    pub not_kept: u64,
}

/// Sums of a path in typical and in slow calls of the watched function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct WatchedPath {
    /// Index of the path that this one continues, or [`NO_PARENT`].
    pub parent: u32,
    /// Site at the end of the path.
    pub site: SiteId,
    /// Sums of typical calls.
    pub typical: PathSums,
    /// Sums of slow calls.
    pub slow: PathSums,
}

/// Sums of a path itself, without the paths that continue it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct PathSums {
    /// Number of calls that began.
    pub calls: u64,
    /// Time in ticks.
    pub ticks: u64,
    /// Part of the ticks in which the thread waited, or in which an async call was not polled.
    pub waiting: u64,
    /// Part of the ticks in which the thread could run and had no CPU.
    pub ready: u64,
    /// Number of allocations, if they are measured.
    pub allocations: u64,
    /// Bytes allocated.
    pub allocated_bytes: u64,
}

/// What took most of the extra time of a slow call, compared with a typical call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum CauseKind {
    /// A call of the path worked longer.
    #[default]
    SelfTime,
    /// The path was called more often.
    Calls,
    /// The thread waited longer in the path.
    Waiting,
    /// The thread had no CPU for longer, in any path.
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

/// Slow calls that had the same cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct CauseSum {
    /// Index of the path in [`Watch::paths`].
    pub path: u32,
    /// Kind of the cause.
    pub kind: CauseKind,
    /// Number of slow calls.
    pub calls: u64,
    /// Extra ticks of this kind in this path, compared with a typical call, summed over these slow calls.
    pub excess_ticks: u64,
    /// Number of calls of the path in all these slow calls.
    pub path_calls: u64,
}

/// A slow call that is kept whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Exemplar {
    /// Number that is unique in this program.
    pub number: u64,
    /// Whether the call is one of the longest; otherwise it was chosen at random.
    pub is_longest: bool,
    /// Time when the call began, in nanoseconds since the Unix epoch.
    pub began_unix_ns: u64,
    /// Duration without pauses, in ticks.
    pub ticks: u64,
    /// Name of the call's thread; for an async call, of the thread on which it ended.
    pub thread: String,
    /// The kernel's id of that thread.
    pub tid: u32,
    /// Cause of the slow call, as the index of a path and a kind; `None` if no typical call was known yet.
    pub cause: Option<(u32, CauseKind)>,
    /// Events of the call; `None` if this snapshot leaves them out. Consecutive snapshots contain the events of
    /// different calls, so that a reader gets all within a few snapshots.
    pub trace: Option<Trace>,
}

/// Events of a call, in order. A step is the time in one path, and the event that ended it. `path`, `ticks` and `then`
/// have one entry for each step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Trace {
    /// Index of the thread's path in [`Watch::paths`].
    pub path: Vec<u32>,
    /// Ticks in the path.
    pub ticks: Vec<u64>,
    /// Event that ended the step: the code of a [`Then`].
    pub then: Vec<u8>,
    /// Steps in which the thread was off its CPU, in rising order: index, ticks of waiting, and ticks of being ready.
    pub off_cpu: Vec<(u32, u64, u64)>,
    /// Keys of notes.
    pub keys: Vec<String>,
    /// Notes of the program, in rising order of their steps.
    pub notes: Vec<Note>,
    /// Place where steps were left out because there were too many.
    pub gap: Option<TraceGap>,
}

/// Event that ends a step of a [`Trace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The call of the path ended.
    Exit,
    /// A call began, whose path is the path of the next step.
    Enter,
    /// An earlier call continued, such as a future that is polled again.
    GoOn,
    /// The thread stayed in its path.
    Stay,
}

/// A value that the program noted in a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Note {
    /// Index of the step before which the program noted the value.
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
    /// Time of the missing steps, in ticks.
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
    /// Returns the numbers of typical and slow calls.
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

    /// Returns whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.path.is_empty()
    }

    /// Adds a step.
    pub fn push(&mut self, path: u32, ticks: u64, then: Then) {
        self.path.push(path);
        self.ticks.push(ticks);
        self.then.push(then as u8);
    }

    /// Returns the steps: path, ticks, and the event that ended them.
    pub fn steps(&self) -> impl Iterator<Item = (u32, u64, Then)> {
        let then = self.then.iter().map(|&code| Then::of(code).unwrap_or(Then::Stay));
        let steps = self.path.iter().zip(&self.ticks).zip(then);
        steps.map(|((&path, &ticks), then)| (path, ticks, then))
    }
}
