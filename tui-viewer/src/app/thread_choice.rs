//! The choice of threads whose time is shown: all threads, or one thread.

use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;

/// The threads in scope. A thread is known by name and id, so that the choice outlives the snapshot.
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
    /// Returns the chosen thread in a snapshot. An ended thread is found in the row of ended threads of its name. After a restart
    /// the first thread of that name stands for it.
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

    /// Returns the name of the only thread in scope.
    pub(crate) fn only(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::One { name, .. } => Some(name),
        }
    }
}
