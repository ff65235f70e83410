//! The user's choice of numbers for the moment on screen.

use tickscope_analysis::call_tree::PathId;
use tickscope_analysis::measure::Measure;
use tickscope_format::Snapshot;
use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::saturating_sum;

use crate::app::data::Data;
use crate::app::filter::{Filter, function_of};
use crate::app::keyhash::KeySet;
use crate::app::window::{Against, Window};
use crate::keys::view::View;

/// All choices that decide which numbers are shown. Two equal queries of one snapshot give the same numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Query {
    /// Threads whose time is shown.
    pub(crate) threads: ThreadChoice,
    /// Part of the calls that is shown, from the top down or the bottom up.
    pub(crate) filter: Filter,
    /// Stretch of time that is shown.
    pub(crate) window: Window,
    /// Moment or window to compare the numbers with.
    pub(crate) against: Option<Against>,
    /// Measure of shares, totals and the order, if the program counts it.
    pub(crate) measure: Measure,
    /// Meaning of 100 %, in views that leave the choice.
    pub(crate) percent_of: PercentOf,
    /// Row by whose calls every number is divided.
    pub(crate) per_call: Option<PerCall>,
    /// Whether times are shown in ticks of the clock.
    pub(crate) in_ticks: bool,
}

/// The whole of which a row is a share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PercentOf {
    /// All measured time of the threads in scope.
    #[default]
    Measured,
    /// All time of the threads in scope, outside of scopes too.
    Wall,
    /// The row's parent.
    Parent,
}

impl PercentOf {
    /// Returns the choice that applies in a view: in a view without parents, all measured time takes the
    /// place of the parent.
    pub(crate) fn within(self, has_parents: bool) -> Self {
        if self == Self::Parent && !has_parents {
            return Self::Measured;
        }
        self
    }

    /// Returns the next choice that makes a difference.
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

/// Row by whose calls every number is divided.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PerCall {
    pub(crate) of: Of,
    /// Short name of the row.
    pub(crate) label: String,
    /// Filter of the calls when the row was chosen. The divisor goes on counting the same calls.
    pub(crate) filter: Filter,
    /// Whether groups stood in place of their members when the row was chosen.
    pub(crate) grouped: bool,
    /// View in which the row was chosen.
    pub(crate) view: View,
}

/// Id of the row, the same in all snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// A path of functions.
    Path(PathId),
    /// A function on all its paths, by its key.
    Function(u64),
}

impl PerCall {
    pub(crate) fn calls(&self, data: &Data, scope: &ThreadChoice, open: &KeySet<PathId>) -> u64 {
        let whole = data.whole_of(scope, self.grouped);
        let seen = self.filter.look(&whole, self.view, open);
        match self.of {
            Of::Path(path) => {
                let found = seen.tree.rows.iter().find(|row| row.path == path);
                found.map_or(0, |row| row.calls)
            }
            Of::Function(key) => {
                let Some(function) = function_of(&seen.calls, key) else {
                    return 0;
                };
                let rows = seen.calls.rows.iter().filter(|row| row.function == function);
                saturating_sum(rows.map(|row| row.calls))
            }
        }
    }
}
