//! View Tasks: calls of futures in flight, and their waits.

use ratatui::layout::Rect;

use crate::app::about::About;
use crate::app::columns;
use crate::app::columns::Column;
use crate::app::columns::place::Place;
use crate::app::columns::tasks;
use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::listing::{self, Listing, Shape};
use crate::app::sort::SortKey;
use crate::app::state::App;
use crate::ui::view;
use crate::ui::view::canvas::Canvas;
use crate::views::view_type::ViewType;

/// The view.
#[derive(Debug)]
pub(crate) struct Tasks;

const ABOUT: About = About {
    sort: SortKey::InFlight,
    is_of_all: true,
    follows: true,
    ..About::LIST
};

impl ViewType for Tasks {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn list(&self, _app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        let top = data.tasks().top().iter();
        listing::walk(data, shape, top.map(|&row| What::Task(row)).collect())
    }

    fn columns(&self, width: u16) -> Vec<Place<Column>> {
        columns::of_any(tasks::places(width), Column::Task)
    }

    fn searched(&self, _app: &App, data: &Data) -> usize {
        data.tasks().rows.len()
    }

    fn draw(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        view::tasks::draw(canvas, app, data, area);
    }
}
