//! The table behind a view: its rows and their figures.

use std::collections::BTreeSet;

use tickscope_analysis::call_tree::Figures;
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::uncertainty::Uncertainty;
use tickscope_format::latency::Histogram;

use crate::app::data::Data;
use crate::app::detail::Detail;
use crate::app::row::{RowId, What};
use crate::app::search::Matcher;

static NO_LATENCY: Histogram = Histogram {
    buckets: Vec::new(),
    max_ticks: 0,
};

/// The time outside any scope, as a table of one row.
pub(crate) struct Outside;

impl RowTable for Outside {
    fn count(&self, _data: &Data) -> u32 {
        1
    }

    fn id(&self, _data: &Data, _row: u32) -> RowId {
        RowId::Outside
    }

    fn figures(&self, data: &Data, _row: u32) -> Figures {
        Figures {
            total_ns: data.outside_ns,
            self_ns: data.outside_ns,
            ..Figures::default()
        }
    }

    fn detail(&self, data: &Data, _row: u32) -> Detail {
        Detail::of_outside(data)
    }
}

/// The rows of one kind. Each row is identified by its index in the data.
pub(crate) trait RowTable: Sync {
    /// Returns the number of rows.
    fn count(&self, data: &Data) -> u32;

    /// Returns the id of a row, which is the same in all snapshots.
    fn id(&self, data: &Data, row: u32) -> RowId;

    fn figures(&self, data: &Data, row: u32) -> Figures;

    fn function(&self, _data: &Data, _row: u32) -> Option<FunctionId> {
        None
    }

    /// Returns the short name of a row, if it is not the name of a function.
    fn label<'a>(&self, _data: &'a Data, _row: u32) -> Option<&'a str> {
        None
    }

    /// Returns the full name of a row without a function.
    fn full_name<'a>(&self, _data: &'a Data, _row: u32) -> Option<&'a str> {
        None
    }

    /// Returns the latency histogram of a row's finished calls.
    fn latency<'a>(&self, _data: &'a Data, _row: u32) -> &'a Histogram {
        &NO_LATENCY
    }

    /// Returns the uncertainty of a row's times; `None` if they are exact.
    fn uncertainty(&self, _data: &Data, _row: u32) -> Option<Uncertainty> {
        None
    }

    /// Returns total and self time of a row in ticks, if they are known exactly.
    fn ticks(&self, _data: &Data, _row: u32) -> Option<(u64, u64)> {
        None
    }

    /// Returns the self time to sort a row by.
    fn sorted_self_ns(&self, data: &Data, row: u32) -> u64 {
        self.figures(data, row).self_ns
    }

    /// Returns the time of a row's parent; without a parent, all measured time.
    fn parent_ns(&self, data: &Data, _row: u32) -> u64 {
        data.measured_ns
    }

    /// Returns the parent of a row.
    fn above(&self, _data: &Data, _row: u32) -> Option<u32> {
        None
    }

    /// Returns the children of a row, which are listed while the row is open.
    fn children<'a>(&self, _data: &'a Data, _row: u32) -> &'a [u32] {
        &[]
    }

    /// Returns the number of descendants of a row, or 0 if the row cannot be closed.
    fn below(&self, _data: &Data, _row: u32) -> u32 {
        0
    }

    /// Whether rows are always open.
    fn is_open(&self) -> bool {
        false
    }

    /// Whether the rows share work, as threads do, and therefore constantly overtake each other when sorted.
    fn overtakes(&self) -> bool {
        false
    }

    /// Whether a row is marked as recursive: either recursive calls were folded into it, or its function and the chosen
    /// function call each other.
    fn is_recursive(&self, _data: &Data, _row: u32) -> bool {
        false
    }

    /// Whether a row shows only a part of a function's time.
    fn is_part(&self, _data: &Data, _row: u32) -> bool {
        false
    }

    /// If this row covers only part of a function, returns the row with the figures of the whole function.
    fn in_full(&self, _data: &Data, _row: u32) -> Option<What> {
        None
    }

    /// Whether a row matches a search.
    fn is_hit(&self, data: &Data, row: u32, matcher: &Matcher) -> bool {
        self.function(data, row)
            .is_some_and(|function| matcher.finds(function))
    }

    /// Whether a row below this row matches a search.
    fn has_hit_below(&self, _data: &Data, _row: u32, _matcher: &Matcher) -> bool {
        false
    }

    /// Returns the row of the call tree that corresponds to this row.
    fn place(&self, data: &Data, row: u32) -> Option<u32> {
        data.heaviest_place(self.function(data, row)?)
    }

    /// Returns the functions that a row calls, or the reason why there are none.
    fn callees(&self, _data: &Data, _row: u32) -> Result<BTreeSet<FunctionId>, &'static str> {
        Ok(BTreeSet::new())
    }

    /// Collects the details of a row from the snapshot, broken down by thread.
    fn detail(&self, _data: &Data, _row: u32) -> Detail {
        Detail::default()
    }
}
