//! The paths of the watched functions.

use tickscope_analysis::call_tree::Figures;
use tickscope_analysis::functions::FunctionId;

use crate::app::data::Data;
use crate::app::row::RowId;
use crate::app::row_table::RowTable;

/// The table.
pub(crate) struct SlowRows;

impl RowTable for SlowRows {
    fn count(&self, data: &Data) -> u32 {
        data.slow().rows.len() as u32
    }

    fn id(&self, data: &Data, row: u32) -> RowId {
        RowId::Slow(data.slow().rows[row as usize].key)
    }

    fn figures(&self, _data: &Data, _row: u32) -> Figures {
        Figures::default()
    }

    fn function(&self, data: &Data, row: u32) -> Option<FunctionId> {
        data.slow().rows[row as usize].function
    }

    fn label<'a>(&self, data: &'a Data, row: u32) -> Option<&'a str> {
        Some(&data.slow().rows[row as usize].name)
    }
}
