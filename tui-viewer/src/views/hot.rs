//! View Hot: functions by self time.

pub(crate) mod rows;

use crate::app::about::About;
use crate::app::data::Data;
use crate::app::figures::{Portion, What};
use crate::app::layout::Layout;
use crate::app::listing::{Listing, Shape};
use crate::app::row::Row;
use crate::app::row_table::RowTable;
use crate::app::sort::Order;
use crate::app::state::App;
use crate::ui::theme::Meaning;
use crate::ui::view::column::{Column, Place};
use crate::views::functions;
use crate::views::view_type::ViewType;

/// The view.
#[derive(Debug)]
pub(crate) struct Hot;

const ABOUT: About = About {
    sort: Order::SELF,
    main: Portion::Own,
    rows: "functions",
    has_focus: true,
    follows: true,
    stays_at_top: true,
    ..About::TIME
};

impl ViewType for Hot {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn table(&self) -> &'static dyn RowTable {
        &rows::HotRows
    }

    fn list(&self, _app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        rows::list(data, shape)
    }

    fn columns(&self, width: u16) -> Vec<Place> {
        functions::of_hot(width)
    }

    fn all_columns(&self) -> &'static [&'static Column] {
        &functions::ALL
    }

    fn weigh(&self, app: &App, data: &Data, row: &Row, then: Option<(&Data, What)>) -> [Meaning; 2] {
        functions::weigh(app, data, row, then)
    }

    fn searched(&self, _app: &App, data: &Data) -> usize {
        data.hot().len()
    }

    fn layout(&self, _app: &App, layout: Layout) -> Layout {
        layout.with_large_pane()
    }
}
