//! Choosing one thread or all threads from a list. The list has the busiest thread first, and keeps its order while it
//! is open. Also the rows of the view Threads, with the state and the current function of each thread.

use std::cmp::Ordering;

use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::spent::key_of;
use tickscope_format::Snapshot;
use tickscope_format::ids::{NodeId, ThreadId};
use tickscope_format::snapshot::{Now, ThreadState, saturating_sum};

use crate::app::past::cpu_history::CpuHistory;
use crate::text::cells::safe;

/// Returns the ticks that a thread has spent in scopes.
pub(crate) fn measured_ticks(snapshot: &Snapshot, thread: ThreadId) -> u64 {
    saturating_sum(snapshot.rows_of(thread).map(|row| snapshot.nodes.self_ticks[row]))
}

/// Returns all threads, sorted by their time in scopes, longest first. Threads with equal times are sorted by name
/// (numbers in names compare by value), and then by id.
pub(crate) fn busiest_first(snapshot: &Snapshot) -> Vec<ThreadId> {
    let mut keyed: Vec<(u64, ThreadId)> = (0..snapshot.threads.len() as u32)
        .map(|index| (measured_ticks(snapshot, ThreadId(index)), ThreadId(index)))
        .collect();
    keyed.sort_by(|a, b| {
        let (one, other) = (
            &snapshot.threads[a.1.0 as usize],
            &snapshot.threads[b.1.0 as usize],
        );
        let by_name = || natural(&one.name, &other.name).then(one.tid.cmp(&other.tid));
        b.0.cmp(&a.0).then_with(by_name)
    });
    keyed.into_iter().map(|(_, thread)| thread).collect()
}

/// Carries an order of threads over from the snapshot `old` to the snapshot `new`. Threads that are only in `new` come
/// last.
pub(crate) fn kept_order(old: &Snapshot, order: &[ThreadId], new: &Snapshot) -> Vec<ThreadId> {
    let mut left = busiest_first(new);
    let mut out = Vec::with_capacity(left.len());
    for thread in order.iter().filter_map(|&at| old.threads.get(at.0 as usize)) {
        let same = |at: &ThreadId| {
            let new = &new.threads[at.0 as usize];
            (new.tid, &new.name) == (thread.tid, &thread.name)
        };
        if let Some(at) = left.iter().position(same) {
            out.push(left.remove(at));
        }
    }
    out.extend(left);
    out
}

/// Compares names in such a way that numbers in them compare by value: `job-2` comes before `job-10`.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut one, mut other) = (a, b);
    loop {
        let (Some(c), Some(d)) = (one.chars().next(), other.chars().next()) else {
            // Up to here the names are equal. If only one of them ends here, it comes first. If both do, leading zeros
            // decide.
            return one.len().cmp(&other.len()).then_with(|| a.cmp(b));
        };
        if c.is_ascii_digit() && d.is_ascii_digit() {
            let (m, after_m) = number(one);
            let (n, after_n) = number(other);
            let order = m.len().cmp(&n.len()).then_with(|| m.cmp(n));
            if order.is_ne() {
                return order;
            }
            (one, other) = (after_m, after_n);
        } else if c == d {
            (one, other) = (&one[c.len_utf8()..], &other[d.len_utf8()..]);
        } else {
            return c.cmp(&d);
        }
    }
}

/// Splits a text after its leading digits. Returns these digits without leading zeros, and the rest of the text.
fn number(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (text[..end].trim_start_matches('0'), &text[end..])
}

/// The chosen threads. A thread is identified by its name and id, so that the choice stays valid in later snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ThreadChoice {
    /// All threads, merged by path.
    #[default]
    All,
    /// One thread.
    One {
        name: String,
        /// Kernel id of the thread.
        tid: u32,
    },
}

impl ThreadChoice {
    /// Finds the chosen thread in a snapshot. If it has ended, returns the row that sums up the ended threads with its
    /// name. After a restart of the program, returns the first thread with its name.
    pub(crate) fn thread(&self, snapshot: &Snapshot) -> Option<ThreadId> {
        let Self::One { name, tid } = self else {
            return None;
        };
        let named = |wanted: Option<u32>| {
            snapshot
                .threads
                .iter()
                .position(|t| t.name == *name && wanted.is_none_or(|tid| t.tid == tid))
        };
        let index = named(Some(*tid))
            .or_else(|| named(Some(0)))
            .or_else(|| named(None))?;
        Some(ThreadId(index as u32))
    }

    /// Returns the name of the chosen thread; `None` if all threads are chosen.
    pub(crate) fn only(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::One { name, .. } => Some(name),
        }
    }
}

/// A thread inside a scope counts as waiting if it used less than this fraction of a CPU in the last interval.
pub(crate) const WAITING_BELOW: f64 = 0.1;

/// State of a thread, in the order in which rows are sorted by state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RunState {
    /// Inside a scope.
    Running,
    /// Inside a scope, and hardly ever on a CPU.
    Waiting,
    /// The thread's clock is stopped.
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
    /// Key of the row, which is the same in all snapshots.
    pub(crate) key: u64,
    pub(crate) run_state: RunState,
    /// Fraction of a CPU in the last interval, if it is known.
    pub(crate) busy: Option<f64>,
    /// Function of the innermost open scope.
    pub(crate) doing: Option<FunctionId>,
    /// Time in scopes.
    pub(crate) measured_ns: u64,
    /// Time outside of scopes.
    pub(crate) outside_ns: u64,
    /// Calls begun.
    pub(crate) calls: u64,
}

/// Returns a row for each thread, in the order of the thread ids. `function_of` returns the function of a node.
pub(crate) fn rows_of(
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

/// Returns the state of a thread. If its CPU time is unknown, the state depends on `now`, the program's latest
/// observation of the thread.
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

    /// Returns the name of the state, and its meaning in two lengths, for wide and for narrow screens. The short
    /// meaning is empty if the name says enough.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_numbers() {
        let mut names = ["job-10", "job-2", "job", "b9x", "job-02", "b10a", "a"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["a", "b9x", "b10a", "job", "job-02", "job-2", "job-10"]);
    }

    #[test]
    fn an_open_list_keeps_its_order_and_who_comes_stands_at_its_end() {
        let old = crate::orderbook::snapshot(1_340);
        let order = [ThreadId(3), ThreadId(0), ThreadId(1)];
        let ids: Vec<u32> = kept_order(&old, &order, &old).iter().map(|id| id.0).collect();
        assert_eq!(ids, [3, 0, 1, 2]);
        let mut new = old.clone();
        new.threads.remove(0);
        let ids: Vec<u32> = kept_order(&old, &order, &new).iter().map(|id| id.0).collect();
        assert_eq!(ids, [2, 0, 1], "main, match-1, and ingest that came");
    }
}
