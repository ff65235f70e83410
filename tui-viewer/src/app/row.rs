//! Rows of the current data, their ids, the lines of a list, and the possible meanings of 100 % for shares.

use tickscope_analysis::call_tree::PathId;

use crate::keys::view::View;

/// A row of the current data, given by a view and an index into the table of that view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct What {
    /// View whose table has the row.
    pub(crate) of: View,
    /// Index of the row; `u32::MAX` stands for the time outside any scope.
    pub(crate) row: u32,
}

impl What {
    /// Returns the row for the time outside any scope, in the list of a view.
    pub(crate) fn outside(of: View) -> Self {
        Self { of, row: u32::MAX }
    }

    /// Whether this row stands for the time outside any scope.
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

/// Which part of a row's time a number covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Portion {
    /// The row and all rows below it.
    Total,
    /// The row itself.
    Own,
}

/// Returns `part_ns` as a fraction of `whole_ns`, from 0 to 1; 0 if the whole is 0.
pub(crate) fn share(part_ns: u64, whole_ns: u64) -> f64 {
    if whole_ns == 0 {
        0.0
    } else {
        (part_ns as f64 / whole_ns as f64).min(1.0)
    }
}

/// The time that counts as 100 % when the share of a row is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PercentOf {
    /// All measured time of the chosen threads.
    #[default]
    Measured,
    /// All time of the chosen threads, inside and outside of scopes.
    Wall,
    /// Time of the row's parent.
    Parent,
}

impl PercentOf {
    /// Returns the choice that takes effect in a view. In a view without parents, this is [`Self::Measured`] instead of
    /// [`Self::Parent`].
    pub(crate) fn within(self, has_parents: bool) -> Self {
        if self == Self::Parent && !has_parents {
            return Self::Measured;
        }
        self
    }

    /// Returns the choice that follows this one in a view.
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

/// Identifies a row across snapshots. The selection and the open rows are stored by this id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RowId {
    /// A path of functions.
    Path(PathId),
    /// A function, by its key.
    Function(u64),
    /// A line in the list of a function's callers and callees.
    Call(CallId),
    /// A thread, by name and id.
    Thread(u64),
    /// A site or a module, by its key.
    Site(u64),
    /// A path of futures that await each other.
    Task(PathId),
    /// A path below a watched function, by a hash of the watch's pattern and the functions on the path.
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
    /// The rows below are hidden. The value is their number.
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
    /// Whether the row matches the search.
    pub(crate) hit: bool,
}

/// Identifies a line of the Function view across snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CallId {
    /// Heading of the callers.
    CalledFrom,
    /// A caller, by its key; `None` stands for calls at the top of a thread.
    Caller(Option<u64>),
    /// Heading of the callees.
    TimeGoesTo,
    /// The function itself.
    Own,
    /// A callee, by its key.
    Callee(u64),
}

impl RowId {
    /// Returns the key of the row in the set of open rows; `None` for rows that never have rows below them.
    pub(crate) fn as_fold(self) -> Option<PathId> {
        // Modules and paths share the set of open rows. The keys of both are hashes, so they do not collide.
        if let Self::Path(PathId(key)) | Self::Site(key) = self {
            return Some(PathId(key));
        }
        None
    }

    /// Returns the key of the row's lane in the timeline; `None` if this kind of row has no lane.
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

/// Returns `index` or, if that line is a heading, the nearest line that is not a heading. Searches in the direction of the
/// move first, then in the opposite direction.
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
