//! The rows of the view Threads, with state and current function.

use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::spent::key_of;
use tickscope_format::Snapshot;
use tickscope_format::ids::{NodeId, ThreadId};
use tickscope_format::snapshot::{Now, ThreadState, saturating_sum};

use crate::app::past::cpu_history::CpuHistory;
use crate::text::cells::safe;

/// Share of a CPU in the last interval below which a thread inside a scope counts as waiting.
pub(crate) const WAITING_BELOW: f64 = 0.1;

/// State of a thread, in the order in which people look for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RunState {
    /// Inside a scope.
    Running,
    /// Inside a scope, and hardly ever on a CPU.
    Waiting,
    /// The clock of the thread stands still.
    Paused,
    /// Outside any scope.
    Idle,
    /// Ended.
    Finished,
}

/// A thread, or all finished threads of one name.
#[derive(Debug)]
pub(crate) struct ThreadRow {
    /// Name of the thread, printable.
    pub(crate) name: String,
    /// Key of the row, the same in all snapshots.
    pub(crate) key: u64,
    pub(crate) run_state: RunState,
    /// Share of a CPU in the last interval, if it is known.
    pub(crate) busy: Option<f64>,
    /// The innermost function that is open.
    pub(crate) doing: Option<FunctionId>,
    /// Time in scopes.
    pub(crate) measured_ns: u64,
    /// Time outside of scopes.
    pub(crate) outside_ns: u64,
    /// Calls that began.
    pub(crate) calls: u64,
}

/// Returns the rows of all threads, by thread id; `function_of` names the function of a node.
pub(crate) fn of(
    snapshot: &Snapshot,
    cpu_history: &CpuHistory,
    function_of: impl Fn(NodeId) -> Option<FunctionId>,
    ascii: bool,
) -> Vec<ThreadRow> {
    let row = |id: ThreadId| {
        let thread = &snapshot.threads[id.index()];
        let key = key_of(thread);
        let busy = cpu_history.busy(key);
        let innermost = thread.open.last();
        let rows = snapshot.rows_of(id);
        ThreadRow {
            name: safe(&thread.name, ascii).into_owned(),
            key,
            run_state: run_state(thread.state, busy, snapshot.waits_in.now_of(id.0)),
            busy,
            doing: innermost.and_then(|frame| function_of(frame.node)),
            measured_ns: saturating_sum(rows.map(|row| snapshot.value(snapshot.nodes.self_ticks[row]))),
            outside_ns: snapshot.value(thread.outside_ticks),
            calls: snapshot.scope_calls_of(id),
        }
    };
    (0..snapshot.threads.len() as u32)
        .map(|index| row(ThreadId(index)))
        .collect()
}

/// Returns the state of a thread. If its CPU time is unknown, the program's newest observation of the thread decides.
pub(crate) fn run_state(state: ThreadState, busy: Option<f64>, now: Option<Now<'_>>) -> RunState {
    match state {
        ThreadState::Running if busy.is_none() && matches!(now, Some(Now::In(_))) => RunState::Waiting,
        ThreadState::Running if busy.is_some_and(|busy| busy < WAITING_BELOW) => RunState::Waiting,
        ThreadState::Running => RunState::Running,
        ThreadState::Paused => RunState::Paused,
        ThreadState::Finished => RunState::Finished,
        ThreadState::Idle | _ => RunState::Idle,
    }
}

impl RunState {
    /// All states.
    pub(crate) const ALL: [Self; 5] = [
        Self::Running,
        Self::Waiting,
        Self::Idle,
        Self::Paused,
        Self::Finished,
    ];

    /// Returns the state in a word, and its meaning for a wide and for a narrow screen; empty if the word is enough.
    pub(crate) fn words(self) -> [&'static str; 3] {
        match self {
            Self::Running => ["running", "in a scope", "in a scope"],
            Self::Waiting => ["waiting", "in a scope, off CPU", "off CPU"],
            Self::Idle => ["idle", "in no scope", "outside"],
            Self::Paused => ["paused", "clock is stopped", "clock off"],
            Self::Finished => ["finished", "ended", ""],
        }
    }

    pub(crate) fn word(self) -> &'static str {
        let [word, ..] = self.words();
        word
    }
}
