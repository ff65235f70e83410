//! What is derived from the moment on screen, with the keys that tell when it is to be derived again.
//!
//! Nothing sets a flag: before each use the key of now is compared with the key of what is there. Every step has the
//! revision of the step before it in its key.

use std::rc::Rc;

use tickscope_analysis::measure::Measure;
use tickscope_format::Snapshot;

use crate::app::compare::Against;
use crate::app::data::Data;
use crate::app::detail::Detail;
use crate::app::figures::What;
use crate::app::filter::Filter;
use crate::app::percent_of::PercentOf;
use crate::app::row::RowId;
use crate::app::sort::Sort;
use crate::app::source::Source;
use crate::app::thread_choice::ThreadChoice;
use crate::app::timeline::Lanes;
use crate::app::unit::PerCall;
use crate::app::view::{Below, View};
use crate::app::window::{Stretch, Window};

/// A snapshot as a key: the same one, not one that is equal.
#[derive(Clone, Debug)]
pub(super) struct Identity(pub(super) Rc<Snapshot>);

impl PartialEq for Identity {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// The last key of a step, and how often its result was made.
#[derive(Debug)]
pub(super) struct Memo<K> {
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
    /// Takes the key of now; returns whether the result must be made again.
    pub(super) fn is_new(&mut self, key: K) -> bool {
        let is_new = self.key.as_ref() != Some(&key);
        if is_new {
            self.key = Some(key);
            self.revision += 1;
        }
        is_new
    }

    /// Takes a key that is known only now, after the result was made from it.
    pub(super) fn settle(&mut self, key: K) {
        self.key = Some(key);
    }

    /// Changes with each result.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }
}

/// What the tables are made from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DataKey {
    pub(super) shown: Option<Identity>,
    /// Only where the mark decides something.
    pub(super) mark: Option<Identity>,
    /// How the past has changed, where the window needs it and the screen follows the program.
    pub(super) history: Option<u64>,
    pub(super) threads: ThreadChoice,
    pub(super) window: Window,
    pub(super) against: Option<Against>,
    pub(super) measure: Measure,
    pub(super) grouped: bool,
    /// What is known of the code that samples were in.
    pub(super) code: u64,
}

/// What divides the numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PerCallKey {
    pub(super) data: u64,
    pub(super) per_call: Option<PerCall>,
}

/// What a view shows of the tables.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SeenKey {
    pub(super) data: u64,
    pub(super) filter: Filter,
    pub(super) view: View,
    /// The function with its callers and callees, where the view shows one.
    pub(super) function: Option<u64>,
    /// Which rows are open, where opening them asks for more of the tree.
    pub(super) expanded: Option<u64>,
}

/// What the rows of the list are made from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RowsKey {
    pub(super) seen: u64,
    pub(super) order: OrderKey,
    pub(super) expanded: u64,
    /// The text that is searched for.
    pub(super) search: Option<String>,
    /// There is room for headings.
    pub(super) headings: bool,
    /// Callers and callees are two lists side by side.
    pub(super) are_beside: bool,
    /// What the lines of the time line are of.
    pub(super) lanes: Lanes,
    /// What stands below the tree.
    pub(super) below: Below,
    /// The watched function that is shown.
    pub(super) watch: Option<String>,
    /// Columns and rows of the flame graph, and what fills them.
    pub(super) flame: Option<((u16, u16), Vec<RowId>)>,
}

/// What the user chose that decides the order of rows: after such a choice they change places at once.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OrderKey {
    pub(super) view: View,
    pub(super) sort: Sort,
    pub(super) percent_of: PercentOf,
    pub(super) matches_only: bool,
    pub(super) threads: ThreadChoice,
    pub(super) filter: Filter,
    pub(super) window: Window,
    pub(super) against: Option<Against>,
    pub(super) measure: Measure,
    /// The process and its reset epoch: the order of other counters says nothing.
    pub(super) counted_from: Option<(u32, u64)>,
}

/// What the pane of source is made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SourceKey {
    pub(super) seen: u64,
    /// What is known of the program's code.
    pub(super) known: u64,
}

/// What the details are about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DetailKey {
    pub(super) rows: u64,
    pub(super) what: What,
    /// There is room for callers and callees.
    pub(super) is_large: bool,
}

/// Everything that is derived.
#[derive(Debug, Default)]
pub(crate) struct Derived {
    /// The tables of the snapshot on screen.
    pub(crate) data: Option<Data>,
    /// The stretch of time on screen; none since the reset.
    pub(crate) stretch: Option<Stretch>,
    /// How long the window is that the one on screen is compared with; none where the past does not reach so far.
    pub(crate) before_ns: Option<u64>,
    /// More on the selected row.
    pub(crate) detail: Option<Detail>,
    /// The source of the function on the screen, if it was asked for.
    pub(super) source: Option<Source>,
    pub(super) data_memo: Memo<DataKey>,
    pub(super) per_call_memo: Memo<PerCallKey>,
    pub(super) seen_memo: Memo<SeenKey>,
    pub(super) rows_memo: Memo<RowsKey>,
    pub(super) order_memo: Memo<OrderKey>,
    pub(super) detail_memo: Memo<DetailKey>,
    pub(super) code_memo: Memo<u64>,
    pub(super) source_memo: Memo<SourceKey>,
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
