//! View Threads: threads with their load and current function.

use ratatui::layout::Rect;

use crate::app::about::About;
use crate::app::columns;
use crate::app::columns::Column;
use crate::app::columns::place::Place;
use crate::app::columns::threads;
use crate::app::columns::threads::ThreadColumn;
use crate::app::data::Data;
use crate::app::listing::{self, Listing, Shape};
use crate::app::state::App;
use crate::app::timeline::Lanes;
use crate::app::update::acts::{Act, act, has_rows};
use crate::app::update::timeline::TimeColumns;
use crate::keys::action::Action;
use crate::ui::view;
use crate::ui::view::canvas::Canvas;
use crate::views::view_type::ViewType;

/// The view.
#[derive(Debug)]
pub(crate) struct Threads;

const ABOUT: About = About {
    rows: "threads",
    stays_at_top: true,
    ..About::LIST
};

const ACTS: &[Act] = &[act(&[Action::Enter], has_rows, |app, _, _| app.enter_thread())];

impl ViewType for Threads {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn list(&self, _app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        listing::threads(data, shape)
    }

    fn columns(&self, width: u16) -> Vec<Place<Column>> {
        columns::of_any(threads::places(width), Column::Thread)
    }

    fn searched(&self, _app: &App, data: &Data) -> usize {
        data.threads().len()
    }

    fn time_columns(&self, app: &App) -> Option<TimeColumns> {
        let places = threads::places(app.screen.size.width);
        let course = places.iter().find(|place| place.column == ThreadColumn::Course)?;
        Some(TimeColumns {
            columns: course.width,
            lanes: Lanes::Threads,
            is_strip: true,
        })
    }

    fn acts(&self) -> &'static [Act] {
        ACTS
    }

    fn draw(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, area: Rect) {
        view::threads::draw(canvas, app, data, area);
    }
}
