//! The rows of the view Threads: who is busy, and with what.

use tickscope_analysis::functions::FunctionId;
use tickscope_format::Snapshot;
use tickscope_format::ids::{NodeId, ThreadId};
use tickscope_format::snapshot::{Now, ThreadState, saturating_sum};

use crate::app::cpu_history::{CpuHistory, key_of};
use crate::text::cells::safe;

/// A thread inside a scope that was on a CPU for less than this share of the last interval waits for something.
pub(crate) const WAITING_BELOW: f64 = 0.1;

/// What a thread does, in the order in which people look for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RunState {
    /// Inside a scope.
    Running,
    /// Inside a scope, and hardly ever on a CPU.
    Waiting,
    /// Its clock stands still.
    Paused,
    /// Outside any scope.
    Idle,
    /// Ended.
    Finished,
}

/// A thread, or all finished threads of one name.
#[derive(Debug)]
pub(crate) struct ThreadRow {
    /// Its name, printable.
    pub(crate) name: String,
    /// What it is, whatever the snapshot.
    pub(crate) key: u64,
    /// What it does.
    pub(crate) run_state: RunState,
    /// Its share of a CPU in the last interval, where it is known.
    pub(crate) busy: Option<f64>,
    /// The innermost function that is open.
    pub(crate) doing: Option<FunctionId>,
    /// Time in its scopes.
    pub(crate) measured_ns: u64,
    /// Time outside of them.
    pub(crate) outside_ns: u64,
    /// Calls begun.
    pub(crate) calls: u64,
}

/// The rows of all threads, by thread id; `function_of` names the function of a node.
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

/// What a thread does. The program's newest look at it says so where its CPU time does not.
pub(super) fn run_state(state: ThreadState, busy: Option<f64>, now: Option<Now<'_>>) -> RunState {
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
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [
        Self::Running,
        Self::Waiting,
        Self::Idle,
        Self::Paused,
        Self::Finished,
    ];

    /// What the word means.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Running => "in a scope",
            Self::Waiting => "in a scope, off CPU",
            Self::Idle => "in no scope",
            Self::Paused => "clock stands still",
            Self::Finished => "ended",
        }
    }

    /// The same where there is little room; nothing where the word says it.
    pub(crate) fn meaning_in_short(self) -> &'static str {
        match self {
            Self::Running => "in a scope",
            Self::Waiting => "off CPU",
            Self::Idle => "in none",
            Self::Paused => "clock off",
            Self::Finished => "",
        }
    }

    /// In a word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Paused => "paused",
            Self::Idle => "idle",
            Self::Finished => "finished",
        }
    }
}
