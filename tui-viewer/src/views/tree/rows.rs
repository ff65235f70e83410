//! The rows of the call tree.

use std::collections::BTreeSet;

use tickscope_analysis::call_tree::Figures;
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::uncertainty::Uncertainty;
use tickscope_format::latency::Histogram;

use crate::app::data::Data;
use crate::app::detail::Detail;
use crate::app::row::RowId;
use crate::app::row_table::RowTable;
use crate::app::search::Matcher;

/// The table.
pub(crate) struct TreeRows;

impl RowTable for TreeRows {
    fn count(&self, data: &Data) -> u32 {
        data.tree.rows.len() as u32
    }

    fn id(&self, data: &Data, row: u32) -> RowId {
        RowId::Path(data.tree.rows[row as usize].path)
    }

    fn figures(&self, data: &Data, row: u32) -> Figures {
        data.tree.rows[row as usize].figures
    }

    fn function(&self, data: &Data, row: u32) -> Option<FunctionId> {
        Some(data.tree.rows[row as usize].function)
    }

    fn latency<'a>(&self, data: &'a Data, row: u32) -> &'a Histogram {
        data.tree.latency(row)
    }

    fn uncertainty(&self, data: &Data, row: u32) -> Option<Uncertainty> {
        data.tree.uncertainty(row)
    }

    fn ticks(&self, data: &Data, row: u32) -> Option<(u64, u64)> {
        let row = &data.tree.rows[row as usize];
        Some((row.total_ticks, row.self_ticks))
    }

    fn parent_ns(&self, data: &Data, row: u32) -> u64 {
        let parent = self.above(data, row);
        parent.map_or(data.measured_ns, |parent| {
            data.tree.rows[parent as usize].total_ns
        })
    }

    fn above(&self, data: &Data, row: u32) -> Option<u32> {
        data.tree.rows[row as usize].parent
    }

    fn children<'a>(&self, data: &'a Data, row: u32) -> &'a [u32] {
        data.tree.children(row)
    }

    fn below(&self, data: &Data, row: u32) -> u32 {
        data.below(row)
    }

    fn is_recursive(&self, data: &Data, row: u32) -> bool {
        data.tree.is_folded(row)
    }

    fn has_hit_below(&self, _data: &Data, row: u32, matcher: &Matcher) -> bool {
        matcher.inside[row as usize]
    }

    fn place(&self, _data: &Data, row: u32) -> Option<u32> {
        Some(row)
    }

    fn callees(&self, data: &Data, row: u32) -> Result<BTreeSet<FunctionId>, &'static str> {
        if data.bottom_up {
            return Err("below are callers here: i shows callees again");
        }
        let children = data.tree.children(row).iter();
        Ok(children
            .map(|&row| data.tree.rows[row as usize].function)
            .collect())
    }

    fn detail(&self, data: &Data, row: u32) -> Detail {
        Detail::of_path(data, row)
    }
}
