//! The threads of a snapshot, and their open scopes.

use bincode::{Decode, Encode};

use crate::ids::NodeId;

/// State of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
#[non_exhaustive]
pub enum ThreadState {
    /// The thread is inside at least one scope.
    Running,
    /// The thread is alive and outside any scope.
    #[default]
    Idle,
    /// The thread's clock is paused (see `tickscope::pause`).
    Paused,
    /// The thread has ended. All finished threads with the same name share one entry.
    Finished,
}

impl ThreadState {
    /// Returns the name that is used in JSON and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Idle => "idle",
            Self::Paused => "paused",
            Self::Finished => "finished",
        }
    }

    /// Returns the name that is shown to people. For a running thread this is "in scope", because the state does not
    /// tell whether the thread is computing or waiting.
    pub fn words(self) -> &'static str {
        if self == Self::Running {
            return "in scope";
        }
        self.as_str()
    }
}

/// A thread, or all finished threads with the same name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Thread {
    /// The thread's name; threads without a name are called "thread".
    pub name: String,
    /// The kernel's thread id; 0 for finished threads.
    pub tid: u32,
    /// State of the thread.
    pub state: ThreadState,
    /// Number of threads in this entry: 1 for a live thread.
    pub count: u64,
    /// CPU time since the reset in nanoseconds, or `None` if the system does not provide it.
    pub cpu_ns: Option<u64>,
    /// Ticks outside any scope since the reset. They are not in any row of the tree.
    pub outside_ticks: u64,
    /// Index of the first row of the thread's call tree.
    pub first_row: u32,
    /// Number of rows of the thread's call tree.
    pub rows: u32,
    /// The thread's open scopes, outermost first.
    pub open: Vec<OpenFrame>,
}

/// An open scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct OpenFrame {
    /// Row of the scope.
    pub node: NodeId,
    /// When the scope began, in ticks of the program's clock, moved forward by any pauses since then; 0 if this was not
    /// measured.
    pub began_tick: u64,
}

impl Thread {
    /// Returns a copy of the thread without times, rows and open scopes.
    #[must_use]
    pub fn without_counts(&self) -> Self {
        Self {
            name: self.name.clone(),
            cpu_ns: None,
            outside_ticks: 0,
            first_row: 0,
            rows: 0,
            open: Vec::new(),
            ..*self
        }
    }
}
