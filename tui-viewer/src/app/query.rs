//! The user's choice of numbers for the moment on screen, with their divisor and unit.

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

/// All choices that decide which numbers are shown. Two equal queries of one snapshot give the same numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Query {
    /// Threads whose time is shown.
    pub(crate) threads: ThreadChoice,
    /// Filter of the calls that are shown, top-down or bottom-up.
    pub(crate) filter: Filter,
    /// Stretch of time that is shown.
    pub(crate) window: Window,
    /// Moment or window to compare the numbers with.
    pub(crate) against: Option<Against>,
    /// Measure by which shares, totals and the order are computed, if the program counts it.
    pub(crate) measure: Measure,
    /// Meaning of 100 %, in views that leave the choice to the user.
    pub(crate) percent_of: PercentOf,
    /// Row by whose calls every number is divided.
    pub(crate) per_call: Option<PerCall>,
    /// Whether times are shown in ticks of the clock.
    pub(crate) in_ticks: bool,
}

/// Row by whose calls every number is divided.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PerCall {
    pub(crate) of: Of,
    /// Short name of the row.
    pub(crate) label: String,
    /// Filter of the calls when the row was chosen. The divisor keeps counting the calls that pass this filter.
    pub(crate) filter: Filter,
    /// Whether groups were shown in place of their members when the row was chosen.
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
