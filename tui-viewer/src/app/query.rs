//! Which numbers the user wants to see for the moment on screen, what they are divided by, and in which unit they are shown.

use tickscope_analysis::call_tree::PathId;
use tickscope_analysis::measure::Measure;
use tickscope_format::snapshot::saturating_sum;

use crate::app::data::Data;
use crate::app::filter::{Filter, function_of};
use crate::app::keyhash::KeySet;
use crate::app::row::PercentOf;
use crate::app::threads::ThreadChoice;
use crate::app::window::{Against, Window};
use crate::keys::view::View;

/// All choices that determine which numbers are shown. Equal queries of the same snapshot give the same numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Query {
    /// Threads whose time is shown.
    pub(crate) threads: ThreadChoice,
    /// Filter for the calls that are shown. Also determines whether the tree is top-down or bottom-up.
    pub(crate) filter: Filter,
    /// Period that the numbers cover.
    pub(crate) window: Window,
    /// Moment or window to compare the numbers with.
    pub(crate) against: Option<Against>,
    /// Measure used for shares, totals and sorting, if the program counts it.
    pub(crate) measure: Measure,
    /// What 100 % stands for, in views where the user can choose it.
    pub(crate) percent_of: PercentOf,
    /// If set, every number is divided by the number of calls of this row.
    pub(crate) per_call: Option<PerCall>,
    /// Whether times are shown in clock ticks.
    pub(crate) in_ticks: bool,
}

/// The row that "per call" refers to: every number is divided by the number of its calls.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PerCall {
    pub(crate) of: Of,
    /// Short name of the row.
    pub(crate) label: String,
    /// Filter at the time the row was chosen. The divisor always counts the calls that pass this filter, even if the user
    /// changes the filter later.
    pub(crate) filter: Filter,
    /// Whether functions were shown as groups when the row was chosen.
    pub(crate) grouped: bool,
    /// View in which the row was chosen.
    pub(crate) view: View,
}

/// Identifies the row across snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// A path of functions.
    Path(PathId),
    /// A function, by its key, with all paths that lead to it.
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
