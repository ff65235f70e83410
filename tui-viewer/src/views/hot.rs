//! The Hot view: functions by self time.

#[cfg(test)]
mod tests;

use tickscope_analysis::call_tree::Figures;
use tickscope_analysis::functions::FunctionId;
use tickscope_analysis::uncertainty::Uncertainty;
use tickscope_format::latency::Histogram;

use crate::app::data::Data;
use crate::app::detail::Detail;
use crate::app::layout::Layout;
use crate::app::listing::{self, Listing, Shape};
use crate::app::row::{Portion, RowId, What};
use crate::app::row_table::RowTable;
use crate::app::sort::{self, Order};
use crate::app::state::App;
use crate::keys::view::View;
use crate::ui::view::column::Place;
use crate::views::functions;
use crate::views::view_type::{About, ViewType};

#[derive(Debug)]
pub(crate) struct Hot;

pub(super) const ABOUT: About = About {
    sort: Order::SELF,
    main: Portion::Own,
    rows: "functions",
    has_focus: true,
    follows: true,
    stays_at_top: true,
    ..About::TIME
};

impl ViewType for Hot {
    fn list(&self, _app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        list(data, shape)
    }

    fn columns(&self, width: u16) -> Vec<Place> {
        functions::of_hot(width)
    }

    fn layout(&self, _app: &App, layout: Layout) -> Layout {
        layout.with_large_pane()
    }
}

impl RowTable for Hot {
    fn count(&self, data: &Data) -> u32 {
        data.hot().len() as u32
    }

    fn id(&self, data: &Data, row: u32) -> RowId {
        RowId::Function(data.tree.functions.get(data.hot()[row as usize].function).key)
    }

    fn figures(&self, data: &Data, row: u32) -> Figures {
        data.hot()[row as usize].figures
    }

    fn function(&self, data: &Data, row: u32) -> Option<FunctionId> {
        Some(data.hot()[row as usize].function)
    }

    fn latency<'a>(&self, data: &'a Data, row: u32) -> &'a Histogram {
        &data.hot()[row as usize].latency
    }

    fn uncertainty(&self, data: &Data, row: u32) -> Option<Uncertainty> {
        data.hot()[row as usize].uncertainty
    }

    fn ticks(&self, data: &Data, row: u32) -> Option<(u64, u64)> {
        let row = &data.hot()[row as usize];
        Some((row.total_ticks, row.self_ticks))
    }

    fn sorted_self_ns(&self, data: &Data, row: u32) -> u64 {
        let row = &data.hot()[row as usize];
        // Waiting is left out, because otherwise functions that join or park threads would come first.
        match sort::leaves_out_waits(&data.snapshot) {
            true => row.self_ns.saturating_sub(row.self_off.ns()),
            false => row.self_ns,
        }
    }

    fn detail(&self, data: &Data, row: u32) -> Detail {
        Detail::of_function(data, row)
    }
}

/// Returns the hotspots.
pub(crate) fn list(data: &Data, shape: &Shape<'_>) -> Listing {
    let mut all = View::Hot.rows(0..data.hot().len() as u32);
    if shape.outside {
        all.push(What::outside(View::Hot));
    }
    listing::walk(data, shape, all)
}
