//! The lines of a function's callers and callees.

use tickscope_analysis::call_tree::Figures;
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::uncertainty::Uncertainty;

use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::row::RowId;
use crate::app::row_table::RowTable;

/// The table.
pub(crate) struct FunctionRows;

impl RowTable for FunctionRows {
    fn count(&self, data: &Data) -> u32 {
        data.around.as_ref().map_or(0, |around| around.callees().end)
    }

    fn id(&self, data: &Data, row: u32) -> RowId {
        let around = data.around.as_ref();
        around.map_or(RowId::Outside, |around| RowId::Call(around.id(&data.tree, row)))
    }

    fn figures(&self, data: &Data, row: u32) -> Figures {
        let around = data.around.as_ref();
        around.map_or_else(Figures::default, |around| around.figures(row))
    }

    fn function(&self, data: &Data, row: u32) -> Option<FunctionId> {
        data.around.as_ref()?.function(row)
    }

    fn label<'a>(&self, data: &'a Data, row: u32) -> Option<&'a str> {
        data.around.as_ref()?.label(row)
    }

    fn uncertainty(&self, data: &Data, row: u32) -> Option<Uncertainty> {
        data.around.as_ref()?.uncertainty(row)
    }

    fn parent_ns(&self, data: &Data, _row: u32) -> u64 {
        let around = data.around.as_ref();
        around.map_or(data.measured_ns, |around| around.neighbours.figures.total_ns)
    }

    fn is_recursive(&self, data: &Data, row: u32) -> bool {
        let around = data.around.as_ref();
        around.is_some_and(|around| around.is_recursive(row))
    }

    fn is_part(&self, data: &Data, row: u32) -> bool {
        data.around.as_ref().is_some_and(|around| row == around.own())
    }

    fn in_full(&self, data: &Data, row: u32) -> Option<What> {
        data.hotspot_of(self.function(data, row)?)
    }
}
