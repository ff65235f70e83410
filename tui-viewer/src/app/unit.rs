//! The divisor and the unit of numbers.

use tickscope_analysis::call_tree::PathId;
use tickscope_format::snapshot::saturating_sum;

use crate::app::data::Data;
use crate::app::filter::{Filter, function_of};
use crate::app::keyhash::KeySet;
use crate::app::thread_choice::ThreadChoice;
use crate::keys::view::View;

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
