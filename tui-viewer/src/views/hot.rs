//! View Hot: functions by self time.

use ratatui::layout::Rect;

use crate::app::about::About;
use crate::app::columns;
use crate::app::columns::Column;
use crate::app::columns::functions;
use crate::app::columns::place::Place;
use crate::app::data::Data;
use crate::app::figures::Portion;
use crate::app::layout::Layout;
use crate::app::listing::{self, Listing, Shape};
use crate::app::sort::SortKey;
use crate::app::state::App;
use crate::keys::view::View;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::rows;
use crate::views::view_type::ViewType;

/// The view.
#[derive(Debug)]
pub(crate) struct Hot;

const ABOUT: About = About {
    sort: SortKey::SelfTime,
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

    fn list(&self, _app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        listing::hot(data, shape)
    }

    fn columns(&self, width: u16) -> Vec<Place<Column>> {
        columns::of_any(functions::places(View::Hot, width), Column::Function)
    }

    fn searched(&self, _app: &App, data: &Data) -> usize {
        data.hot().len()
    }

    fn layout(&self, _app: &App, layout: Layout) -> Layout {
        layout.with_large_pane()
    }

    fn draw(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        rows::draw(canvas, app, data, area);
    }
}
