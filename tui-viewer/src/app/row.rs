//! A line of a list: what it is, and how it hangs in the tree.

use tickscope_analysis::call_tree::PathId;

use crate::app::figures::What;

/// What a row is, whatever the snapshot: selection and folds are kept by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RowId {
    /// A path of functions.
    Path(PathId),
    /// A function, by its key.
    Function(u64),
    /// A line of a function's callers and callees.
    Call(CallId),
    /// A thread, by name and id.
    Thread(u64),
    /// A place in the source.
    Site(u64),
    /// A path of futures that await each other.
    Task(PathId),
    /// A path of a watched function, by a hash of its names.
    Slow(u64),
    /// Time outside any scope.
    Outside,
}

/// What is below a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    /// Nothing.
    Leaf,
    /// Its children follow.
    Open,
    /// So many rows that are not in the list.
    Closed(u32),
}

/// A line of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// What it is.
    pub(crate) id: RowId,
    /// Where its figures stand in the data of now.
    pub(crate) what: What,
    /// 0 at the top.
    pub(crate) depth: u32,
    /// The line of its parent in the same list.
    pub(crate) parent: Option<u32>,
    /// No sibling follows.
    pub(crate) last: bool,
    /// What is below.
    pub(crate) fold: Fold,
    /// The search found it.
    pub(crate) hit: bool,
}

/// A line of the view, whatever the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CallId {
    /// The heading of those that call it.
    CalledFrom,
    /// One of them, by its key; none where the calls stand at the top of a thread.
    Caller(Option<u64>),
    /// The heading of where its time goes.
    TimeGoesTo,
    /// The function itself.
    Own,
    /// One of those that it calls, by its key.
    Callee(u64),
}

impl RowId {
    /// By what it is known whether the row is open; none where nothing is ever below such rows.
    pub(crate) fn as_fold(self) -> Option<PathId> {
        match self {
            Self::Path(path) => Some(path),
            // The keys of modules are hashes, as those of paths are.
            Self::Site(key) => Some(PathId(key)),
            Self::Function(_)
            | Self::Call(_)
            | Self::Thread(_)
            | Self::Task(_)
            | Self::Slow(_)
            | Self::Outside => None,
        }
    }

    /// By which key a line of the time line is known; none for rows that are none.
    pub(crate) fn as_lane(self) -> Option<u64> {
        match self {
            Self::Thread(key) | Self::Function(key) => Some(key),
            Self::Path(_) | Self::Call(_) | Self::Site(_) | Self::Task(_) | Self::Slow(_) | Self::Outside => {
                None
            }
        }
    }
}

impl Row {
    /// A heading between rows, which cannot be selected.
    pub(crate) fn is_heading(&self) -> bool {
        matches!(self.id, RowId::Call(CallId::CalledFrom | CallId::TimeGoesTo))
    }
}

/// The line to select in place of one that may be a heading: the next one on the way, else the one before.
pub(crate) fn past_headings(rows: &[Row], index: usize, down: bool) -> usize {
    let free = |&at: &usize| rows.get(at).is_some_and(|row| !row.is_heading());
    let below = || (index..rows.len()).find(free);
    let above = || (0..index.min(rows.len())).rev().find(free);
    let found = if down || free(&index) {
        below().or_else(above)
    } else {
        above().or_else(below)
    };
    found.unwrap_or(index)
}
