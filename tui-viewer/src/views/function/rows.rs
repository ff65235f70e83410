//! The lines of a function's callers and callees.

use tickscope_analysis::call_tree::Figures;
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::uncertainty::Uncertainty;

use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::function::Around;
use crate::app::listing::{self, Listing, Shape};
use crate::app::row::{Fold, Row, RowId};
use crate::app::row_table::RowTable;
use crate::keys::view::View;

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

/// Returns the callers of a function, the function itself, and its callees: in one list, or in two lists side by side.
pub(super) fn list(data: &Data, shape: &Shape<'_>, headings: bool, are_beside: bool) -> Listing {
    let Some(around) = &data.around else {
        return Listing::default();
    };
    let sorted = |lines: std::ops::Range<u32>| listing::arranged(data, shape, View::Function.rows(lines));
    let heading = |line: u32| headings.then(|| View::Function.row(line));
    let mut items: Vec<What> = Vec::new();
    items.extend(heading(Around::CALLED_FROM));
    items.extend(sorted(around.callers()));
    let second = are_beside.then_some(items.len());
    items.extend(heading(around.time_goes_to()));
    items.extend(sorted(around.own()..around.own() + 1));
    items.extend(sorted(around.callees()));
    let mut out = Listing {
        second,
        ..Listing::default()
    };
    for what in items {
        let id = data.id(what);
        let hit = shape.matcher.is_some_and(|filter| filter.hits(data, what));
        if shape.selected == Some(id) {
            out.before = out.hits.len();
        }
        if hit {
            out.hits.push(what);
        }
        out.rows.push(Row {
            id,
            what,
            depth: 0,
            parent: None,
            last: false,
            fold: Fold::Leaf,
            hit,
        });
    }
    out
}
