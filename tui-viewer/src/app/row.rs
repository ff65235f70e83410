//! A row of the current data and its id, the meaning of 100 % for shares, and a line of a list.

use tickscope_analysis::call_tree::PathId;

use crate::keys::view::View;

/// A row of the current data: the table of a view, and an index in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct What {
    /// View whose table has the row.
    pub(crate) of: View,
    /// Index of the row; `u32::MAX` is the time outside any scope.
    pub(crate) row: u32,
}

impl What {
    /// Returns the time outside any scope, in the list of a view.
    pub(crate) fn outside(of: View) -> Self {
        Self { of, row: u32::MAX }
    }

    /// Whether this is the time outside any scope.
    pub(crate) fn is_outside(self) -> bool {
        self.row == u32::MAX
    }
}

impl View {
    /// Returns a row of the view's table.
    pub(crate) fn row(self, row: u32) -> What {
        What { of: self, row }
    }

    /// Returns rows of the view's table.
    pub(crate) fn rows(self, rows: impl IntoIterator<Item = u32>) -> Vec<What> {
        rows.into_iter().map(|row| self.row(row)).collect()
    }
}

/// Part of a row's time that a number shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Portion {
    /// The row and all rows below it.
    Total,
    /// The row itself.
    Own,
}

/// Returns the share of a part in a whole, from 0 to 1; 0 if the whole is 0.
pub(crate) fn share(part_ns: u64, whole_ns: u64) -> f64 {
    if whole_ns == 0 {
        0.0
    } else {
        (part_ns as f64 / whole_ns as f64).min(1.0)
    }
}

/// The time that is 100 % for a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PercentOf {
    /// All measured time of the chosen threads.
    #[default]
    Measured,
    /// All time of the chosen threads, in scopes and outside.
    Wall,
    /// Time of the row's parent.
    Parent,
}

impl PercentOf {
    /// Returns the choice that applies in a view: in a view without parents, all measured time replaces the parent.
    pub(crate) fn within(self, has_parents: bool) -> Self {
        if self == Self::Parent && !has_parents {
            return Self::Measured;
        }
        self
    }

    /// Returns the next choice that applies in a view.
    pub(crate) fn next(self, has_parents: bool) -> Self {
        match self.within(has_parents) {
            Self::Measured => Self::Wall,
            Self::Wall if has_parents => Self::Parent,
            Self::Wall | Self::Parent => Self::Measured,
        }
    }

    /// Returns the label for the line above the columns.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Measured => "% of measured",
            Self::Wall => "% of wall time",
            Self::Parent => "% of parent",
        }
    }
}

/// Id of a row, the same in all snapshots; selection and folds are kept by id.
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
    /// A site or a module, by its key.
    Site(u64),
    /// A path of futures that await each other.
    Task(PathId),
    /// A path of a watched function, by a hash of the watch's pattern and the functions on the path.
    Slow(u64),
    /// Time outside any scope.
    Outside,
}

/// State of the rows below a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    /// There are no rows below.
    Leaf,
    /// The children follow.
    Open,
    /// This number of rows below is hidden.
    Closed(u32),
}

/// A line of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) id: RowId,
    /// The row in the current data.
    pub(crate) what: What,
    /// Depth in the tree; 0 at the top.
    pub(crate) depth: u32,
    /// Index of the row's parent in the same list.
    pub(crate) parent: Option<u32>,
    /// Whether no sibling follows.
    pub(crate) last: bool,
    /// State of the rows below.
    pub(crate) fold: Fold,
    /// Whether the search found the row.
    pub(crate) hit: bool,
}

/// Id of a line of the view Function, the same in all snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CallId {
    /// Heading of the callers.
    CalledFrom,
    /// A caller, by its key; `None` for calls at the top of a thread.
    Caller(Option<u64>),
    /// Heading of the callees.
    TimeGoesTo,
    /// The function itself.
    Own,
    /// A callee, by its key.
    Callee(u64),
}

impl RowId {
    /// Returns the key by which the row's fold is kept; `None` for rows that never have rows below.
    pub(crate) fn as_fold(self) -> Option<PathId> {
        // Keys of modules are hashes, as path ids are, so they do not collide in the set of open rows.
        if let Self::Path(PathId(key)) | Self::Site(key) = self {
            return Some(PathId(key));
        }
        None
    }

    /// Returns the key of a line of the timeline; `None` for other rows.
    pub(crate) fn as_lane(self) -> Option<u64> {
        if let Self::Thread(key) | Self::Function(key) = self {
            return Some(key);
        }
        None
    }
}

impl Row {
    /// Whether the row is a heading between rows, which cannot be selected.
    pub(crate) fn is_heading(&self) -> bool {
        matches!(self.id, RowId::Call(CallId::CalledFrom | CallId::TimeGoesTo))
    }
}

/// Returns `index` or, if it is a heading, the nearest line that is not: first in the direction of the move, else in the other.
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
