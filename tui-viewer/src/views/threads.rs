//! View Threads: threads with their load and current function.

mod columns;
mod pane;
pub(crate) mod rows;

use ratatui::layout::Rect;

use crate::app::about::About;
use crate::app::data::Data;
use crate::app::figures::What;
use crate::app::listing::{Listing, Shape};
use crate::app::row::Row;
use crate::app::row_table::RowTable;
use crate::app::state::App;
use crate::app::thread_rows::RunState;
use crate::app::timeline::Lanes;
use crate::app::update::acts::{Act, act, has_rows};
use crate::keys::action::Action;
use crate::ui::theme::Meaning;
use crate::ui::view::canvas::Canvas;
use crate::ui::view::column::{Column, Place};
use crate::views::timeline::keys::TimeColumns;
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

    fn table(&self) -> &'static dyn RowTable {
        &rows::ThreadRows
    }

    fn list(&self, _app: &App, data: &Data, shape: &Shape<'_>) -> Listing {
        rows::list(data, shape)
    }

    fn columns(&self, width: u16) -> Vec<Place> {
        columns::places(width)
    }

    fn all_columns(&self) -> &'static [&'static Column] {
        &columns::ALL
    }

    fn weigh(&self, _app: &App, data: &Data, row: &Row, _then: Option<(&Data, What)>) -> [Meaning; 2] {
        match data.threads()[row.what.row as usize].run_state {
            RunState::Finished => [Meaning::Quiet; 2],
            RunState::Running | RunState::Waiting | RunState::Paused | RunState::Idle => [Meaning::Plain; 2],
        }
    }

    fn why_empty(&self, _app: &App, _data: &Data) -> Option<String> {
        Some("No thread has entered a scope since the program began.".to_string())
    }

    fn searched(&self, _app: &App, data: &Data) -> usize {
        data.threads().len()
    }

    fn time_columns(&self, app: &App) -> Option<TimeColumns> {
        let places = columns::places(app.screen.size.width);
        let course = places.iter().find(|place| *place.column == columns::COURSE)?;
        Some(TimeColumns {
            columns: course.width,
            lanes: Lanes::Threads,
            is_strip: true,
        })
    }

    fn acts(&self) -> &'static [Act] {
        ACTS
    }

    fn facts(&self, canvas: &mut Canvas<'_>, app: &App, data: &Data, row: &Row, area: Rect) {
        pane::detail(canvas, app, data, row.what.row, area);
    }
}
