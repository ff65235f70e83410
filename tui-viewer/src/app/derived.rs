//! State derived from the moment on screen, and the keys that tell when it must be derived again.
//!
//! There are no dirty flags. Instead, each step compares its current key with the key of its last result before the
//! result is used. The key of each step contains the revision of the step before it.

use std::rc::Rc;

use tickscope_analysis::measure::Measure;
use tickscope_format::Snapshot;

use crate::app::data::Data;
use crate::app::detail::Detail;
use crate::app::filter::Filter;
use crate::app::query::{PerCall, Query};
use crate::app::row::What;
use crate::app::sort::Sort;
use crate::app::source::Source;
use crate::app::threads::ThreadChoice;
use crate::app::window::{Against, Stretch, Window};
use crate::keys::view::View;

/// Key that identifies a snapshot. Two keys are equal only if they refer to the same snapshot in memory.
#[derive(Clone, Debug)]
pub(crate) struct Identity(pub(crate) Rc<Snapshot>);

impl PartialEq for Identity {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// The key of a step's last result, and the number of results so far.
#[derive(Debug)]
pub(crate) struct Memo<K> {
    key: Option<K>,
    revision: u64,
}

impl<K> Default for Memo<K> {
    fn default() -> Self {
        Self {
            key: None,
            revision: 0,
        }
    }
}

impl<K: PartialEq> Memo<K> {
    /// Records the current key. Returns whether it differs from the last one, which means that the result must be derived again.
    pub(crate) fn is_new(&mut self, key: K) -> bool {
        let is_new = self.key.as_ref() != Some(&key);
        if is_new {
            self.key = Some(key);
            self.revision += 1;
        }
        is_new
    }

    /// Replaces the key of the last result. This is for keys whose final value is known only once the result exists.
    pub(crate) fn settle(&mut self, key: K) {
        self.key = Some(key);
    }

    /// Returns a number that changes each time the result is derived again.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }
}

/// Key of [`Data`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DataKey {
    pub(crate) shown: Option<Identity>,
    /// The marked snapshot, if the numbers depend on it.
    pub(crate) mark: Option<Identity>,
    /// Revision of the history. Set only if the window depends on the history and the screen follows the program.
    pub(crate) history: Option<u64>,
    pub(crate) threads: ThreadChoice,
    pub(crate) window: Window,
    pub(crate) against: Option<Against>,
    pub(crate) measure: Measure,
    pub(crate) grouped: bool,
    /// Revision of what is known about the code at sampled addresses.
    pub(crate) code: u64,
}

/// Key of the trees that a view shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SeenKey {
    pub(crate) data: u64,
    pub(crate) filter: Filter,
    pub(crate) view: View,
    /// Identifies the function whose callers and callees are shown, if the view shows one function.
    pub(crate) function: Option<u64>,
    /// Revision of the set of open rows. Set only if opening rows adds rows to the tree.
    pub(crate) expanded: Option<u64>,
}

/// Key of the rows of the list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowsKey {
    pub(crate) seen: u64,
    pub(crate) order: OrderKey,
    pub(crate) expanded: u64,
    /// Text that is searched for.
    pub(crate) search: Option<String>,
    /// Hash of the choices within the view that affect its rows.
    pub(crate) choices: u64,
}

/// Everything that determines the order of rows, most of it chosen by the user. When any of it changes, rows are sorted
/// again immediately.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OrderKey {
    pub(crate) view: View,
    pub(crate) sort: Sort,
    pub(crate) matches_only: bool,
    /// The query without its divisor and unit, which do not affect the order.
    pub(crate) query: Query,
    /// Process id and reset epoch. If either changes, the counters have started again at zero and the old order is meaningless.
    pub(crate) counted_from: Option<(u32, u64)>,
}

/// All derived state.
#[derive(Debug, Default)]
pub(crate) struct Derived {
    /// The tables of the snapshot on screen.
    pub(crate) data: Option<Data>,
    /// The window on screen; `None` if it is all time since the reset.
    pub(crate) stretch: Option<Stretch>,
    /// Length in ns of the earlier window to compare with; `None` if there is none, or if the history does not reach
    /// back that far.
    pub(crate) before_ns: Option<u64>,
    /// Details of the selected row.
    pub(crate) detail: Option<Detail>,
    /// Source of the function on the screen, if it was requested.
    pub(crate) source: Option<Source>,
    pub(crate) data_memo: Memo<DataKey>,
    /// The key consists of the revision of the tables, and the divisor.
    pub(crate) per_call_memo: Memo<(u64, Option<PerCall>)>,
    pub(crate) seen_memo: Memo<SeenKey>,
    pub(crate) rows_memo: Memo<RowsKey>,
    pub(crate) order_memo: Memo<OrderKey>,
    /// The key consists of the revision of the rows, the selected row, and whether callers and callees fit on the screen.
    pub(crate) detail_memo: Memo<(u64, What, bool)>,
    pub(crate) code_memo: Memo<u64>,
    /// The key consists of the revision of the tables as the view shows them, and the revision of the known code.
    pub(crate) source_memo: Memo<(u64, u64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_equal_snapshot_is_another_one() {
        let one = Identity(Rc::new(Snapshot::default()));
        assert_eq!(one, one.clone());
        assert_ne!(one, Identity(Rc::new(Snapshot::default())));
    }
}
